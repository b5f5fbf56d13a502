/** Parallel regions and what they write: side by side, joined, and never one over the other unnoticed. */
import { describe, expect, test } from "vitest";
import {
  defineMachine,
  type Recipe,
  type StateDefinition,
  simulate,
  start,
  step,
  type WritePolicy,
} from "../index.ts";

interface Shared {
  v?: number;
  text?: string;
  list: { id: number; done?: boolean }[];
  nested: { a?: number; b?: number; deep?: { c?: number } };
}
type Writes = WritePolicy | Record<string, WritePolicy>;
const first: Shared = { v: 0, text: "", list: [{ id: 0 }], nested: { a: 0, b: 0 } };

/** Regions that each run one recipe on `go`, in document order. */
function regions(writes: Writes | undefined, ...recipes: Recipe<Shared>[]) {
  const states = Object.fromEntries(
    recipes.map((update, index): [string, StateDefinition<Shared>] => [
      `r${index}`,
      { initial: "x", states: { x: { on: { go: { update } } } } },
    ]),
  );
  const policy = writes === undefined ? {} : { writes };
  const machine = defineMachine<Shared>({
    id: "m",
    start: first,
    initial: "p",
    states: { p: { type: "parallel", ...policy, states } },
  });
  const before = start(machine, undefined, { at: 0 }).state;
  return { before, ...step(machine, before, { type: "go" }, { at: 0 }) };
}

const set = (v: number) => (draft: { v?: number }) => {
  draft.v = v;
};

describe("contradictory writes", () => {
  test("are detected, and refuse the step unless a policy says otherwise", () => {
    const refused = regions(undefined, set(1), set(2));
    expect(refused.outcome).toBe("refused");
    expect(refused.state).toBe(refused.before);
    expect(refused.error).toMatchObject({
      code: "WRITES_CONTRADICT",
      message:
        'Regions "p.r0.x" and "p.r1.x" of "p" both wrote context.v in one step: 1, then 2. ' +
        "Let one of them write it, or declare `writes` on the parallel state",
      details: { path: "context.v", regions: ["p.r0.x", "p.r1.x"], values: ["1", "2"] },
    });
  });

  test("include a value computed from what the other region just wrote", () => {
    const add: Recipe<Shared> = (draft) => {
      draft.v = (draft.v ?? 0) + 1;
    };
    expect(regions(undefined, add, add).error?.details).toMatchObject({ values: ["1", "2"] });
  });

  test("include one region that writes into what the other removed or replaced", () => {
    const inside: Recipe<Shared> = (draft) => {
      draft.nested.a = 5;
    };
    const replace: Recipe<Shared> = (draft) => {
      draft.nested = { b: 7 };
    };
    const remove: Recipe<Shared> = (draft) => {
      delete draft.v;
    };
    expect(regions(undefined, inside, replace).error?.details).toMatchObject({ path: "context.nested.a" });
    expect(regions(undefined, replace, inside).error?.code).toBe("WRITES_CONTRADICT");
    expect(regions(undefined, set(1), remove).error?.details).toMatchObject({ values: ["1", undefined] });
  });

  test("include an item one region takes from the list that the other adds to", () => {
    const add: Recipe<Shared> = (draft) => {
      draft.list.push({ id: 9 });
    };
    const clear: Recipe<Shared> = (draft) => {
      draft.list = [];
    };
    const edit: Recipe<Shared> = (draft) => {
      (draft.list.at(-1) as { done?: boolean }).done = true;
    };
    expect(regions(undefined, add, clear).error?.details).toMatchObject({ path: "context.list" });
    expect(regions(undefined, add, edit).error?.details).toMatchObject({ path: "context.list" });
  });

  test("to one item of a list are a contradiction about the list, whose items have no names", () => {
    const mark =
      (done: boolean): Recipe<Shared> =>
      (draft) => {
        (draft.list[0] as { done?: boolean }).done = done;
      };
    expect(regions(undefined, mark(true), mark(false)).error?.details).toMatchObject({
      path: "context.list",
      values: ['[{"id":0,"done":true}]', '[{"id":0,"done":false}]'],
    });
    expect(regions("first", mark(true), mark(false)).state.context.list).toEqual([{ id: 0, done: true }]);
  });

  test("are found among entry and exit actions as well as transitions", () => {
    const region = (v: number) => ({ initial: "x", states: { x: {} }, entry: { update: set(v) } });
    const machine = defineMachine({
      id: "m",
      start: { v: 0 } as { v?: number },
      initial: "z",
      states: { z: { on: { go: "p" } }, p: { type: "parallel", states: { a: region(1), b: region(2) } } },
    });
    expect(simulate(machine).send("go").error?.code).toBe("WRITES_CONTRADICT");
  });

  test("are found in the exit actions of a machine that ends in all its regions", () => {
    const region = (v: number) => ({
      initial: "x",
      exit: { update: set(v) },
      states: { x: { on: { end: "y" } }, y: { type: "final" as const } },
    });
    const define = (writes: WritePolicy) =>
      defineMachine({
        id: "m",
        type: "parallel",
        writes,
        start: { v: 0 } as { v?: number },
        states: { a: region(1), b: region(2) },
      });
    expect(simulate(define("reject")).send("end").error?.code).toBe("WRITES_CONTRADICT");
    expect(simulate(define("first")).send("end").state).toMatchObject({ status: "done", context: { v: 2 } });
    expect(simulate(define("last")).send("end").state).toMatchObject({ status: "done", context: { v: 1 } });
  });
});

