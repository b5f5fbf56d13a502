/** Drafts: a recipe changes what looks like its own context, and the old context stays as it is. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineMachine, freezeStates, limits, start, step } from "../index.ts";
import { peek, produce } from "./draft.ts";

/** Runs a recipe on a value, and checks that the value itself stays as it was. */
function change<Base extends object>(base: Base, recipe: (draft: Base) => unknown): Base {
  const text = JSON.stringify(base);
  try {
    return produce(Object.freeze(base), recipe as never, undefined);
  } finally {
    expect(JSON.stringify(base)).toBe(text);
  }
}

const notJson = (message: string) => expect.objectContaining({ code: "NOT_JSON", message });

describe("what a recipe makes", () => {
  test("is the very value it was given if nothing changes, even after looking at everything", () => {
    const base = { a: { b: [1, { c: 2 }] }, d: "x" };
    expect(
      change(base, (draft) => {
        JSON.stringify(draft);
        draft.d = "x";
        draft.a.b[0] = 1;
        const same = draft.a;
        draft.a = same;
      }),
    ).toBe(base);
  });

  test("is a copy along the way to the change, and shares all the rest", () => {
    const base = { left: { deep: { n: 1 } }, right: { list: [1] } };
    const made = change(base, (draft) => {
      draft.left.deep.n++;
    });
    expect(made).toEqual({ left: { deep: { n: 2 } }, right: { list: [1] } });
    expect(made.right).toBe(base.right);
    expect(made.left).not.toBe(base.left);
  });

  test("treats one object in two places as two", () => {
    const shared = { n: 1 };
    const made = change({ a: shared, b: shared }, (draft) => {
      draft.a.n = 2;
    });
    expect(made).toEqual({ a: { n: 2 }, b: { n: 1 } });
  });

  test("ignores what the recipe returns, and reads what it wrote", () => {
    const made = change({ n: 1, list: [] as number[] }, (draft) => {
      draft.n = 5;
      draft.list.push(draft.n, draft.list.length);
      return { n: 99 };
    });
    expect(made).toEqual({ n: 5, list: [5, 0] });
  });
});

