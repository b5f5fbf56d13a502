/** A machine as a state of another: what it had to itself holds there too. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  asState,
  type DataModel,
  defineMachine,
  type Machine,
  type MachineDefinition,
  type StateDefinition,
  simulate,
} from "../index.ts";
import { plainModel } from "./plain-model.ts";

const context = z.object({ n: z.number() });
const events = { next: z.undefined(), stop: z.undefined() };
const shared = { context, events, start: { n: 0 } };

/** A machine that has this one as its state `a`, and lookalikes of its states beside it. */
function around(part: Machine, parts: Partial<MachineDefinition> = {}) {
  const inner = asState(part) as StateDefinition;
  return defineMachine({
    id: "whole",
    start: { n: 0 },
    ...parts,
    initial: "a",
    states: { a: { ...inner, onDone: "done" }, done: {}, y: {}, ended: {} },
  });
}

describe("a machine as a state", () => {
  test("ends as one", () => {
    const part = defineMachine({
      ...shared,
      id: "part",
      version: 3,
      start: { n: 7 },
      initial: "x",
      states: {
        x: { on: { next: { target: "y", update: (draft) => void draft.n++ } } },
        y: { type: "final" },
      },
    });
    const whole = defineMachine({
      ...shared,
      id: "whole",
      initial: "a",
      states: { a: { ...asState(part), onDone: "b" }, b: {} },
    });
    const run = simulate(whole);
    expect(run.state.configuration).toEqual(["a.x"]);
    expect(run.send("next").state).toMatchObject({ version: 1, configuration: ["b"], context: { n: 1 } });
  });

  test("brings its named guards and updates, whatever the other one calls by these names", () => {
    const part = defineMachine<{ n: number }>({
      id: "part",
      start: { n: 0 },
      guards: {
        below: ({ context }, { max }: { max: number }) => context.n < max,
        isTwo: ({ context }) => context.n === 2,
        never: () => false,
        both: { and: ["isTwo", { not: "never" }, { or: ["isTwo", "never"] }] } as never,
        grew: (scope) => scope.context.n > (scope as unknown as { old: { n: number } }).old.n,
      },
      updates: {
        add: (draft, _scope, { by }: { by: number }) => {
          draft.n += by;
        },
        one: (draft) => void draft.n++,
      },
      initial: "x",
      states: {
        x: {
          entry: [[{ choose: [{ guard: "never", actions: { log: "no" } }, { actions: { update: "one" } }] }]],
          on: {
            next: [
              { guard: "both", target: "y" },
              {
                guard: { type: "below", params: { max: 2 } },
                update: { type: "add", params: ({ context }) => ({ by: context.n }) },
                require: { few: { not: { type: "never" } } },
                ensure: { grew: "grew" },
              },
            ],
          },
          exit: { update: { type: "one" } },
        },
        y: { type: "final" },
      },
    });
    const others = { guards: { both: () => true, never: () => true }, updates: { one: () => {} } };
    const run = simulate(around(part as never, others));
    expect(run.state.context).toEqual({ n: 1 });
    expect(run.send("next").state).toMatchObject({ configuration: ["a.x"], context: { n: 2 } });
    expect(run.send("next").state).toMatchObject({ configuration: ["done"], context: { n: 3 } });
  });

  test("leads from the machine itself to its own states", () => {
    const part = defineMachine({
      id: "part",
      initial: { target: "x" },
      states: { x: {}, y: { id: "why" }, z: { type: "final" }, ended: { type: "final" } },
      on: { next: "y", dot: ".y", id: { target: "#why" }, many: [{ target: ["ended"] }], stay: {} },
      after: [{ delay: "1 h", target: "z" }],
      invoke: { activity: "work", onDone: "ended", onError: { target: "y" }, finalize: { log: "over" } },
    });
    for (const event of ["next", "dot", "id"])
      expect(simulate(around(part)).send(event).state.configuration).toEqual(["a.y"]);
    expect(simulate(around(part)).send("many").state.configuration).toEqual(["done"]);
    expect(simulate(around(part)).send("stay").state.configuration).toEqual(["a.x"]);
    const late = simulate(around(part));
    late.advance("1 h");
    expect(late.state.configuration).toEqual(["done"]);
    expect(simulate(around(part)).settle("a", { output: 1 }).state.configuration).toEqual(["done"]);
    expect(simulate(around(part)).settle("a", { error: "no" }).state.configuration).toEqual(["a.y"]);
  });

  test("leaves what it has not bound, or what only its data model can read, to the other one", () => {
    const open = defineMachine({
      id: "part",
      initial: "x",
      states: {
        x: {
          id: "first",
          on: {
            next: { guard: "may", update: "mark", target: "y" },
            stop: { guard: { in: "#first" }, target: "y" },
          },
        },
        y: { type: "final" },
      },
    });
    expect(open.missing).toEqual(['guard "may"', 'update "mark"']);
    const bound = around(open).implement({
      guards: { may: () => true },
      updates: { mark: (draft) => Object.assign(draft, { n: 5 }) },
    });
    expect(simulate(bound).send("next").state).toMatchObject({ configuration: ["done"], context: { n: 5 } });
    expect(simulate(bound).send("stop").state.configuration).toEqual(["done"]);
  });

  test("of another data model leaves parameters, which only the model can read", () => {
    const model: DataModel = { ...plainModel, name: "own", update: () => () => ({ n: 3 }) };
    const part = defineMachine({
      id: "part",
      initial: "x",
      model,
      guards: { below: ({ context }, most: number) => (context.n as number) < most },
      updates: { mark: { n: 3 } } as never,
      states: {
        x: { on: { next: { guard: { type: "below", params: 0 }, update: { type: "mark" }, target: "y" } } },
        y: { type: "final" },
      },
    });
    const guards = { below: (_scope: unknown, most: number) => most === 0 };
    const run = simulate(around(part, { model, guards }));
    expect(run.send("next").state).toMatchObject({ configuration: ["done"], context: { n: 3 } });
  });
});