describe("writes that are no contradiction", () => {
  const taken = (...recipes: Recipe<Shared>[]) => {
    const { outcome, state } = regions("reject", ...recipes);
    expect(outcome).toBe("taken");
    return state.context;
  };

  test("different places, the same value, or nothing at all", () => {
    const a: Recipe<Shared> = (draft) => {
      draft.nested.a = 1;
    };
    const b: Recipe<Shared> = (draft) => {
      draft.nested.b = 2;
    };
    expect(taken(a, b).nested).toEqual({ a: 1, b: 2 });
    expect(taken(set(5), set(5)).v).toBe(5);
    expect(taken(set(5), () => {}).v).toBe(5);
  });

  test("adding to the same list or the same text", () => {
    const push =
      (id: number): Recipe<Shared> =>
      (draft) => {
        draft.list.push({ id });
      };
    const say =
      (word: string): Recipe<Shared> =>
      (draft) => {
        draft.text = `${draft.text}${word}`;
      };
    expect(taken(push(1), push(2), push(3)).list).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }, { id: 3 }]);
    expect(taken(say("a"), say("b")).text).toBe("ab");
  });

  test("adding to a list in which another region changes an item that was there, in either order", () => {
    const push: Recipe<Shared> = (draft) => {
      draft.list.push({ id: 1 });
    };
    const edit: Recipe<Shared> = (draft) => {
      (draft.list[0] as { done?: boolean }).done = true;
    };
    const both = [{ id: 0, done: true }, { id: 1 }];
    expect(taken(push, edit).list).toEqual(both);
    expect(taken(edit, push).list).toEqual(both);
  });

  test("two writes of one region, or of one state and another above it", () => {
    const machine = defineMachine({
      id: "m",
      start: { v: 0 } as { v?: number },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            a: {
              initial: "x",
              states: { x: { exit: { update: set(1) }, on: { go: { target: "y", update: set(2) } } }, y: {} },
            },
            b: { initial: "x", states: { x: {} } },
          },
          on: { go: { update: set(3) } },
        },
      },
    });
    expect(simulate(machine).send("go").state.context.v).toBe(3);
  });

  test("one after the other, in different microsteps of the same step", () => {
    const machine = defineMachine({
      id: "m",
      start: { v: 0 } as { v?: number },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          states: {
            a: {
              initial: "x",
              states: { x: { on: { go: { update: set(1), actions: { raise: "next" } } } } },
            },
            b: { initial: "x", states: { x: { on: { next: { update: set(2) } } } } },
          },
        },
      },
    });
    expect(simulate(machine).send("go").state.context.v).toBe(2);
  });
});

