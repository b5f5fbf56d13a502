/** The data-model port: a small model with a language and sessions of its own, and what the core asks of it. */
import { describe, expect, test } from "vitest";
import {
  can,
  type DataModel,
  defineMachine,
  type JsonObject,
  type MachineDefinition,
  type ModelScope,
  simulate,
  start,
  step,
} from "../index.ts";

const at = { at: 0 };

/**
 * Sources are `{ get: name }`, `{ is: name }`, `{ set: name, to: value }`. Its session is a mutable copy of the context,
 * which is handed over only when it is asked for.
 */
function tinyModel(calls: string[]): DataModel {
  const session = (scope: ModelScope) => scope.session as Record<string, never>;
  const value = (source: unknown, scope: ModelScope): unknown => {
    const { get } = (source ?? {}) as { get?: string };
    if (get === "fail") throw new Error("cannot get");
    return get === undefined ? source : session(scope)[get];
  };
  const assign = (source: JsonObject) => (scope: ModelScope) => {
    session(scope)[source.set as string] = value(source.to, scope) as never;
  };
  return {
    name: "tiny",
    start: (source) => (scope, input) => {
      const context = { ...(source as JsonObject), input: input ?? null };
      scope.session = { ...context };
      return context;
    },
    value: (source) => (scope) => value(source, scope),
    condition: (source) => (scope) => Boolean(session(scope)[(source as { is: string }).is]),
    update: (source) => (scope) => {
      assign(source as JsonObject)(scope);
      return scope.context;
    },
    action: (source, path, block) => {
      const inner = source.twice === undefined ? undefined : block(source.twice, `${path}.twice`);
      return (scope) => {
        calls.push(
          `${path} of ${scope.machineId} as ${scope.run} at ${scope.at} in ${JSON.stringify(scope.environment)}`,
        );
        if (inner === undefined) assign(source)(scope);
        inner?.(scope);
        inner?.(scope);
      };
    },
    location: (source) => (scope, given) => {
      session(scope)[source.set as string] = given as never;
    },
    declare: (source) => assign(source),
    open(scope) {
      calls.push("open");
      scope.session = { ...scope.context };
    },
    save(scope) {
      const { context } = scope;
      const changed = Object.keys(session(scope)).some((key) => session(scope)[key] !== context[key]);
      return changed || Object.keys(context).length === 0 ? { ...session(scope) } : context;
    },
    close(scope) {
      calls.push("close");
      scope.session = undefined;
    },
  };
}

function machineWith(definition: Partial<MachineDefinition>, calls: string[] = []) {
  return defineMachine({ id: "m", model: tinyModel(calls), initial: "a", states: { a: {} }, ...definition });
}

