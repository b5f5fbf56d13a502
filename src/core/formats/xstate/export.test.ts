/** Machines run by XState after export, and what the export says it could not say. Round trips are in `test/formats`. */
import { describe, expect, test } from "vitest";
import * as xstate from "xstate";
import type { MachineDefinition } from "../../definition.ts";
import { durationMs } from "../../duration.ts";
import { defineMachine } from "../../machine.ts";
import { simulate } from "../../simulate.ts";
import { toXState } from "./export.ts";
import { fromXState } from "./import.ts";

/** The machine, run by XState on a clock of its own. */
function run(definition: MachineDefinition, options = {}) {
  const { config, implementations, notes } = toXState(defineMachine(definition), { xstate, ...options });
  const machine = xstate.createMachine(config as never, implementations as never);
  const clock = new xstate.SimulatedClock();
  const logs: unknown[] = [];
  const emitted: unknown[] = [];
  const actor = xstate.createActor(machine, {
    clock: clock as never,
    logger: (...given) => void logs.push(given),
  });
  actor.on("*", (event) => void emitted.push(event));
  actor.subscribe({ error: () => undefined });
  actor.start();
  return { actor, clock, logs, emitted, notes, config };
}

const topicsOf = (definition: MachineDefinition) =>
  toXState(defineMachine({ unhandled: "ignore", ...definition }), { xstate, now: () => 0 })
    .notes.map(({ path, topic }) => `${path}: ${topic}`)
    .filter((note) => note !== "definition: errors");