describe("a declared write policy", () => {
  test("lets what an ancestor writes afterwards stand, whatever the regions fought over", () => {
    const count = { update: (draft: { v: number }) => void draft.v++ };
    const machine = defineMachine<{ v: number }>({
      id: "m",
      start: { v: 0 },
      initial: "around",
      states: {
        around: {
          exit: count,
          initial: "p",
          on: { go: "end" },
          states: {
            p: { type: "parallel", writes: "first", states: { a: { exit: count }, b: { exit: count } } },
          },
        },
        end: {},
      },
    });
    expect(simulate(machine).send("go").state.context.v).toBe(3);
  });

  test("lets the first or the last write stand, of however many", () => {
    expect(regions("first", set(1), set(2), set(3)).state.context.v).toBe(1);
    expect(regions("last", set(1), set(2), set(3)).state.context.v).toBe(3);
    expect(regions("first", set(1), set(2), set(1)).state.context.v).toBe(1);
    expect(regions("last", set(3), set(2), set(3)).state.context.v).toBe(3);
  });

  test("goes by the order in which the regions act: that of the document, and the reverse when they are left", () => {
    const region = (v: number) => ({ initial: "x", states: { x: { exit: { update: set(v) } } } });
    const define = (writes: WritePolicy) =>
      defineMachine({
        id: "m",
        start: { v: 0 } as { v?: number },
        initial: "p",
        states: {
          p: { type: "parallel", writes, on: { go: "z" }, states: { a: region(1), b: region(2) } },
          z: {},
        },
      });
    expect(simulate(define("first")).send("go").state.context.v).toBe(2);
    expect(simulate(define("last")).send("go").state.context.v).toBe(1);
  });

  test("takes the last word of the region that wins", () => {
    const twice = { exit: { update: set(1) }, on: { go: { target: "y", update: set(5) } } };
    const machine = defineMachine({
      id: "m",
      start: { v: 0 } as { v?: number },
      initial: "p",
      states: {
        p: {
          type: "parallel",
          writes: "first",
          states: {
            a: { initial: "x", states: { x: twice, y: {} } },
            b: { initial: "x", states: { x: { on: { go: { update: set(2) } } } } },
          },
        },
      },
    });
    expect(simulate(machine).send("go").state.context.v).toBe(5);
  });

  test("may differ by place: the longest declared prefix of the place decides", () => {
    const write =
      (n: number): Recipe<Shared> =>
      (draft) => {
        draft.v = n;
        draft.nested.a = n;
        draft.nested.b = n;
      };
    const policies: Writes = { v: "first", nested: "last", "nested.b": "first" };
    expect(regions(policies, write(1), write(2)).state.context).toMatchObject({
      v: 1,
      nested: { a: 2, b: 1 },
    });
    expect(regions({ "nested.b": "first" }, write(1), write(2)).error?.details).toMatchObject({
      path: "context.v",
    });
    expect(regions({ "": "last", ves: "reject" }, write(1), write(2)).state.context).toMatchObject({ v: 2 });
  });

  test("settles a place with all that is inside it, whatever the others wrote in there", () => {
    const inside =
      (c: number): Recipe<Shared> =>
      (draft) => {
        draft.nested.deep = { c };
      };
    const replace: Recipe<Shared> = (draft) => {
      draft.nested = [] as never;
    };
    expect(regions("first", inside(1), inside(2), replace).state.context.nested).toEqual({
      a: 0,
      b: 0,
      deep: { c: 1 },
    });
    expect(regions("last", inside(1), inside(2), replace).state.context.nested).toEqual([]);
    const remove: Recipe<Shared> = (draft) => {
      delete draft.v;
    };
    expect(regions("first", remove, set(2)).state.context).not.toHaveProperty("v");
    expect(regions("last", set(2), remove).state.context).not.toHaveProperty("v");
  });

  test("may be declared on the machine when that is parallel, and holds for its own regions only", () => {
    const inner = (v: number) => ({ initial: "x", states: { x: { on: { go: { update: set(v) } } } } });
    const machine = defineMachine({
      id: "m",
      type: "parallel",
      writes: "last",
      start: { v: 0 } as { v?: number },
      states: { a: { type: "parallel", states: { c: inner(1), d: inner(2) } }, b: inner(3) },
    });
    expect(simulate(machine).send("go").error?.message).toContain('Regions "a.c.x" and "a.d.x" of "a"');
  });
});

describe("A4", () => {
  const trip = defineMachine({
    id: "trip",
    start: { booked: [] as string[], budget: 100, note: "" },
    initial: "booking",
    states: {
      booking: {
        type: "parallel",
        writes: { note: "last" },
        states: {
          flight: {
            initial: "open",
            states: {
              open: {
                on: {
                  book: {
                    target: "done",
                    update: (draft) => {
                      draft.booked.push("flight");
                      draft.note = "flight booked";
                    },
                  },
                  split: {
                    update: (draft) => {
                      draft.budget = 60;
                    },
                  },
                },
              },
              done: { type: "final" },
            },
          },
          hotel: {
            initial: "open",
            states: {
              open: {
                on: {
                  book: {
                    target: "check",
                    update: (draft) => {
                      draft.booked.push("hotel");
                      draft.note = "hotel booked";
                    },
                  },
                  split: {
                    update: (draft) => {
                      draft.budget = 40;
                    },
                  },
                },
              },
              check: { on: { confirm: "done" } },
              done: { type: "final" },
            },
          },
        },
        onDone: "packed",
      },
      packed: {},
    },
  });

  test("A4: regions run side by side and join when all are done", () => {
    const run = simulate(trip);
    run.send("book");
    expect(run.state.configuration).toEqual(["booking.flight.done", "booking.hotel.check"]);
    run.send("confirm");
    expect(run.state.configuration).toEqual(["packed"]);
  });

  test("A4: regions write shared context under a declared conflict policy", () => {
    const run = simulate(trip);
    run.send("book");
    expect(run.state.context).toEqual({ booked: ["flight", "hotel"], budget: 100, note: "hotel booked" });
  });

  test("A4: contradictory writes are detected, not lost", () => {
    const run = simulate(trip);
    const before = run.state;
    const refused = run.send("split");
    expect(refused.error).toMatchObject({
      code: "WRITES_CONTRADICT",
      details: { path: "context.budget", values: ["60", "40"] },
    });
    expect(run.state).toBe(before);
  });
});
