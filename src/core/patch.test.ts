import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { apply, defineMachine, diff, freezeStates, type Json, type Patch, simulate } from "../index.ts";

const invalid = (message: string) =>
  expect.objectContaining({
    code: "PATCH_INVALID",
    message: `${message}. Apply patches to the state they were made from`,
  });

describe("the difference", () => {
  test("of the same value is nothing, and never looks inside what is the same reference", () => {
    const shared = new Proxy({ a: 1 } as Record<string, Json>, {
      ownKeys() {
        throw new Error("looked inside");
      },
    });
    expect(diff({ shared, n: 1 }, { shared, n: 1 })).toEqual([]);
    expect(diff([shared, 1], [shared, 1])).toEqual([]);
    expect(diff({ shared, n: 1 }, { shared, n: 2 })).toEqual([{ op: "set", path: ["n"], value: 2 }]);
  });

  test("of equal values that are not the same is nothing, too", () => {
    expect(diff({ a: [1, { b: null }] }, { a: [1, { b: null }] })).toEqual([]);
  });

  test("of objects is what was set and what was deleted, as deep as it lies", () => {
    expect(diff({ a: { b: 1, c: 2 }, d: 3 }, { a: { b: 9, e: [] }, d: 3 })).toEqual([
      { op: "set", path: ["a", "b"], value: 9 },
      { op: "set", path: ["a", "e"], value: [] },
      { op: "delete", path: ["a", "c"] },
    ]);
  });

  test("of values of different kinds is the new one", () => {
    const kinds: Json[] = [null, true, 1, "x", [], {}];
    for (const before of kinds) {
      for (const after of kinds) {
        const patches = diff(before, after);
        if (before === after) expect(patches).toEqual([]);
        else expect(patches).toEqual([{ op: "set", path: [], value: after }]);
      }
    }
  });

  test("of a list that grew at its end is one append", () => {
    const [a, b] = [{ id: "a" }, { id: "b" }];
    expect(diff({ list: [a] }, { list: [a, b, b] })).toEqual([
      { op: "append", path: ["list"], value: [b, b] },
    ]);
    expect(diff([], [1])).toEqual([{ op: "append", path: [], value: [1] }]);
  });

  test("of text that grew at its end is one append", () => {
    expect(diff({ t: "Once" }, { t: "Once upon" })).toEqual([{ op: "append", path: ["t"], value: " upon" }]);
    expect(diff("", "a")).toEqual([{ op: "append", path: [], value: "a" }]);
    expect(diff("ab", "b")).toEqual([{ op: "set", path: [], value: "b" }]);
  });

  test("of a list that moved along is one patch for each end, whatever its length", () => {
    const items = Array.from({ length: 1000 }, (_, id) => ({ id }));
    const next = { id: 1000 };
    expect(diff(items, [...items.slice(1), next])).toEqual([
      { op: "splice", path: [], index: 0, remove: 1, insert: [] },
      { op: "append", path: [], value: [next] },
    ]);
  });

  test("of a list changed in the middle is one splice for each place", () => {
    expect(diff([1, 2, 3, 4, 5], [1, 9, 8, 3, 5])).toEqual([
      { op: "splice", path: [], index: 1, remove: 1, insert: [9, 8] },
      { op: "splice", path: [], index: 4, remove: 1, insert: [] },
    ]);
    expect(diff([1, 2, 3], [1, 3])).toEqual([{ op: "splice", path: [], index: 1, remove: 1, insert: [] }]);
    expect(diff([1, 3], [1, 2, 3])).toEqual([{ op: "splice", path: [], index: 1, remove: 0, insert: [2] }]);
  });

  test("of an item that changed in place is the change inside it, also beside what moved", () => {
    const [a, b, c] = [{ n: 1 }, { n: 2 }, { n: 3 }];
    expect(diff([a, b, c], [a, { n: 20 }, c])).toEqual([{ op: "set", path: [1, "n"], value: 20 }]);
    expect(diff([a, b, c], [b, { n: 30 }])).toEqual([
      { op: "splice", path: [], index: 0, remove: 1, insert: [] },
      { op: "set", path: [1, "n"], value: 30 },
    ]);
    expect(diff(["once", 1], ["once upon", 2])).toEqual([
      { op: "append", path: [0], value: " upon" },
      { op: "splice", path: [], index: 1, remove: 1, insert: [2] },
    ]);
  });

  test("of states is what a step made of them", () => {
    const machine = defineMachine({
      id: "m",
      start: { said: [] as string[] },
      initial: "a",
      states: {
        a: {
          on: {
            say: {
              target: "b",
              update: (draft, { event }) => {
                draft.said.push(event.type);
              },
            },
          },
        },
        b: {},
      },
    });
    const run = simulate(machine);
    const before = run.state;
    run.send("say");
    expect(diff(before as never, run.state as never)).toEqual([
      { op: "set", path: ["seq"], value: 2 },
      { op: "set", path: ["configuration", 0], value: "b" },
      { op: "append", path: ["context", "said"], value: ["say"] },
    ]);
  });
});