describe("objects", () => {
  test("fields are added, replaced, deleted, and deleted by undefined", () => {
    const base: { a?: number; b?: number; c?: number; d?: { e: number } } = { a: 1, b: 2, c: 3 };
    const made = change(base, (draft) => {
      draft.d = { e: 4 };
      draft.a = 9;
      delete draft.b;
      draft.c = undefined as never;
      delete (draft as { missing?: number }).missing;
    });
    expect(made).toStrictEqual({ a: 9, d: { e: 4 } });
  });

  test("a value written and changed afterwards, before the end, is taken as it is at the end", () => {
    const fresh = { n: 1 };
    const made = change({ box: {} as { here?: { n: number } } }, (draft) => {
      draft.box.here = fresh;
      fresh.n = 2;
      (draft.box.here as { n: number }).n = 3;
    });
    expect(made).toEqual({ box: { here: { n: 3 } } });
  });

  test("can be asked with in, keys, entries, spread, JSON and descriptors, as they are at that moment", () => {
    change({ a: 1, b: { c: 2 } } as Record<string, unknown>, (draft) => {
      draft.d = 4;
      delete draft.a;
      expect(["a" in draft, "b" in draft, "d" in draft, "toString" in draft]).toEqual([
        false,
        true,
        true,
        true,
      ]);
      expect(Object.keys(draft)).toEqual(["b", "d"]);
      expect(Object.entries(draft).map(([key]) => key)).toEqual(["b", "d"]);
      expect(JSON.stringify(draft)).toBe('{"b":{"c":2},"d":4}');
      expect({ ...draft }).toEqual({ b: { c: 2 }, d: 4 });
      expect(Object.hasOwn(draft, "a")).toBe(false);
      expect(Object.getOwnPropertyDescriptor(draft, "d")).toEqual({
        value: 4,
        writable: true,
        enumerable: true,
        configurable: true,
      });
      expect(Object.getOwnPropertyDescriptor(draft, "a")).toBeUndefined();
      expect(Object.getPrototypeOf(draft)).toBe(Object.prototype);
      const seen: string[] = [];
      for (const key in draft) seen.push(key);
      expect(seen).toEqual(["b", "d"]);
    });
  });

  test("with a key __proto__ keep it as data, and no recipe can set a prototype", () => {
    const key = "__proto__";
    const base = JSON.parse('{"__proto__": {"n": 1}, "x": 0}') as Record<typeof key, { n: number }>;
    const made = change(base, (draft) => {
      draft[key].n = 2;
    });
    expect(JSON.stringify(made)).toBe('{"__proto__":{"n":2},"x":0}');
    expect(JSON.stringify(change(base, (draft) => Reflect.deleteProperty(draft, key)))).toBe('{"x":0}');
    const set = (draft: object) => {
      (draft as Record<typeof key, object>)[key] = { polluted: true };
    };
    const refused = notJson(
      'context cannot have "__proto__" defined this way: assign plain JSON to its fields',
    );
    expect(() => change({ x: 1 }, set)).toThrow(refused);
    expect(() => change({ x: 1 }, (draft) => Object.setPrototypeOf(draft, null))).toThrow(refused);
  });

  test("take plain assignment only: no accessors, no symbols, no freezing", () => {
    expect(() => change({ a: {} }, (draft) => Object.defineProperty(draft.a, "x", { get: () => 1 }))).toThrow(
      notJson('context.a cannot have "x" defined this way: assign plain JSON to its fields'),
    );
    expect(() =>
      change({ a: {} as Record<symbol, number> }, (draft) => {
        draft.a[Symbol("s")] = 1;
      }),
    ).toThrow(notJson('context.a cannot have "Symbol(s)" defined this way: assign plain JSON to its fields'));
    expect(() => change({ a: 1 }, (draft) => Object.freeze(draft))).toThrow(TypeError);
  });

  test("do not take a function for data, not even one that every object has", () => {
    expect(() =>
      change({ a: 1 } as Record<string, unknown>, (draft) => {
        draft.toString = Object.prototype.toString;
      }),
    ).toThrow("context.toString is a function");
  });
});