describe("a data model", () => {
  test("evaluates expressions, conditions, updates, places and data of states in its own language", () => {
    const machine = machineWith({
      start: { n: 1, yes: true },
      states: {
        a: {
          data: { set: "seen", to: 5 },
          on: {
            go: {
              guard: { is: "yes" },
              update: { set: "n", to: 2 } as never,
              actions: [
                { log: { get: "n" } },
                { send: { type: "x", delay: 5, idLocation: { set: "sent" } } },
                { send: { type: "x", id: "mine", idLocation: { set: "named" } } },
              ],
              target: "b",
            },
            no: { guard: { is: "never" } },
          },
        },
        b: { invoke: { activity: "job", id: { get: "name" }, idLocation: { set: "job" } } as never },
      },
    });
    const begun = step(machine, start(machine, undefined, at).state, { type: "no" }, at);
    expect(begun.outcome).toBe("ignored");
    const named = { ...begun.state, context: { ...begun.state.context, name: "j1" } };
    const { state, effects } = step(machine, named, { type: "go" }, at);
    expect(state.context).toMatchObject({ n: 2, sent: "2.0", named: "mine", job: "j1" });
    expect(effects).toMatchObject([
      { type: "log", data: 2 },
      { type: "timer" },
      { type: "send", event: { sendId: "mine" } },
      { type: "activity", id: "j1" },
    ]);
    expect(state.timers).toMatchObject([{ id: "2.0", event: { sendId: "2.0" } }]);
  });

  test("knows the machine, the run, the time and the environment", () => {
    const calls: string[] = [];
    const machine = machineWith({ states: { a: { entry: { model: { set: "x", to: 1 } } } } }, calls);
    start(machine, undefined, { at: 7, run: "r1", environment: { here: true } });
    start(machine, undefined, at);
    expect(calls.filter((call) => call.includes("entry"))).toEqual([
      'states.a.entry.model of m as r1 at 7 in {"here":true}',
      "states.a.entry.model of m as m at 0 in {}",
    ]);
  });

  test("may have actions around other actions", () => {
    const machine = machineWith({
      states: { a: { entry: { model: { twice: [{ log: "x" }, { log: "y" }] } } } },
    });
    const run = simulate(machine);
    expect(run.logs.map(({ data }) => data)).toEqual(["x", "y", "x", "y"]);
  });

  test("opens a session for each step and each question, and closes it however that went", () => {
    const calls: string[] = [];
    const machine = machineWith(
      {
        invariants: { ok: { not: { is: "bad" } } },
        states: { a: { on: { go: { update: { set: "bad", to: true } as never } } } },
      },
      calls,
    );
    const { state } = start(machine, undefined, at);
    const refused = step(machine, state, { type: "go" }, at);
    expect(refused).toMatchObject({ outcome: "refused", error: { code: "INVARIANT_VIOLATED" } });
    expect(can(machine, state, { type: "go" })).toBe(true);
    expect(calls).toEqual(["open", "close", "open", "close", "open", "close"]);
  });

  test("hands over its context at the end, and keeps what a guard or finalize changed when nothing takes the event", () => {
    const machine = machineWith({
      states: { a: { invoke: { machine: "w", finalize: { model: { set: "seen", to: { get: "n" } } } } } },
      start: { n: 4 },
    });
    const { state } = start(machine, undefined, at);
    const key = state.children[0]?.key as string;
    const taken = step(machine, state, { type: "news", invokeId: "a", invocation: key }, at);
    expect(taken).toMatchObject({ outcome: "ignored", state: { context: { n: 4, seen: 4 }, seq: 2 } });
    const nothing = step(machine, taken.state, { type: "other", kind: "platform" }, at);
    expect(nothing.state).toBe(taken.state);
  });

  test("may fail like any function of a machine: errors are events, with the send's id if it was one", () => {
    const machine = machineWith({
      states: {
        a: {
          entry: [
            [{ log: { get: "fail" } }],
            [{ send: { type: "x", to: { get: "fail" } as never, idLocation: { set: "sent" } } }],
            [{ send: { type: "x", data: { get: "fail" } } }],
          ],
        },
      },
    });
    const { errors, state } = start(machine, undefined, at);
    expect(errors).toMatchObject([
      { type: "error.execution", data: { message: "cannot get" } },
      { type: "error.execution", sendId: "1.0" },
      { type: "error.execution" },
    ]);
    expect(errors[2]).not.toHaveProperty("sendId");
    expect(state.context.sent).toBe("1.0");
  });

  test("without sessions gives each new context itself", () => {
    const plainish: DataModel = {
      ...tinyModel([]),
      name: "no sessions",
      update: (source) => (scope) => ({ ...scope.context, ...(source as JsonObject) }),
    };
    delete (plainish as { open?: unknown }).open;
    delete (plainish as { save?: unknown }).save;
    delete (plainish as { close?: unknown }).close;
    const machine = machineWith({
      model: plainish,
      states: { a: { on: { go: { update: { x: 1 } as never } } } },
    });
    expect(simulate(machine).send("go").state.context).toEqual({ input: null, x: 1 });
  });
});
