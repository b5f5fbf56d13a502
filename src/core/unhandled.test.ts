/** Events that no state takes: ignored, rejected or deferred, and which of those that wait goes first. */
import { describe, expect, test } from "vitest";
import {
  defineMachine,
  type Event,
  type Json,
  type MachineDefinition,
  simulate,
  start,
  step,
} from "../index.ts";

const says = (run: { logs: readonly { data?: Json }[] }) => run.logs.map(({ data }) => data);
const at = { at: 0 };

describe("the policy for events that nothing takes", () => {
  const outcome = (unhandled: MachineDefinition["unhandled"], type: string) => {
    const machine = defineMachine({
      id: "m",
      ...(unhandled === undefined ? {} : { unhandled }),
      events: { declared: {}, go: {}, back: {} },
      initial: "a",
      states: { a: { on: { go: "b" } }, b: { on: { back: "a", "order.*": "a" } } },
    });
    const { state } = start(machine, undefined, at);
    const taken = step(machine, state, { type }, at);
    if (taken.outcome !== "deferred") expect(taken.state).toBe(state);
    return [taken.outcome, taken.error?.code];
  };

  test("ignores events that are known elsewhere and rejects the others, unless told otherwise", () => {
    expect(outcome(undefined, "back")).toEqual(["ignored", undefined]);
    expect(outcome(undefined, "order.paid")).toEqual(["ignored", undefined]);
    expect(outcome(undefined, "declared")).toEqual(["ignored", undefined]);
    expect(outcome(undefined, "strange")).toEqual(["refused", "EVENT_UNKNOWN"]);
  });

  test("is one for all events, or one for those that are known and one for the others", () => {
    expect(outcome("reject", "back")).toEqual(["refused", "EVENT_UNHANDLED"]);
    expect(outcome("ignore", "strange")).toEqual(["ignored", undefined]);
    expect(outcome("defer", "strange")).toEqual(["deferred", undefined]);
    expect(outcome({ known: "reject" }, "back")).toEqual(["refused", "EVENT_UNHANDLED"]);
    expect(outcome({ known: "reject" }, "strange")).toEqual(["refused", "EVENT_UNKNOWN"]);
    expect(outcome({ unknown: "ignore" }, "strange")).toEqual(["ignored", undefined]);
    expect(outcome({ known: "defer", unknown: "ignore" }, "back")).toEqual(["deferred", undefined]);
  });

  test("a star somewhere does not make every event known", () => {
    const machine = defineMachine({ id: "m", initial: "a", states: { a: {}, b: { on: { "*": "a" } } } });
    expect(step(machine, start(machine, undefined, at).state, { type: "x" }, at).error?.code).toBe(
      "EVENT_UNKNOWN",
    );
  });

  test("does not reject what the platform itself made", () => {
    const machine = defineMachine({ id: "m", unhandled: "reject", initial: "a", states: { a: {} } });
    const { state } = start(machine, undefined, at);
    expect(step(machine, state, { type: "error.communication", kind: "platform" }, at).outcome).toBe(
      "ignored",
    );
  });

  test("a refusal names the state, the event, and what is possible; or that a guard stands in the way", () => {
    const machine = defineMachine({
      id: "m",
      unhandled: "reject",
      initial: "a",
      states: {
        a: { on: { go: { guard: () => false }, wait: {}, "error.execution": {} }, after: { 5: "b" } },
        b: { on: { back: "a" } },
      },
    });
    const { state } = start(machine, undefined, at);
    const refuse = (type: string) => step(machine, state, { type }, at).error;
    expect(refuse("back")?.message).toBe('"back" cannot be taken in a: possible here: go, wait');
    expect(refuse("back")?.details).toEqual({
      event: "back",
      configuration: ["a"],
      possible: ["go", "wait"],
      guarded: false,
    });
    expect(refuse("go")?.message).toBe(
      '"go" cannot be taken in a, where no guard lets it through: possible here: wait',
    );
    expect(refuse("go")?.details).toMatchObject({ guarded: true, possible: ["wait"] });
    expect(refuse("strange")?.message).toBe(
      'The machine "m" has no event "strange", in a or elsewhere: possible here: go, wait',
    );
    const last = defineMachine({ id: "m", unhandled: "reject", initial: "a", states: { a: {} } });
    expect(step(last, start(last, undefined, at).state, { type: "x" }, at).error?.message).toBe(
      'The machine "m" has no event "x", in a or elsewhere: nothing else is possible here',
    );
  });
});

