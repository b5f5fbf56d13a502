/** What an import says about what it could not carry over, place by place. Behaviour is compared in `test/xstate`. */
import { describe, expect, test } from "vitest";
import {
  and,
  assign,
  createActor,
  createMachine,
  enqueueActions,
  fromCallback,
  fromObservable,
  fromPromise,
  fromTransition,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from "xstate";
import { defineMachine } from "../../machine.ts";
import { simulate } from "../../simulate.ts";
import { fromXState } from "./import.ts";

const topicsOf = (source: object, options = {}) =>
  fromXState(source, options).notes.map(({ path, topic }) => `${path}: ${topic}`);
const one = (state: object, rest: object = {}) => ({
  id: "m",
  initial: "a",
  states: { a: state, b: {} },
  ...rest,
});

describe("notes", () => {
  test("a plain machine has none", () => {
    expect(
      topicsOf(one({ on: { go: "b", no: undefined, "x.*": ".", "*": { target: "b", reenter: true } } })),
    ).toEqual(["states.a.on.x.*: unknown-target"]);
    expect(topicsOf(one({ on: { go: "b" }, after: { 10: "b" }, tags: "t" }))).toEqual([]);
  });

  test("names without implementations", () => {
    const guard = { type: "g", params: { x: () => 1 } };
    expect(
      topicsOf(
        one({ entry: "act", on: { go: { guard, target: "b" } }, invoke: { src: "work", onError: "b" } }),
      ),
    ).toEqual([
      "states.a.entry: unimplemented",
      "states.a.on.go.guard: unimplemented",
      "states.a.on.go.guard: params-lost",
      "states.a.invoke: unimplemented",
      "states.a.invoke.onError: error-data",
    ]);
  });

  test("names with params keep both, so that they can be bound here", () => {
    const guard = { type: "g", params: { x: 1 } };
    const { definition, notes } = fromXState(one({ on: { go: { guard, target: "b" } } }));
    expect(definition.states?.a).toMatchObject({ on: { go: { guard } } });
    expect(notes.map(({ topic }) => topic)).toEqual(["unimplemented"]);
    const bound = defineMachine(definition).implement({
      guards: { g: (_scope: unknown, { x }: { x: number }) => x === 1 },
    });
    expect(simulate(bound).send("go").state.configuration).toEqual(["b"]);
  });

  test("implemented names with params are named here too, whatever the params hold", () => {
    const implementations = {
      guards: { fits: (_given: unknown, { check }: { check: (n: number) => boolean }) => check(3) },
      actions: { put: assign((_given, { n }: { n: number }) => ({ n })) },
    };
    const go = [
      { guard: { type: "fits", params: { check: (n: number) => n > 3 } }, target: "a" },
      { guard: { type: "fits", params: () => ({ check: 1 }) }, target: "a" },
      {
        guard: { type: "fits", params: { check: (n: number) => n === 3 } },
        target: "b",
        actions: { type: "put", params: { n: 7 } },
      },
    ];
    const { definition } = fromXState(one({ on: { go } }), { implementations } as never);
    expect(definition.states?.a).toMatchObject({
      on: { go: [{}, {}, { actions: [{ update: { type: "put", params: { n: 7 } } }] }] },
    });
    const run = simulate(defineMachine(definition));
    expect(run.send("go").state).toMatchObject({ configuration: ["b"], context: { n: 7 } });
  });

  test("implementations given beside the configuration count", () => {
    const implementations = {
      guards: { g: () => true },
      delays: { d: 5 },
      actions: { act: assign({ n: 1 }) },
    };
    const source = one({ entry: "act", after: { d: "b" }, on: { go: { guard: "g", target: "b" } } });
    const { definition, notes } = fromXState(source, { implementations });
    expect(notes).toEqual([]);
    const simulation = simulate(defineMachine(definition));
    expect(simulation.state.context).toEqual({ n: 1 });
    simulation.advance(5);
    expect(simulation.state.configuration).toEqual(["b"]);
  });

  test.each([
    ["callback", fromCallback(() => undefined)],
    ["observable", fromObservable(() => ({ subscribe: () => ({ unsubscribe: () => undefined }) }) as never)],
    ["reducer", fromTransition((state) => state, {})],
  ])("a %s is no activity", (_kind, src) => {
    const { notes, activities } = fromXState(one({ invoke: { id: "x", src, onDone: "b" } }));
    expect(notes.map(({ path, topic }) => `${path}: ${topic}`)).toEqual([
      "states.a.invoke: actor-logic",
      "states.a.invoke: unhandled-error",
    ]);
    expect(activities).toEqual({});
  });

  test("parts of an invocation that have no counterpart", () => {
    const invoke = { src: fromPromise(async () => 1), systemId: "s", onSnapshot: {}, onError: "b" };
    expect(topicsOf(one({ invoke }))).toEqual([
      "states.a.invoke.onSnapshot: on-snapshot",
      "states.a.invoke.systemId: system-id",
      "states.a.invoke.onError: error-data",
    ]);
  });

  test("actors that are held, and functions that speak of them", () => {
    const actor = createActor(createMachine({}));
    const source = one({
      entry: [
        sendTo(actor, { type: "x" }),
        stopChild(actor as never),
        spawnChild("s" as never, { id: "i", systemId: "y" } as never),
      ],
      exit: assign({ ref: ({ spawn }) => spawn(createMachine({}) as never) as never }),
      on: { go: { guard: ({ self }: { self: unknown }) => self !== undefined } },
    });
    expect(topicsOf(createMachine(source as never))).toEqual([
      "states.a.entry[0]: actor-reference",
      "states.a.entry[1]: actor-reference",
      "states.a.entry[2]: system-id",
      "states.a.entry[2]: unimplemented",
      "states.a.entry[2]: spawned-promise",
      "states.a.on.go.guard: uses-actors",
    ]);
    expect(topicsOf({ ...one({}), context: ({ spawn }: { spawn: unknown }) => ({ spawn }) })).toEqual([
      "context: uses-actors",
    ]);
  });

  test("places that are not there", () => {
    const source = one({
      on: { go: "nowhere", top: "#m" },
      after: { soon: "b" },
      always: { guard: stateIn("zzz"), target: "b" },
    });
    expect(topicsOf(source)).toEqual([
      "states.a.after.soon: unknown-delay",
      "states.a.on.go: unknown-target",
      "states.a.on.top: root-target",
      "states.a.always.guard: unknown-state",
    ]);
  });

  test("keys, versions, options and events that mean nothing here", () => {
    const states = { "a.b": { on: { "xstate.snapshot.x": "c" } }, a_b: {}, c: {} };
    const source = { id: "m", version: "1.2.3", options: { maxIterations: 5 }, initial: "a.b", states };
    const { definition, notes } = fromXState(source);
    expect(notes.map(({ path, topic }) => `${path}: ${topic}`)).toEqual(
      ["options: option", "states.a.b.on.xstate.snapshot.x: own-events", "version: version"].toSpliced(
        0,
        0,
        "states.a.b: renamed",
        "states.a_b: renamed",
      ),
    );
    expect(Object.keys(definition.states ?? {})).toEqual(["a_b", "a_b_2", "c"]);
    expect(definition.initial).toBe("a_b");
    expect(fromXState(source, { version: 7, id: "other" }).definition).toMatchObject({
      id: "other",
      version: 7,
    });
  });

  test("what final and history states cannot have", () => {
    const states = { f: { type: "final", on: { x: "f" }, output: 1 }, h: { type: "history", entry: "e" } };
    expect(topicsOf({ initial: "f", states })).toEqual([
      "states.f.output: unused-output",
      "states.f.on: dead-content",
      "states.h.entry: dead-content",
    ]);
  });

  test("a first context that is no JSON", () => {
    expect(topicsOf({ ...one({}), context: { when: new Date(0) } })).toEqual(["context: json"]);
  });

  test("notes of children stand behind their place", () => {
    const child = createMachine({ initial: "x", states: { x: { entry: "told" } } });
    expect(topicsOf(one({ invoke: { id: "kid", src: child, onDone: "b" } }))).toEqual([
      "states.a.invoke → states.x.entry: unimplemented",
      "states.a.invoke: unhandled-error",
    ]);
  });

  test("candidates under a computed delay", () => {
    const delays = { d: () => 5 };
    expect(
      topicsOf(
        createMachine(
          one({ after: { d: [{ guard: () => false, target: "b" }, "b"] } }) as never,
          { delays } as never,
        ),
      ),
    ).toEqual(["states.a.after.d: many-candidates"]);
  });
});

describe("code", () => {
  test("of promises becomes activities, under their names; children's are named after them", async () => {
    const seen: unknown[] = [];
    const work = fromPromise(async ({ input, signal }: { input: unknown; signal: AbortSignal }) => {
      seen.push(input, signal.aborted);
      return "done";
    });
    const child = createMachine({ initial: "x", states: { x: { invoke: { src: work, onError: {} } } } });
    const machine = setup({ actors: { work, child } }).createMachine(
      one({ invoke: [{ src: "work" }, { src: "child" }, { id: "inline", src: work }] }) as never,
    );
    const { activities } = fromXState(machine);
    expect(Object.keys(activities)).toEqual(["work", "m/child/0.(machine).x", "inline"]);
    const { signal } = new AbortController();
    expect(await activities.work?.(5 as never, { signal })).toBe("done");
    expect(seen).toEqual([5, false]);
  });

  test("of actions is kept by name, or by place", () => {
    const act = () => undefined;
    const machine = createMachine(
      one({ entry: ["act", act], exit: act }) as never,
      { actions: { act } } as never,
    );
    const { actions, notes, definition } = fromXState(machine);
    expect(actions).toEqual({ act, "states.a.entry[1]": act, "states.a.exit": act });
    expect(notes.map(({ topic }) => topic)).toEqual(["custom-action", "custom-action", "custom-action"]);
    expect(definition.states?.a?.entry).toEqual([
      { emit: "action.act" },
      { emit: "action.states.a.entry[1]" },
    ]);
  });

  test("guards that are made of others are data", () => {
    const machine = createMachine(
      one({ on: { go: { guard: and(["g", stateIn("a")]), target: "b" } } }) as never,
      {
        guards: { g: () => true },
      } as never,
    );
    expect(fromXState(machine).definition.states?.a?.on).toEqual({
      go: { guard: { and: ["g", { in: "a" }] }, target: "b" },
    });
  });

  test("a list that starts a machine without a name is an error when it is made", () => {
    const child = createMachine({ initial: "x", states: { x: {} } });
    const machine = createMachine(
      one({
        on: {
          go: {
            actions: enqueueActions(({ enqueue }) => {
              enqueue.spawnChild(child as never);
            }),
          },
        },
      }) as never,
    );
    const simulation = simulate(defineMachine(fromXState(machine).definition));
    expect(simulation.send("go").errors).toMatchObject([
      { data: { message: expect.stringContaining("no name") } },
    ]);
  });
});
