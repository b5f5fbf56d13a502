/** State is JSON and nothing else, and never changes: what is refused, with which path, and what is frozen. */
import { afterEach, describe, expect, test } from "vitest";
import { defineMachine, type Event, freezeStates, HoldfastError, type Json, start, step } from "../index.ts";
import { limits } from "../limits.ts";
import { isSound, showPath, toJson } from "./json.ts";

const at = { at: 0 };

/** The error of a step whose update puts `value` at `context.box.here`. */
function put(value: unknown) {
  const machine = defineMachine({
    id: "m",
    start: { box: {} as { here?: unknown } },
    initial: "a",
    states: {
      a: {
        on: {
          go: {
            update: (draft) => {
              draft.box.here = value;
            },
          },
        },
      },
    },
  });
  const before = start(machine, undefined, at).state;
  const { errors, state } = step(machine, before, { type: "go" }, at);
  if (errors.length > 0) expect(state.context).toBe(before.context);
  return { error: errors[0]?.data as { code: string; message: string } | undefined, context: state.context };
}

describe("a value that is not JSON is refused with its path", () => {
  class Goal {
    name = "win";
  }
  const values: [string, unknown, string][] = [
    ["NaN", { n: Number.NaN }, "context.box.here.n is the number NaN"],
    ["infinity", [Number.POSITIVE_INFINITY], "context.box.here[0] is the number Infinity"],
    ["a date", new Date(0), "context.box.here is an instance of Date"],
    ["a map", { m: new Map() }, "context.box.here.m is an instance of Map"],
    ["a set", [[new Set()]], "context.box.here[0][0] is an instance of Set"],
    ["an instance of a class", new Goal(), "context.box.here is an instance of Goal"],
    ["a promise", Promise.resolve(1), "context.box.here is an instance of Promise"],
    ["a typed array", new Uint8Array(1), "context.box.here is an instance of Uint8Array"],
    [
      "a child of a null prototype",
      Object.create(Object.create(null)),
      "context.box.here is an instance of a class",
    ],
    ["a function", { f: () => 1 }, "context.box.here.f is a function"],
    ["a symbol", Symbol("s"), "context.box.here is a symbol"],
    ["a bigint", 10n, "context.box.here is a bigint"],
    ["symbol keys", { ok: 1, [Symbol("k")]: 1 }, "context.box.here is an object with symbol keys"],
    ["undefined in a list", [1, undefined], "context.box.here[1] is undefined"],
    // biome-ignore lint/suspicious/noSparseArray: holes are what is tested here.
    ["a hole in a list", [1, , 3], "context.box.here[1] is a hole in an array"],
    [
      "a strange key",
      { "a b": { "ok-1": new Date(0) } },
      'context.box.here["a b"].ok-1 is an instance of Date',
    ],
  ];
  for (const [name, value, message] of values) {
    test(name, () => {
      const { error } = put(value);
      expect(error).toMatchObject({ code: "NOT_JSON" });
      expect(error?.message).toBe(`${message}, and state holds JSON only: use plain data instead`);
    });
  }

  test("a cycle, found by its depth", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];
    const { message = "" } = put(cycle).error ?? {};
    expect(message).toMatch(
      /^context\.box\.here\.self\[0\].+ … .+ is nested deeper than 200 levels \(or a cycle\)/,
    );
    expect(message.length, "it is told in a line").toBeLessThan(300);
  });

  test("wherever it comes from: the first context, the input, an event, an action's value, an output", () => {
    const code = (make: () => unknown) => {
      try {
        return make();
      } catch (error) {
        expect(error).toBeInstanceOf(HoldfastError);
        return (error as HoldfastError).message;
      }
    };
    const states = { a: {} };
    const bad = new Date(0) as never;
    const from = (definition: object) => defineMachine({ id: "m", initial: "a", states, ...definition });
    expect(code(() => from({ start: { when: bad } }))).toContain("start.when is an instance of Date");
    expect(code(() => start(from({ start: () => ({ when: bad }) }), undefined, at))).toContain(
      "context.when is",
    );
    expect(code(() => start(from({ start: () => 5 }), undefined, at))).toContain("must be an object");
    expect(code(() => start(from({ start: () => [] }), undefined, at))).toContain("must be an object");
    expect(code(() => start(from({ start: () => null }), undefined, at))).toContain("must be an object");
    expect(code(() => start(from({}), { when: bad }, at))).toContain("input.when is an instance of Date");
    expect(
      start(from({ entry: { emit: { type: "x", data: () => bad } } }), undefined, at).errors,
    ).toMatchObject([
      { data: { message: expect.stringContaining("entry.emit.data is an instance of Date") } },
    ]);
    const end = from({ states: { a: { type: "final", output: () => ({ when: bad }) } } });
    expect(start(end, undefined, at)).toMatchObject({
      state: { status: "done" },
      errors: [{ data: { message: expect.stringContaining("output.when is an instance of Date") } }],
    });
  });
});