describe("deferral", () => {
  const machine = defineMachine({
    id: "m",
    start: { got: [] as unknown[] },
    initial: "busy",
    states: {
      busy: { defer: ["job", "note.*"], on: { done: "idle", lunch: "closed" } },
      idle: {
        on: {
          job: {
            target: "busy",
            update: (draft, { event }) => {
              draft.got.push(event.data);
            },
          },
          "note.*": {
            update: (draft, { event }) => {
              draft.got.push(event.type);
            },
          },
        },
      },
      closed: { on: { open: "idle" } },
    },
  });

  test("keeps an event in the state until a state takes it", () => {
    const run = simulate(machine);
    expect(run.send({ type: "job", data: 1 }).outcome).toBe("deferred");
    expect(run.state).toMatchObject({ deferred: [{ type: "job", data: 1 }], context: { got: [] } });
    expect(run.send("done").state).toMatchObject({
      configuration: ["busy"],
      context: { got: [1] },
      deferred: [],
    });
  });

  test("brings events back in the order they came, one for each time a state takes them", () => {
    const run = simulate(machine);
    for (const data of [1, 2, 3]) run.send({ type: "job", data });
    run.send("note.a");
    run.send("done");
    expect(run.state.context.got).toEqual([1]);
    expect(run.state.deferred).toMatchObject([{ data: 2 }, { data: 3 }, { type: "note.a" }]);
    run.send("done");
    run.send("done");
    run.send("done");
    expect(run.state.context.got).toEqual([1, 2, 3, "note.a"]);
    expect(run.state).toMatchObject({ configuration: ["idle"], deferred: [] });
  });

  test("brings back as many as the states take in one step", () => {
    const run = simulate(machine);
    for (const type of ["note.a", "note.b", "note.a"]) run.send(type);
    run.send("done");
    expect(run.state.context.got).toEqual(["note.a", "note.b", "note.a"]);
  });

  test("ends for an event that the new state neither takes nor defers", () => {
    const run = simulate(machine);
    run.send({ type: "job", data: 1 });
    const closing = run.send("lunch");
    expect(closing.state).toMatchObject({ configuration: ["closed"], deferred: [] });
    expect(closing.dropped).toEqual([{ type: "job", data: 1 }]);
    expect(run.send("open").state.context.got).toEqual([]);
  });

  test("goes on in another state that defers it too, and across regions and ancestors", () => {
    const deep = defineMachine({
      id: "m",
      initial: "p",
      defer: ["root"],
      states: {
        p: {
          type: "parallel",
          states: {
            a: { initial: "x", states: { x: { defer: ["leaf"], on: { go: "y" } }, y: { defer: ["leaf"] } } },
            b: { defer: ["region"], initial: "x", states: { x: {} } },
          },
        },
      },
    });
    const run = simulate(deep);
    for (const type of ["leaf", "region", "root"]) expect(run.send(type).outcome).toBe("deferred");
    expect(run.send("go").state.deferred.map(({ type }) => type)).toEqual(["leaf", "region", "root"]);
  });

  test("does not come before a transition: what a state takes is not deferred", () => {
    const both = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { defer: ["go"], on: { go: "b" } }, b: {} },
    });
    expect(simulate(both).send("go").state.configuration).toEqual(["b"]);
  });

  test("ends with the run: an event that comes back may end it, and the others are gone", () => {
    const ending = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { defer: ["x"], on: { go: "b" } }, b: { on: { x: "end" } }, end: { type: "final" } },
    });
    const run = simulate(ending);
    run.send("x");
    run.send("x");
    const last = run.send("go");
    expect(last.state).toMatchObject({ status: "done", deferred: [] });
    expect(last.dropped).toEqual([{ type: "x" }]);
  });

  test("a deferred event may lead to a step that is refused, and then nothing has happened", () => {
    const strict = defineMachine({
      id: "m",
      start: { n: 0 },
      invariants: { zero: ({ context }) => context.n === 0 },
      initial: "a",
      states: {
        a: { defer: ["x"], on: { go: "b" } },
        b: {
          on: {
            x: {
              update: (draft) => {
                draft.n++;
              },
            },
          },
        },
      },
    });
    const run = simulate(strict);
    run.send("x");
    const before = run.state;
    expect(run.send("go")).toMatchObject({ outcome: "refused", error: { code: "INVARIANT_VIOLATED" } });
    expect(run.state).toBe(before);
  });

  test("an ignored event brings nothing back, whether the state was restored or not", () => {
    const guarded = defineMachine({
      id: "m",
      start: { ready: false as boolean },
      initial: "a",
      states: {
        a: {
          defer: ["x"],
          invoke: {
            machine: "w",
            finalize: {
              update: (draft) => {
                draft.ready = true;
              },
            },
          },
          on: { x: { guard: ({ context }) => context.ready, target: "b" } },
        },
        b: {},
      },
    });
    const first = start(guarded, undefined, at).state;
    const waiting = step(guarded, first, { type: "x" }, at).state;
    const news: Event = { type: "news", invokeId: "a", invocation: first.children[0]?.key as string };
    const live = step(guarded, waiting, news, at);
    const restored = step(guarded, JSON.parse(JSON.stringify(waiting)), news, at);
    expect(live.outcome).toBe("ignored");
    expect(restored).toEqual(live);
  });
});