describe("XState runs", () => {
  test("updates, guards, sends, timers, logs and emits", () => {
    const { actor, clock, logs, emitted } = run({
      id: "my.machine",
      start: { n: 0, gone: 1 },
      initial: "a",
      guards: { big: ({ context }) => (context.n as number) > 1 },
      updates: { add: (draft) => Object.assign(draft, { n: (draft.n as number) + 1 }) },
      states: {
        a: {
          entry: [{ log: "in" }, { log: ({ context }) => context.n ?? 0, label: "n" }],
          on: {
            add: { update: "add", actions: [{ emit: ({ event }) => ({ type: "added", data: event.data }) }] },
            drop: { update: (draft) => Object.assign(draft, { gone: undefined }) },
            try: { guard: { and: ["big", { not: { in: "b" } }] }, target: "b" },
            later: { actions: { send: { type: "try", delay: "1s", id: "t" } } },
            stop: { actions: { cancel: "t" } },
            self: {
              actions: [{ send: "add" }, { raise: "drop" }, { send: { type: "drop", to: "internal" } }],
            },
            compute: { actions: { send: ({ context }) => ({ type: "add", data: { was: context.n ?? 0 } }) } },
          },
        },
        b: { after: [{ delay: ({ context }) => (context.n as number) * 100, target: "c" }] },
        c: { after: { "1s": [{ guard: ({ in: isIn }) => isIn("a"), target: "a" }, { target: "end" }] } },
        end: { type: "final", output: ({ context }) => context },
      },
    });
    const send = (type: string, fields: object = {}) => actor.send({ type, ...fields } as never);
    send("add", { by: 3 });
    send("try");
    expect(actor.getSnapshot().value).toBe("a");
    send("self");
    send("compute");
    expect(actor.getSnapshot().context).toEqual({ n: 3, gone: undefined });
    send("later");
    send("stop");
    clock.increment(2_000);
    expect(actor.getSnapshot().value).toBe("a");
    send("later");
    clock.increment(1_000);
    expect(actor.getSnapshot().value).toBe("b");
    clock.increment(300);
    expect(actor.getSnapshot().value).toBe("c");
    clock.increment(1_000);
    expect(actor.getSnapshot()).toMatchObject({ status: "done", output: { n: 3 } });
    expect(logs).toEqual([["in"], ["n", 0]]);
    expect(emitted).toEqual([{ type: "added", by: 3 }, { type: "added" }, { type: "added", was: 2 }]);
  });

  test("activities and children", async () => {
    const child = defineMachine({
      id: "child",
      start: ({ input }) => ({ word: (input as { word: string }).word }),
      initial: "x",
      states: {
        x: { on: { end: { target: "y", actions: { send: { type: "told", to: "parent" } } } } },
        y: { type: "final", output: ({ context }) => context.word ?? null },
      },
    });
    const { actor } = run(
      {
        id: "m",
        initial: "a",
        states: {
          a: {
            invoke: {
              activity: "ask",
              input: { q: 1 },
              onDone: {
                target: "b",
                update: (draft, { event }) => Object.assign(draft, { got: event.data }),
              },
            },
          },
          b: {
            invoke: {
              id: "kid",
              machine: child,
              input: ({ context }) => ({ word: context.got ?? "" }),
              onDone: {
                target: "c",
                update: (draft, { event }) => Object.assign(draft, { last: event.data }),
              },
            },
            on: {
              end: { actions: { send: { type: "end", to: { child: "kid" } } } },
              told: { update: (draft) => Object.assign(draft, { told: true }) },
            },
          },
          c: { entry: [{ spawn: { machine: child, id: "free", input: { word: "z" } } }, { stop: "free" }] },
        },
      },
      { activities: { ask: async (input: { q: number }) => `answer ${input.q}` } },
    );
    await xstate.waitFor(actor, (snapshot) => snapshot.matches("b" as never));
    actor.send({ type: "end" });
    await xstate.waitFor(actor, (snapshot) => snapshot.matches("c" as never));
    expect(actor.getSnapshot().context).toEqual({ got: "answer 1", told: true, last: "answer 1" });
  });

  test("guards and updates with parameters, there and back", () => {
    const definition: MachineDefinition<{ n: number }> = {
      id: "m",
      unhandled: "ignore",
      start: { n: 0 },
      guards: { below: ({ context }, { max }: { max: number }) => context.n < max, never: () => false },
      updates: { add: (draft, _scope, { by }: { by: number }) => Object.assign(draft, { n: draft.n + by }) },
      initial: "a",
      states: {
        a: {
          on: {
            go: [
              { guard: { type: "never" }, target: "b" },
              { guard: "never", target: "b" },
              {
                guard: { not: { type: "below", params: ({ context }) => ({ max: context.n + 1 }) } },
                target: "b",
              },
              {
                guard: { type: "below", params: { max: 3 } },
                update: { type: "add", params: { by: 2 } },
                actions: { update: { type: "add", params: ({ context }) => ({ by: context.n }) } },
              },
              { target: "b" },
            ],
          },
        },
        b: {},
      },
    };
    const { actor, config, notes } = run(definition as never);
    expect(notes.map(({ topic }) => topic)).toEqual(["errors", "time"]);
    expect(config).toMatchObject({
      states: {
        a: { on: { go: [{ guard: "never" }, {}, {}, { guard: { type: "below", params: { max: 3 } } }, {}] } },
      },
    });
    actor.send({ type: "go" });
    expect(actor.getSnapshot()).toMatchObject({ value: "a", context: { n: 4 } });
    actor.send({ type: "go" });
    expect(actor.getSnapshot().value).toBe("b");
    const there = toXState(defineMachine(definition as never), { xstate });
    const back = fromXState(xstate.createMachine(there.config as never, there.implementations as never));
    expect(back.definition.states?.a).toMatchObject({
      on: {
        go: [
          { guard: "never" },
          { guard: "never" },
          {},
          {
            guard: { type: "below", params: { max: 3 } },
            actions: [{ update: { type: "add", params: { by: 2 } } }, { update: { type: "add" } }],
          },
          {},
        ],
      },
    });
    const again = simulate(defineMachine(back.definition));
    expect(again.send("go").state).toMatchObject({ configuration: ["a"], context: { n: 4 } });
    expect(again.send("go").state.configuration).toEqual(["b"]);
  });

  test("parameters that nothing is there to take stay with their names", () => {
    const machine = defineMachine({
      id: "m",
      initial: "a",
      states: {
        a: { on: { go: { guard: { type: "g", params: { x: 1 } }, update: { type: "u", params: 2 } } } },
      },
    });
    const { config, implementations } = toXState(machine, { xstate });
    const go = [{ guard: { type: "g", params: { x: 1 } }, actions: [{ type: "u", params: 2 }] }];
    expect(config).toMatchObject({ states: { a: { on: { go } } } });
    expect(implementations).toMatchObject({ guards: {}, actions: {} });
  });

  test("errors by their names", async () => {
    const attempt = { invoke: { activity: "ask" }, catch: [{ errors: ["Busy"], target: "b" }, "c"] };
    const fail = (name: string) => async () => {
      throw Object.assign(new Error("no"), { name });
    };
    const ends = async (name: string) => {
      const definition = { id: "m", initial: "a", states: { a: { attempt }, b: {}, c: {} } };
      const { actor } = run(definition, { activities: { ask: fail(name) } });
      await xstate.waitFor(actor, (snapshot) => snapshot.value !== "a");
      return actor.getSnapshot().value;
    };
    expect(await ends("Busy")).toBe("b");
    expect(await ends("Lost")).toBe("c");
  });

  test("branches, histories and regions", () => {
    const { actor, config } = run({
      id: "m",
      unhandled: "ignore",
      initial: "p",
      states: {
        p: {
          type: "parallel",
          writes: "last",
          tags: ["both"],
          states: {
            one: { initial: "a", states: { a: { on: { x: "b" } }, b: {} } },
            two: {
              initial: { target: "c", actions: { raise: "begun" } },
              states: { c: { id: "sea" }, d: {} },
            },
            h: { type: "history", history: "deep", target: ["one.a", "two.c"] },
          },
          on: {
            out: "q",
            begun: {
              actions: {
                choose: [
                  {
                    guard: { in: "#sea" },
                    actions: { update: (draft) => Object.assign(draft, { at: "sea" }) },
                  },
                  { actions: { update: (draft) => Object.assign(draft, { at: "land" }) } },
                ],
              },
            },
          },
        },
        q: { on: { back: "p.h" } },
      },
    });
    expect(JSON.parse(JSON.stringify(config))).toEqual(config);
    for (const type of ["x", "out", "back"]) actor.send({ type });
    expect(actor.getSnapshot().value).toEqual({ p: { one: "b", two: "c" } });
    expect(actor.getSnapshot().context).toEqual({ at: "sea" });
    expect(actor.getSnapshot().hasTag("both" as never)).toBe(true);
  });

  test("handlers with the time that is given", () => {
    const options = { now: () => durationMs("1s") };
    const { actor } = run(
      {
        id: "m",
        initial: "a",
        states: { a: { entry: { update: (draft, { at }) => Object.assign(draft, { at }) } } },
      },
      options,
    );
    expect(actor.getSnapshot().context).toEqual({ at: 1_000 });
  });
});