describe("a value that is JSON is kept", () => {
  test("as it is, by reference", () => {
    const value = { text: "é\ud800", list: [1, "2", null, true, { deep: [] }] };
    expect(put(value).context.box.here).toBe(value);
  });

  test("without its fields that are undefined", () => {
    const value = { keep: { a: 1, b: undefined }, drop: undefined, list: [{ c: undefined }] };
    expect(put(value).context.box.here).toStrictEqual({ keep: { a: 1 }, list: [{}] });
    expect("b" in value.keep).toBe(true);
  });

  test("as a plain object if it had no prototype", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    const { here } = put({ bare }).context.box as { here: { bare: object } };
    expect(here).toStrictEqual({ bare: { a: 1 } });
  });

  test("under the key __proto__, as an own field like any other", () => {
    const value = JSON.parse('{"__proto__": {"polluted": true}, "gone": null}') as object;
    const here = put({ ...value, drop: undefined }).context.box.here as object;
    expect(Object.keys(here)).toEqual(["__proto__", "gone"]);
    expect(JSON.stringify(here)).toBe('{"__proto__":{"polluted":true},"gone":null}');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test("with minus zero as zero, since JSON has no other", () => {
    const { here } = put({ z: -0, list: [1, -0], s: "x" }).context.box as {
      here: { z: number; list: number[] };
    };
    expect([Object.is(here.z, 0), Object.is(here.list[1], 0)]).toEqual([true, true]);
    expect(Object.is(put(-0).context.box.here, 0)).toBe(true);
  });

  test("and comes back the same from JSON text", () => {
    const value = { a: [0, 1.5, -2e300, "ü\n\u2028", null, false, {}], b: { c: [[], [[]]] } };
    const { context } = put(value);
    expect(JSON.parse(JSON.stringify(context))).toStrictEqual(context);
  });
});

describe("the depth of values", () => {
  const nested = (levels: number): Json => {
    let value: Json = [];
    for (let level = 1; level < levels; level++) value = [value];
    return value;
  };

  test("is bounded: at the limit a value is kept, one level deeper it is refused", () => {
    const machine = (levels: number) =>
      defineMachine({ id: "m", start: () => ({ v: nested(levels - 1) }), initial: "a", states: { a: {} } });
    expect(start(machine(limits.jsonDepthMax), undefined, at).state.status).toBe("active");
    expect(() => start(machine(limits.jsonDepthMax + 1), undefined, at)).toThrow(
      "nested deeper than 200 levels",
    );
  });

  test("counts from the place where a value is put", () => {
    expect(put(nested(limits.jsonDepthMax - 2)).error).toBeUndefined();
    expect(put(nested(limits.jsonDepthMax - 1)).error?.message).toContain("nested deeper than 200 levels");
  });

  test("of an event's data is bounded alike", () => {
    const machine = defineMachine({ id: "m", initial: "a", states: { a: { on: { go: {} } } } });
    const { state } = start(machine, undefined, at);
    const take = (levels: number): Event => ({ type: "go", data: nested(levels) });
    expect(step(machine, state, take(limits.jsonDepthMax), at).outcome).toBe("taken");
    expect(step(machine, state, take(limits.jsonDepthMax + 1), at).error?.code).toBe("NOT_JSON");
  });
});

describe("immutability", () => {
  afterEach(() => {
    freezeStates(true);
  });
  const machine = defineMachine({
    id: "m",
    start: { list: [{ n: 1 }] },
    initial: "a",
    states: {
      a: {
        entry: { send: { type: "later", delay: 5, data: { deep: [1] } } },
        invoke: [{ activity: "x", input: { deep: [1] } }, { machine: "y" }],
        defer: ["wait"],
        on: {
          add: {
            update: (draft) => {
              (draft.list[0] as { n: number }).n++;
              draft.list.push({ n: 9 });
            },
            actions: [{ emit: { type: "e", data: { deep: [1] } } }, { log: { deep: [1] } }],
          },
        },
      },
    },
  });
  const isDeepFrozen = (value: unknown): boolean =>
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isDeepFrozen));

  test("states, effects and events are frozen all the way down", () => {
    const begun = start(machine, undefined, at);
    const event: Event = { type: "wait", data: { deep: [1] } };
    const waiting = step(machine, begun.state, event, at);
    const added = step(machine, waiting.state, { type: "add" }, at);
    for (const { state, effects } of [begun, waiting, added]) {
      expect(isDeepFrozen(state)).toBe(true);
      expect(isDeepFrozen(effects)).toBe(true);
    }
    expect(isDeepFrozen(event)).toBe(true);
    expect(() => {
      (added.state.context.list as { n: number }[]).push({ n: 0 });
    }).toThrow(TypeError);
  });

  test("a step makes a new state and shares with the old one whatever did not change", () => {
    const before = start(machine, undefined, at).state;
    const text = JSON.stringify(before);
    const { state } = step(machine, before, { type: "add" }, at);
    expect(JSON.stringify(before)).toBe(text);
    expect(state.context).toEqual({ list: [{ n: 2 }, { n: 9 }] });
    expect(state.timers).toBe(before.timers);
    expect(state.configuration).toBe(before.configuration);
  });

  test("freezing can be turned off for speed, and says what it was", () => {
    expect(freezeStates(false)).toBe(true);
    expect(freezeStates(false)).toBe(false);
    const { state } = start(machine, undefined, at);
    expect(Object.isFrozen(state)).toBe(false);
    expect(Object.isFrozen(state.timers[0])).toBe(false);
    expect(freezeStates(true)).toBe(false);
    expect(Object.isFrozen(start(machine, undefined, at).state)).toBe(true);
  });

  test("without freezing the state that goes in stays as it is all the same", () => {
    freezeStates(false);
    const before = start(machine, undefined, at).state;
    const text = JSON.stringify(before);
    const { state } = step(machine, before, { type: "add" }, at);
    expect(state.context.list).toHaveLength(2);
    expect(JSON.stringify(before)).toBe(text);
  });
});