describe("lists", () => {
  const numbers = () => ({ list: [3, 1, 2] });
  const objects = () => ({ list: [{ n: 3 }, { n: 1 }, { n: 2 }] });
  const numbersAfter = (recipe: (list: number[]) => unknown) =>
    change(numbers(), ({ list }) => recipe(list)).list;

  test("have all the methods that change them", () => {
    expect(numbersAfter((list) => list.push(4, 5))).toEqual([3, 1, 2, 4, 5]);
    expect(numbersAfter((list) => list.pop())).toEqual([3, 1]);
    expect(numbersAfter((list) => list.shift())).toEqual([1, 2]);
    expect(numbersAfter((list) => list.unshift(7, 8))).toEqual([7, 8, 3, 1, 2]);
    expect(numbersAfter((list) => list.splice(1, 1, 8, 9))).toEqual([3, 8, 9, 2]);
    expect(numbersAfter((list) => list.sort())).toEqual([1, 2, 3]);
    expect(numbersAfter((list) => list.reverse())).toEqual([2, 1, 3]);
    expect(numbersAfter((list) => list.fill(0, 1))).toEqual([3, 0, 0]);
    expect(numbersAfter((list) => list.copyWithin(0, 1))).toEqual([1, 2, 2]);
    expect(
      numbersAfter((list) => {
        list.length = 1;
      }),
    ).toEqual([3]);
    expect(
      numbersAfter((list) => {
        list[3] = 4;
      }),
    ).toEqual([3, 1, 2, 4]);
  });

  test("have all the methods that read them, and are lists", () => {
    change({ list: [1, 2, 3], none: [] as number[] }, ({ list, none }) => {
      expect(Array.isArray(list)).toBe(true);
      expect([...list]).toEqual([1, 2, 3]);
      expect(list.map((n) => n * 2)).toEqual([2, 4, 6]);
      expect(list.concat([4])).toEqual([1, 2, 3, 4]);
      expect(list.slice(1)).toEqual([2, 3]);
      expect(list.toSorted((one, other) => other - one)).toEqual([3, 2, 1]);
      expect(list.includes(2)).toBe(true);
      expect(Object.keys(list)).toEqual(["0", "1", "2"]);
      expect("2" in list).toBe(true);
      expect([list.length, none.length, list.at(-1), none.at(-1)]).toEqual([3, 0, 3, undefined]);
      expect(Object.getOwnPropertyDescriptor(list, "length")).toMatchObject({ value: 3, enumerable: false });
      expect(JSON.stringify(list)).toBe("[1,2,3]");
    });
  });

  test("that only move their items keep the very items", () => {
    const base = objects();
    const [three, one, two] = base.list;
    const sorted = change(base, ({ list }) => list.sort((a, b) => a.n - b.n)).list;
    expect(sorted).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect([sorted[0] === one, sorted[1] === two, sorted[2] === three]).toEqual([true, true, true]);
    const shifted = change(base, ({ list }) => list.shift()).list;
    expect([shifted[0] === one, shifted[1] === two]).toEqual([true, true]);
  });

  test("let items be changed before and after they are moved", () => {
    const made = change(objects(), ({ list }) => {
      const first = list[0] as { n: number };
      first.n = 30;
      list.reverse();
      first.n++;
      (list[0] as { n: number }).n = 20;
      list.unshift({ n: 0 });
    });
    expect(made.list).toEqual([{ n: 0 }, { n: 20 }, { n: 1 }, { n: 31 }]);
  });

  test("let items be changed while they are walked through", () => {
    const made = change(objects(), ({ list }) => {
      for (const item of list) item.n *= 10;
      list.find(({ n }) => n === 10)!.n = 11;
    });
    expect(made.list).toEqual([{ n: 30 }, { n: 11 }, { n: 20 }]);
  });

  test("refuse holes and undefined, with the place", () => {
    const refuse = (recipe: (list: (number | undefined)[]) => unknown) =>
      expect(() => change({ list: [1, 2, 3] as (number | undefined)[] }, ({ list }) => recipe(list)));
    refuse((list) => {
      list.length = 5;
    }).toThrow("context.list[3] is undefined");
    refuse((list) => {
      list[7] = 1;
    }).toThrow("context.list[3] is undefined");
    refuse((list) => delete list[1]).toThrow("context.list[1] is undefined");
    refuse((list) => {
      list[1] = undefined;
    }).toThrow("context.list[1] is undefined");
  });

  test("are healed if the holes are gone before the end", () => {
    const made = change({ list: [1, 2, 3] }, ({ list }) => {
      list[4] = 5;
      list[3] = 4;
      delete list[0];
      list[0] = 0;
    });
    expect(made.list).toEqual([0, 2, 3, 4, 5]);
  });

  test("hold items and nothing else", () => {
    const refuse = (key: string) =>
      expect(() =>
        change({ list: [1] }, ({ list }) => {
          (list as unknown as Record<string, unknown>)[key] = new Date(0);
        }),
      ).toThrow(
        notJson(`context.list cannot have "${key}" defined this way: assign plain JSON to its fields`),
      );
    for (const key of ["-1", "1.5", "01", "foo", "NaN"]) refuse(key);
  });

  test("refuse what is not JSON in any place that was touched", () => {
    expect(() =>
      change({ list: [{ n: 1 }, { n: 2 }] }, ({ list }) => {
        (list[1] as { n: unknown }).n = new Date(0);
      }),
    ).toThrow("context.list[1].n is an instance of Date");
    expect(() => change({ list: [1] as unknown[] }, ({ list }) => list.push([Number.NaN]))).toThrow(
      "context.list[1][0] is the number NaN",
    );
  });
});