describe("application", () => {
  afterEach(() => {
    freezeStates(true);
  });

  test("goes in order, each patch on what the ones before it made", () => {
    const patches: Patch[] = [
      { op: "set", path: ["a"], value: { list: [1] } },
      { op: "append", path: ["a", "list"], value: [2] },
      { op: "splice", path: ["a", "list"], index: 0, remove: 1, insert: [7, 8] },
      { op: "set", path: ["a", "list", 2], value: { deep: "x" } },
      { op: "append", path: ["a", "list", 2, "deep"], value: "y" },
      { op: "delete", path: ["b"] },
    ];
    expect(apply({ b: 1 }, patches)).toStrictEqual({ a: { list: [7, 8, { deep: "xy" }] } });
  });

  test("never changes what it is given, neither value nor patches, frozen or not", () => {
    for (const frozen of [true, false]) {
      freezeStates(frozen);
      const before: Json = { a: { b: [1, { c: 1 }] }, keep: { x: 1 } };
      const patches: Patch[] = [
        { op: "set", path: ["a", "b", 1, "c"], value: 2 },
        { op: "set", path: ["new"], value: { list: [] } },
        { op: "append", path: ["new", "list"], value: [1] },
      ];
      const texts = [JSON.stringify(before), JSON.stringify(patches)];
      const after = apply(before, patches) as Record<string, Json>;
      expect([JSON.stringify(before), JSON.stringify(patches)]).toEqual(texts);
      expect(after).toEqual({ a: { b: [1, { c: 2 }] }, keep: { x: 1 }, new: { list: [1] } });
      expect(after.keep).toBe(before.keep);
      expect(Object.isFrozen(after.a)).toBe(frozen);
    }
  });

  test("of nothing gives the same value back", () => {
    const value = { a: 1 };
    expect(apply(value, [])).toBe(value);
  });

  test("replaces the whole value with an empty path, of whatever kind", () => {
    expect(apply({ a: 1 }, [{ op: "set", path: [], value: null }])).toBe(null);
    expect(apply("Once", [{ op: "append", path: [], value: " upon" }])).toBe("Once upon");
    expect(apply([1], [{ op: "append", path: [], value: [2] }])).toEqual([1, 2]);
  });

  test("of a very long list does not run out of stack", () => {
    const long = Array.from({ length: 300_000 }, (_, n) => n);
    expect(apply([], [{ op: "append", path: [], value: long }])).toHaveLength(300_000);
  });

  test("treats __proto__ and constructor as keys like any other", () => {
    const before = JSON.parse('{"__proto__": {"n": 1}}') as Json;
    const after = apply(before, [
      { op: "set", path: ["__proto__", "n"], value: 2 },
      { op: "set", path: ["constructor"], value: 1 },
    ]);
    expect(JSON.stringify(after)).toBe('{"__proto__":{"n":2},"constructor":1}');
    expect(JSON.stringify(apply({}, [{ op: "set", path: ["__proto__"], value: { polluted: true } }]))).toBe(
      '{"__proto__":{"polluted":true}}',
    );
    expect(() => apply({}, [{ op: "set", path: ["__proto__", "polluted"], value: true }])).toThrow(
      invalid('The patch set at $.__proto__.polluted does not fit: nothing stands at "__proto__" to go into'),
    );
    expect(() => apply({}, [{ op: "delete", path: ["constructor"] }])).toThrow("there is nothing to delete");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("a patch that does not fit", () => {
  const before: Json = { list: [1, 2], text: "x", n: 5, o: {} };
  const refuse = (patch: unknown) => expect(() => apply(before, [patch as Patch]));

  test("at a place that is not there is refused, with the place and the reason", () => {
    refuse({ op: "set", path: ["a", "b"], value: 1 }).toThrow(
      invalid('The patch set at $.a.b does not fit: nothing stands at "a" to go into'),
    );
    refuse({ op: "set", path: ["n", "b"], value: 1 }).toThrow('nothing stands at "n" to go into');
    refuse({ op: "set", path: ["text", 0], value: 1 }).toThrow('nothing stands at "text" to go into');
    refuse({ op: "set", path: ["list", 2], value: 1 }).toThrow("there is no item 2");
    refuse({ op: "set", path: ["list", -1], value: 1 }).toThrow("there is no item -1");
    refuse({ op: "set", path: ["list", "length"], value: 0 }).toThrow("there is no item length");
    refuse({ op: "set", path: ["list", "0"], value: 0 }).toThrow("there is no item 0");
    refuse({ op: "delete", path: ["gone"] }).toThrow("there is nothing to delete");
    refuse({ op: "delete", path: ["list", 0] }).toThrow("there is nothing to delete");
    refuse({ op: "delete", path: [] }).toThrow("there is nothing to delete");
  });

  test("to what stands there is refused", () => {
    refuse({ op: "append", path: ["n"], value: [1] }).toThrow("nothing of that kind stands there");
    refuse({ op: "append", path: ["list"], value: "x" }).toThrow("nothing of that kind stands there");
    refuse({ op: "append", path: ["text"], value: ["x"] }).toThrow("nothing of that kind stands there");
    refuse({ op: "append", path: ["gone"], value: ["x"] }).toThrow("nothing of that kind stands there");
    refuse({ op: "splice", path: ["o"], index: 0, remove: 0, insert: [] }).toThrow(
      "no list with such a place",
    );
    refuse({ op: "splice", path: ["list"], index: 3, remove: 0, insert: [] }).toThrow(
      "no list with such a place",
    );
    refuse({ op: "splice", path: ["list"], index: 0.5, remove: 0, insert: [] }).toThrow(
      "no list with such a place",
    );
    refuse({ op: "splice", path: ["list"], index: 0, remove: 0 }).toThrow("no list with such a place");
    refuse({ op: "splice", path: ["list"], index: 1, remove: 2, insert: [] }).toThrow(
      "removes more than there is",
    );
    refuse({ op: "splice", path: ["list"], index: 0, remove: -1, insert: [] }).toThrow(
      "removes more than there is",
    );
    refuse({ op: "splice", path: ["list"], index: 0, insert: [] }).toThrow("removes more than there is");
  });

  test("because it is none is refused", () => {
    const none = (patch: unknown, text: string) =>
      refuse(patch).toThrow(expect.objectContaining({ code: "PATCH_INVALID", message: text }));
    none(null, "null is not a patch");
    none({ op: "set", value: 1 }, '{"op":"set","value":1} is not a patch');
    none({ op: "set", path: "a", value: 1 }, '{"op":"set","path":"a","value":1} is not a patch');
    none({ op: "set", path: [{}], value: 1 }, '{"op":"set","path":[{}],"value":1} is not a patch');
    none({ op: 1n, path: 1 }, "object is not a patch");
    refuse({ op: "set", path: ["n"] }).toThrow("it has no value");
    refuse({ op: "move", path: ["n"] }).toThrow("there is no such operation");
  });

  test("leaves the value as it was, even after others that fitted", () => {
    const text = JSON.stringify(before);
    expect(() =>
      apply(before, [
        { op: "append", path: ["list"], value: [3] },
        { op: "delete", path: ["gone"] },
      ]),
    ).toThrow(expect.objectContaining({ details: { patch: { op: "delete", path: ["gone"] } } }));
    expect(JSON.stringify(before)).toBe(text);
  });
});

describe("properties", () => {
  const key = fc.constantFrom("a", "b", "__proto__", "length", "0", "");
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, true, 0, 1, "", "a", "ab", "abc"),
      fc.array(tie("json"), { maxLength: 6 }),
      fc.array(fc.tuple(key, tie("json")), { maxLength: 4 }).map((entries) => fromEntries(entries)),
    ),
  }));
  const fromEntries = (entries: [string, Json][]): Json =>
    JSON.parse(
      `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`,
    ) as Json;

  /** Lists of shared items, shuffled, cut and added to: what real lists go through. */
  const lists = fc
    .array(
      fc.oneof(
        fc.integer({ min: 0, max: 3 }),
        fc.record({ id: fc.integer({ min: 0, max: 9 }) }, { noNullPrototype: true }),
      ),
      {
        maxLength: 12,
      },
    )
    .chain((pool) => {
      const pick = fc.array(pool.length === 0 ? fc.constant(0) : fc.constantFrom(...pool), { maxLength: 12 });
      return fc.tuple(pick, pick);
    });

  test("P1: the difference applied to the one gives the other, whatever the two are", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(apply(before, diff(before, after))).toStrictEqual(after);
      }),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(lists, ([before, after]) => {
        expect(apply(before, diff(before, after))).toStrictEqual(after);
      }),
      { numRuns: 500 },
    );
  });

  test("P1: a difference survives JSON, as it must to be stored", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const patches = JSON.parse(JSON.stringify(diff(before, after))) as Patch[];
        expect(apply(before, patches)).toStrictEqual(after);
      }),
    );
  });

  test("P4: neither difference nor application changes what it is given", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const texts = [JSON.stringify(before), JSON.stringify(after)];
        apply(before, diff(before, after));
        expect([JSON.stringify(before), JSON.stringify(after)]).toEqual(texts);
      }),
    );
  });

  test("hostile patches are refused with PATCH_INVALID or applied, and nothing else is ever thrown", () => {
    const anything = fc.anything({ maxDepth: 2 });
    const hostile = fc.record(
      {
        op: fc.constantFrom("set", "delete", "append", "splice", "other"),
        path: fc.oneof(
          fc.array(fc.oneof(key, fc.integer({ min: -1, max: 3 }), anything), { maxLength: 3 }),
          anything,
        ),
        value: anything,
        index: fc.oneof(fc.integer({ min: -1, max: 3 }), anything),
        remove: fc.oneof(fc.integer({ min: -1, max: 3 }), anything),
        insert: anything,
      },
      { requiredKeys: ["op"] },
    );
    fc.assert(
      fc.property(json, hostile, (before, patch) => {
        const text = JSON.stringify(before);
        try {
          apply(before, [patch as unknown as Patch]);
        } catch (error) {
          expect(error).toMatchObject({ code: "PATCH_INVALID" });
        }
        expect(JSON.stringify(before)).toBe(text);
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