describe("paths in messages", () => {
  test("are written as in code, with a root of choice", () => {
    expect(showPath([])).toBe("$");
    expect(showPath(["plan", "steps", 2, "naïve"])).toBe("$.plan.steps[2].naïve");
    expect(showPath(["a b", "", "0", "$ok"], "context")).toBe('context["a b"][""]["0"].$ok');
  });

  test("begin where the caller says", () => {
    expect(() => toJson({ x: Number.NaN }, ["a", 0], "root")).toThrow("root.a[0].x is the number NaN");
    expect(() => toJson(undefined, [])).toThrow("$ is undefined");
  });
});

describe("what was parsed", () => {
  const parsed = (text: string): unknown => JSON.parse(text);

  test("is sound, but for numbers that JSON writes otherwise", () => {
    expect(isSound(parsed('{"a":[1,"x",true,null,{"__proto__":0}],"b":{}}'), 3)).toBe(true);
    for (const text of ["-0", "[1e999]", '{"a":{"b":-1e999}}']) expect(isSound(parsed(text), 9)).toBe(false);
  });

  test("is sound up to a depth and not one level deeper", () => {
    for (const text of ["[[0]]", '{"a":{"b":0}}']) {
      expect(isSound(parsed(text), 2)).toBe(true);
      expect(isSound(parsed(text), 1)).toBe(false);
    }
  });
});