describe("drafts that move", () => {
  test("from one place to another take their changes along, made before or after", () => {
    const made = change(
      { from: { item: { n: 1 } } as { item?: { n: number } }, to: {} as { item?: { n: number } } },
      (draft) => {
        const item = draft.from.item as { n: number };
        item.n++;
        draft.to.item = item;
        delete draft.from.item;
        item.n++;
      },
    );
    expect(made).toStrictEqual({ from: {}, to: { item: { n: 3 } } });
  });

  test("into two places are the same in both", () => {
    const made = change({ a: { n: 1 }, b: null as unknown, list: [] as unknown[] }, (draft) => {
      draft.b = draft.a;
      draft.list.push(draft.a);
      draft.a.n = 5;
    });
    expect(made).toEqual({ a: { n: 5 }, b: { n: 5 }, list: [{ n: 5 }] });
  });

  test("into fresh objects and lists are resolved, however deep", () => {
    const base = { items: [{ n: 1 }, { n: 2 }], box: {} as Record<string, unknown> };
    const made = change(base, (draft) => {
      draft.box.fresh = { first: draft.items[0], rest: [{ second: draft.items[1] }], same: undefined };
      (draft.items[1] as { n: number }).n = 20;
      draft.box.spread = { ...draft.items[0], extra: [...draft.items] };
    });
    expect(made.box).toStrictEqual({
      fresh: { first: { n: 1 }, rest: [{ second: { n: 20 } }] },
      spread: { n: 1, extra: [{ n: 1 }, { n: 20 }] },
    });
    expect((made.box.fresh as { first: object }).first).toBe(base.items[0]);
    expect(Object.isFrozen((made.box.fresh as { rest: object }).rest)).toBe(true);
  });

  test("replace the list they come from, as in a filter", () => {
    const base = { list: [{ n: 1 }, { n: 2 }, { n: 3 }] };
    const made = change(base, (draft) => {
      draft.list = draft.list.filter(({ n }) => n !== 2);
      (draft.list[1] as { n: number }).n = 33;
    });
    expect(made.list).toEqual([{ n: 1 }, { n: 33 }]);
    expect(made.list[0]).toBe(base.list[0]);
  });

  test("into themselves are refused: JSON has no cycles", () => {
    const refused = notJson("context.a contains itself, and JSON has no cycles");
    const base = () => ({ a: {} as Record<string, unknown> });
    expect(() =>
      change(base(), (draft) => {
        draft.a.self = draft.a;
      }),
    ).toThrow(refused);
    expect(() =>
      change(base(), (draft) => {
        draft.a.list = [{ back: draft.a }];
      }),
    ).toThrow(refused);
    expect(() =>
      change(base(), (draft) => {
        draft.a.root = draft;
      }),
    ).toThrow("context contains itself");
  });

  test("are swapped without becoming a cycle", () => {
    const made = change({ a: { n: 1 }, b: { n: 2 } }, (draft) => {
      [draft.a, draft.b] = [draft.b, draft.a];
    });
    expect(made).toEqual({ a: { n: 2 }, b: { n: 1 } });
  });

  test("deeper than a value may be are refused, however many steps it takes to get there", () => {
    const machine = defineMachine({
      id: "m",
      start: { a: {} as object },
      initial: "s",
      states: {
        s: {
          on: {
            wrap: {
              update: (draft) => {
                draft.a = { a: draft.a };
              },
            },
            push: {
              update: (draft) => {
                const a = draft.a as { deeper?: object };
                const old = a.deeper;
                a.deeper = { box: { old } };
              },
            },
          },
        },
      },
    });
    let { state } = start(machine, undefined, { at: 0 });
    let refused: unknown;
    let wraps = 0;
    for (; wraps < 300 && refused === undefined; wraps++) {
      const taken = step(machine, state, { type: "wrap" }, { at: 0 });
      refused = taken.errors[0]?.data;
      state = taken.state;
    }
    expect(refused).toMatchObject({
      code: "NOT_JSON",
      message: `context.a was moved to where it is nested deeper than ${limits.jsonDepthMax} levels`,
    });
    expect(wraps).toBe(limits.jsonDepthMax - 1);
  });

  test("that move up or sideways may be as deep as they are", () => {
    const deep = (levels: number): object => (levels === 1 ? {} : { v: deep(levels - 1) });
    const base = { a: { v: deep(limits.jsonDepthMax - 2) }, b: {} as { v?: object } };
    const made = change(base, (draft) => {
      draft.b.v = draft.a.v;
      draft.a.v = {};
    });
    expect(made.b.v).toBe(base.a.v);
    expect(() =>
      change(base, (draft) => {
        draft.b.v = { one: { more: draft.a.v } };
      }),
    ).toThrow("context.a.v was moved to where it is nested deeper than 200 levels");
    expect(() =>
      change({ ...base, c: { d: {} as { e?: object } } }, (draft) => {
        draft.c.d.e = draft.a.v;
      }),
    ).toThrow("context.a.v was moved");
  });
});

