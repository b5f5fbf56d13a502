/** `approval`: what it expands to, what it does, and what can be wrong with it. */
import { describe, expect, test } from "vitest";
import {
  defineMachine,
  expand,
  hasTag,
  type MachineDefinition,
  type StateDefinition,
  simulate,
  validate,
} from "../../index.ts";

const ends = { paying: {}, declined: {}, late: {} };
const define = (a: StateDefinition): MachineDefinition => ({ id: "m", initial: "a", states: { a, ...ends } });
const expanded = (a: StateDefinition) => expand(define(a)).states?.a;
const lines = (a: unknown) =>
  validate({ id: "m", initial: "a", states: { a, ...ends } }).map(
    ({ path, problem, fix }) => `${path} ${problem}${fix === undefined ? "" : `; ${fix}`}`,
  );
const both = { onApproved: "paying", onRejected: "declined" } as const;

describe("approval", () => {
  test("expands to handlers, a timer, what asks, and a tag", () => {
    expect(expanded({ approval: both })).toEqual({
      on: { approve: "paying", reject: "declined" },
      tags: ["approval"],
    });
    const by = "isManager";
    const full = {
      ...{ ask: { activity: "notify", input: { who: "boss" } }, approve: "yes", reject: "no", by },
      ...{
        timeout: "2 days",
        onApproved: [{ guard: "cheap", target: "paying" }, "late"],
        onRejected: { target: "declined" },
        onTimeout: "late",
      },
    };
    expect(expanded({ approval: full, tags: ["x"], on: { other: "late" } })).toEqual({
      invoke: { activity: "notify", input: { who: "boss" } },
      on: {
        other: "late",
        yes: [
          { guard: { and: [by, "cheap"] }, target: "paying" },
          { guard: by, target: "late" },
        ],
        no: { guard: by, target: "declined" },
      },
      after: { "2 days": "late" },
      tags: ["x", "approval"],
    });
    expect(
      expanded({ approval: { ...both, ask: { emit: "please" } }, on: [{ event: "other", target: "late" }] }),
    ).toEqual({
      entry: { emit: "please" },
      on: [
        { event: "other", target: "late" },
        { event: "approve", target: "paying" },
        { event: "reject", target: "declined" },
      ],
      tags: ["approval"],
    });
    expect(expanded({ approval: { ...both, ask: { machine: "asker" } } })).toMatchObject({
      invoke: { machine: "asker" },
    });
  });

  test("waits for who may decide, as long as it may", () => {
    const machine = defineMachine(
      define({
        approval: {
          ...both,
          ask: { emit: { type: "asked", data: "may I?" } },
          by: ({ event }) => event.data === "boss",
          timeout: "2 days",
          onTimeout: "late",
        },
      }),
    );
    const run = simulate(machine);
    expect(run.emitted).toMatchObject([{ event: { type: "asked", data: "may I?" } }]);
    expect(hasTag(machine, run.state, "approval")).toBe(true);
    expect(run.send({ type: "approve", data: "clerk" }).outcome).toBe("ignored");
    expect(run.send({ type: "approve", data: "boss" }).state.configuration).toEqual(["paying"]);
    const refused = simulate(machine);
    refused.send({ type: "reject", data: "boss" });
    expect(refused.state.configuration).toEqual(["declined"]);
    const late = simulate(machine);
    late.advance("2 days");
    expect(late.state.configuration).toEqual(["late"]);
  });
});

test("what is wrong with an approval is told where it was written", () => {
  expect(lines({ approval: {} })).toEqual([
    "states.a.approval.onApproved is missing; say where it leads",
    "states.a.approval.onRejected is missing; say where it leads",
  ]);
  expect(lines({ approval: { ...both, approve: "", reject: 5 } })).toEqual([
    'states.a.approval.approve is ""; name an event',
    "states.a.approval.reject is 5; name an event",
  ]);
  expect(lines({ approval: { ...both, ask: { activity: "x" } }, invoke: { activity: "y" } })).toEqual([
    "states.a.approval.ask cannot be an invocation beside another; put one into a state of its own",
  ]);
  const guard = "is not a guard; write a function, a name, or { in }, { and }, { or }, { not }, { error }";
  const onRejected = ["late", { guard: 6, target: "decline" }, 5];
  expect(lines({ approval: { onApproved: "pay", onRejected, by: 5, ask: { emitt: 1 } } })).toEqual([
    'states.a.approval.onApproved.target names no state: "pay"; from here there are a, paying, declined, late, .child and #id',
    `states.a.approval.by ${guard}`,
    'states.a.approval.onRejected[1].target names no state: "decline"; did you mean "declined"? from here there are a, paying, declined, late, .child and #id',
    `states.a.approval.onRejected[1].guard ${guard}`,
    expect.stringContaining("states.a.approval.onRejected[2] is 5; write a transition"),
    expect.stringContaining('states.a.approval.ask is not an action; did you mean "emit"?'),
  ]);
  expect(lines({ approval: { ...both, by: 5 }, on: [], tags: 5 }).slice(0, 2)).toEqual([
    "states.a.tags must be a list of names",
    `states.a.approval.by ${guard}`,
  ]);
  expect(lines({ approval: { ...both, onApproved: ["late", "nowhere"] }, on: [] })[0]).toContain(
    'states.a.approval.onApproved[1].target names no state: "nowhere"',
  );
  expect(lines({ approval: { ...both, by: 5 }, on: 5 })).toEqual([
    "states.a.on is 5; write an object: a name for each key",
  ]);
});

test("the events of an approval are declared like any others", () => {
  const definition = { ...define({ approval: both }), events: { approve: {}, rejcet: {} } };
  expect(validate(definition)).toMatchObject([{ path: "states.a.approval.onRejected" }]);
});