describe("notes", () => {
  test("say what XState has no word for", () => {
    expect(
      topicsOf({
        id: "m",
        limits: { steps: 5 },
        priorities: { a: 1 },
        checkpoint: "manual",
        unhandled: "reject",
        matching: "scxml",
        invariants: { fine: () => true },
        initial: "p",
        states: {
          p: {
            type: "parallel",
            defer: ["x"],
            states: {
              one: { initial: "a.b", states: { a: { initial: "b", states: { b: {}, c: {} } } } },
              two: {},
            },
            entry: [[{ log: 1 }], [{ log: 2 }]],
            on: [
              { event: "a b", target: "q" },
              { event: "error.execution", target: "q", require: { fine: () => true } },
            ],
          },
          q: {
            invoke: {
              id: "i",
              activity: "work",
              retry: { attempts: 2 },
              compensate: "undo",
              finalize: { log: 1 },
            },
            after: [{ delay: 5, resume: "restart", target: "r" }],
            exit: [
              { reply: 1 },
              { compensate: true },
              { send: { type: "x", to: { run: "other" } } },
              { send: { type: "x", delay: 1, resume: "restart" } },
              { spawn: "nobody" },
            ],
          },
          r: { initial: "s", states: { s: {}, h: { type: "history", target: "s", actions: { log: 1 } } } },
          t: { invoke: { machine: "stranger", autoforward: true } },
        },
      }),
    ).toEqual([
      "matching: matching",
      "unhandled: unhandled",
      "limits: policy",
      "checkpoint: policy",
      "priorities: policy",
      "invariants: contract",
      "states.p.defer: defer",
      "states.p.writes: writes",
      "states.p.entry: blocks",
      "states.p.states.one.initial: initial",
      "states.p.on: order",
      "states.p.on[1]: own-events",
      "states.q.exit[0]: reply",
      "states.q.exit[1]: compensate",
      "states.q.exit[2]: address",
      "states.q.exit[3]: resume",
      "states.q.exit[4]: child",
      "states.q.after[0]: resume",
      "states.q.invoke: activity",
      "states.q.invoke: compensate",
      "states.q.invoke: finalize",
      "states.q.invoke: unbound",
      "states.r.states.h: history",
      "states.t.invoke: autoforward",
      "states.t.invoke: child",
    ]);
  });
});