describe("drafts after their end", () => {
  test("refuse to be read, written, asked or deleted from", () => {
    let kept: { n?: number } = {};
    change({ a: { b: [{ n: 1 }] } }, (draft) => {
      kept = draft.a.b[0] as { n: number };
    });
    const closed = expect.objectContaining({
      code: "DRAFT_CLOSED",
      message:
        "The draft of context.a.b[0] was used after its update had ended: read `context`, and do not keep drafts",
    });
    expect(() => kept.n).toThrow(closed);
    expect(() => {
      kept.n = 2;
    }).toThrow(closed);
    expect(() => "n" in kept).toThrow(closed);
    expect(() => delete kept.n).toThrow(closed);
    expect(() => Object.keys(kept)).toThrow(closed);
    expect(() => Object.getOwnPropertyDescriptor(kept, "n")).toThrow(closed);
  });

  test("are closed even if the recipe fails", () => {
    let kept: { n: number } | undefined;
    expect(() =>
      change({ a: { n: 1 } }, (draft) => {
        kept = draft.a;
        throw new Error("stop");
      }),
    ).toThrow("stop");
    expect(() => kept?.n).toThrow(expect.objectContaining({ code: "DRAFT_CLOSED" }));
  });

  test("put into a later draft stand for what they came to", () => {
    let kept: unknown;
    const made = change({ a: { n: 1 } }, (draft) => {
      draft.a.n = 2;
      kept = draft.a;
    });
    const later = change({ box: null as unknown }, (draft) => {
      draft.box = kept;
    });
    expect(later.box).toBe(made.a);
  });
});