describe("priorities", () => {
  const urgent = defineMachine({
    id: "m",
    priorities: { "stop.*": 10, stop: 5, "*": 1, low: -1 },
    start: { order: [] as string[] },
    initial: "busy",
    states: {
      busy: { defer: ["*"], on: { ready: "idle" } },
      idle: {
        on: {
          "*": {
            update: (draft, { event }) => {
              draft.order.push(event.type);
            },
          },
        },
      },
    },
  });

  test("decide which deferred event comes back first; among equals the earlier one", () => {
    const run = simulate(urgent);
    for (const type of ["low", "a", "stop", "stop.now", "b", "stop.later"]) run.send(type);
    run.send("ready");
    expect(run.state.context.order).toEqual(["stop.now", "stop.later", "stop", "a", "b", "low"]);
  });

  test("decide which of several waiting events a run takes first", () => {
    const machine = defineMachine({
      id: "m",
      priorities: { high: 1 },
      initial: "a",
      states: { a: { on: { "*": { actions: { log: ({ event }) => event.type } } } } },
    });
    const run = simulate(machine);
    for (const type of ["one", "high", "two"]) run.deliver({ type });
    run.advance(0);
    expect(says(run)).toEqual(["high", "one", "two"]);
  });
});

describe("what is not an event", () => {
  const machine = defineMachine({ id: "m", initial: "a", states: { a: { on: { go: "b" } }, b: {} } });
  const { state } = start(machine, undefined, at);
  const refuse = (event: unknown) => {
    const taken = step(machine, state, event as Event, at);
    expect(taken).toMatchObject({ outcome: "refused", effects: [] });
    expect(taken.state).toBe(state);
    return taken.error;
  };

  test("is refused with a reason, and changes nothing", () => {
    for (const event of [undefined, null, "go", 5, {}, { type: "" }, { type: 5 }, []]) {
      expect(refuse(event)?.code).toBe("EVENT_INVALID");
    }
    expect(refuse({ typ: "go" })?.message).toBe('An event is { type, data }, not {"typ":"go"}');
    expect(refuse({ typ: 1n })?.message).toBe("An event is { type, data }, not object");
    expect(refuse(undefined)?.message).toBe("An event is { type, data }, not undefined");
  });

  test("a payload beside data is refused, and so is an envelope that is not text", () => {
    expect(refuse({ type: "go", goal: 1 })?.message).toBe(
      'The event "go" has a field "goal": put the payload in `data`',
    );
    expect(refuse({ type: "go", origin: new Date(0) })?.message).toBe(
      'The event "go" has a field "origin" that is not text',
    );
  });

  test("data that is not JSON is refused with its path", () => {
    const error = refuse({ type: "go", data: { list: [1, { when: new Date(0) }] } });
    expect(error?.code).toBe("NOT_JSON");
    expect(error?.details).toEqual({ path: "event.data.list[1].when" });
  });

  test("fields of the data that are undefined are as good as absent", () => {
    const listening = defineMachine({
      id: "m",
      initial: "a",
      states: { a: { on: { go: { actions: { log: ({ event }) => event.data as Json } } } } },
    });
    const run = simulate(listening);
    run.send({ type: "go", data: { a: 1, b: undefined } });
    expect(says(run)).toStrictEqual([{ a: 1 }]);
  });
});