describe("any recipe", () => {
  type Tree = Record<string, unknown> | unknown[];
  const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null;

  /** The object that these turns lead to. */
  const walk = (root: Tree, turns: readonly number[]): Tree =>
    turns.reduce<Tree>((tree, turn) => {
      const inner = Object.values(tree).filter(isTree);
      return inner[turn % Math.max(inner.length, 1)] ?? tree;
    }, root);

  const at = <Item>(items: readonly Item[], turn: number): Item | undefined =>
    items[turn % Math.max(items.length, 1)];
  const listActs: readonly ((list: unknown[], turn: number, value: unknown) => void)[] = [
    (list, _, value) => list.push(value),
    (list) => list.pop(),
    (list) => list.shift(),
    (list, _, value) => list.unshift(value),
    (list, turn, value) => list.splice(turn % (list.length + 1), turn % 3, value),
    (list) => list.reverse(),
    (list) => list.sort((one, other) => JSON.stringify(one).localeCompare(JSON.stringify(other))),
    (list, turn) => list.copyWithin(0, turn % (list.length + 1)),
    (list, turn) => {
      list.length = turn % (list.length + 1);
    },
  ];
  const recordActs: readonly ((record: Record<string, unknown>, turn: number, value: unknown) => void)[] = [
    (record, turn, value) => {
      record[at(["a", "b", "c"], turn) as string] = value;
    },
    (record, turn) => {
      delete record[at(Object.keys(record), turn) ?? "none"];
    },
    (record, turn, value) => Object.assign(record, { spread: { ...record, value }, n: turn }),
  ];
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
  const act = fc.record({
    to: fc.array(fc.nat(5), { maxLength: 4 }),
    from: fc.array(fc.nat(5), { maxLength: 4 }),
    kind: fc.nat(20),
    turn: fc.nat(20),
    /** A fresh value, or nothing: then whatever stands elsewhere in the tree is moved or shared. */
    value: fc.option(json, { nil: undefined }),
  });
  const perform = (
    root: Tree,
    acts: readonly (typeof act extends fc.Arbitrary<infer Act> ? Act : never)[],
  ) => {
    for (const { to, from, kind, turn, value } of acts) {
      const tree = walk(root, to);
      const given = value === undefined ? walk(root, from) : structuredClone(value);
      if (Array.isArray(tree)) at(listActs, kind)?.(tree, turn, given);
      else at(recordActs, kind)?.(tree, turn, given);
    }
  };
  const outcome = (make: () => unknown) => {
    try {
      return JSON.stringify(make());
    } catch {
      return "a cycle";
    }
  };

  test("makes of a draft what it would make of a copy, and leaves the original alone", () => {
    fc.assert(
      fc.property(json, json, fc.array(act, { maxLength: 12 }), (a, b, acts) => {
        const base = { a, b, list: [a, b] };
        const copy = JSON.parse(JSON.stringify(base)) as typeof base;
        const expected = outcome(() => {
          perform(copy, acts);
          return copy;
        });
        expect(outcome(() => change(base, (draft) => perform(draft, acts)))).toBe(expected);
      }),
      { numRuns: 400 },
    );
  });
});

describe("what a recipe takes from elsewhere", () => {
  test("is never changed through the draft, frozen or not", () => {
    const was = freezeStates(false);
    try {
      const base = { list: [1], copy: [] as number[], note: { tags: ["a"] } };
      const data = { tags: ["b"] };
      const after = produce(
        base,
        (draft: typeof base) => {
          draft.copy = base.list;
          draft.copy.push(2);
          draft.note = data;
          draft.note.tags.push("c");
        },
        undefined,
      );
      expect(after).toEqual({ list: [1], copy: [1, 2], note: { tags: ["b", "c"] } });
      expect([base.list, data]).toEqual([[1], { tags: ["b"] }]);
    } finally {
      freezeStates(was);
    }
  });

  test("must be JSON, also when the recipe has looked at it again", () => {
    const base = { made: {} as Record<string, unknown> };
    const look = (value: unknown) =>
      produce(
        base,
        (draft: typeof base) => {
          draft.made = { value };
          return draft.made.value;
        },
        undefined,
      );
    expect(() => look(new Date(0))).toThrow("context.made.value is an instance of Date");
    expect(() => look([Number.NaN])).toThrow("context.made.value[0] is the number NaN");
  });
});

describe("what stands behind a draft", () => {
  test("is the base before a write and what the recipe made of it after", () => {
    const base = { list: [{ n: 1 }, { n: 2 }] };
    const made = change(base, (draft) => {
      expect(peek(draft.list)).toBe(base.list);
      expect(peek(draft.list)[1]).toBe(base.list[1]);
      draft.list.push({ n: 3 });
      expect(peek(draft.list).map(({ n }) => n)).toEqual([1, 2, 3]);
    });
    expect(made.list[0]).toBe(base.list[0]);
  });

  test("is the value itself where there is no draft, and nothing once the update has ended", () => {
    const plain = { n: 1 };
    expect([peek(plain), peek(null), peek(7)]).toEqual([plain, null, 7]);
    let kept = { list: [] as number[] };
    change({ list: [] as number[] }, (draft) => {
      kept = draft;
    });
    expect(() => peek(kept)).toThrow(expect.objectContaining({ code: "DRAFT_CLOSED" }));
  });
});
