/**
 * Properties of the core that must hold for every machine, state and event, tried on random ones. A failure prints the
 * seed; `drawPlan(seed, dialect)` gives its chart again, and `shrink` makes it small.
 */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { Event } from "../src/core/event.ts";
import { freezeStates, type Json } from "../src/core/json.ts";
import { defineMachine, type Machine } from "../src/core/machine.ts";
import { apply, diff } from "../src/core/patch.ts";
import { can } from "../src/core/query.ts";
import { restore } from "../src/core/restore.ts";
import type { State } from "../src/core/state.ts";
import { type Step, start, step } from "../src/core/step.ts";
import { isHoldfastError } from "../src/errors.ts";
import { drawPlan } from "./generate/chart.ts";
import { definitionOf, eventOf } from "./generate/definition.ts";
import type { Dialect, Plan, StatePlan } from "./generate/plan.ts";
import { repair } from "./generate/repair.ts";
import { createOracle, type Oracle, type OracleState } from "./oracle/oracle.ts";

/** Seeds do not shrink: the next smaller one is a different chart, not a simpler one. */
const seeds = fc.noShrink(fc.nat({ max: 0x7fff_ffff }));
const dialects = fc.constantFrom<Dialect>("shared", "native");

interface Taken {
  readonly machine: Machine;
  readonly before: State | undefined;
  readonly event: Event | undefined;
  readonly at: number;
  readonly after: Step;
}

/** Every step of a plan's run, until it ends, or would not. The start is the step without a state before it. */
function* stepsOf(plan: Plan, options: { readonly trace?: boolean } = {}): Generator<Taken> {
  const machine = defineMachine(definitionOf(plan));
  let after = started(machine, options);
  if (after === undefined) return;
  yield { machine, before: undefined, event: undefined, at: 0, after };
  for (const [index, planned] of plan.events.entries()) {
    const before: State = after.state;
    if (before.status !== "active") return;
    const event = eventOf(planned);
    const at = index + 1;
    after = step(machine, before, event, { at, ...options });
    yield { machine, before, event, at, after };
    if (after.outcome === "refused") return;
  }
}

function started(machine: Machine, options: { readonly trace?: boolean }): Step | undefined {
  try {
    return start(machine, undefined, { at: 0, ...options });
  } catch (error) {
    if (isHoldfastError(error) && error.code === "STEP_UNBOUNDED") return undefined;
    throw error;
  }
}

/** Errors are compared by what they say; two of them are never the same object. */
const plain = ({ error, trace: _, ...rest }: Step) => ({ ...rest, error: error?.message });

const wasFreezing = freezeStates(true);
afterEach(() => {
  freezeStates(wasFreezing);
});

describe("a step", () => {
  test("gives the same for the same, on one machine and on two of one definition", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        const plan = drawPlan(seed, dialect);
        const again = [...stepsOf(plan)];
        for (const [index, { machine, before, event, at, after }] of [...stepsOf(plan)].entries()) {
          expect(plain(again[index]!.after)).toEqual(plain(after));
          if (before !== undefined)
            expect(plain(step(machine, before, event!, { at }))).toEqual(plain(after));
        }
      }),
    );
  });

  test("gives the same whether it is traced or not", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        const plan = drawPlan(seed, dialect);
        const traced = [...stepsOf(plan, { trace: true })];
        const untraced = [...stepsOf(plan)];
        expect(traced.map(({ after }) => plain(after))).toEqual(untraced.map(({ after }) => plain(after)));
      }),
    );
  });

  test.each([true, false])("leaves the state it started from as it was, with freezing %s", (freezing) => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        freezeStates(freezing);
        const kept: [State, string][] = [];
        for (const { after } of stepsOf(drawPlan(seed, dialect))) {
          kept.push([after.state, JSON.stringify(after.state)]);
          for (const [state, text] of kept) expect(JSON.stringify(state)).toBe(text);
          if (freezing) expect(isFrozenDeep(after.state)).toBe(true);
        }
      }),
    );
  });

  test("from a state that was stored and restored is the step it would have been", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        for (const { machine, before, event, at, after } of stepsOf(drawPlan(seed, dialect))) {
          const stored = JSON.parse(JSON.stringify(after.state)) as unknown;
          expect(restore(machine, stored)).toEqual(after.state);
          if (before === undefined) continue;
          const parsed = JSON.parse(JSON.stringify(before)) as State;
          expect(plain(step(machine, restore(machine, parsed), event!, { at }))).toEqual(plain(after));
          expect(plain(step(machine, parsed, event!, { at }))).toEqual(plain(after));
        }
      }),
    );
  });

  test("makes patches that lead from the old state to the new one, also after being stored", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        for (const { before, after } of stepsOf(drawPlan(seed, dialect))) {
          if (before === undefined) continue;
          expectPatched(before as unknown as Json, after.state as unknown as Json);
        }
      }),
    );
  });

  test("takes what `can` says can be taken", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        for (const { machine, before, event, after } of stepsOf(drawPlan(seed, dialect))) {
          if (before === undefined || after.outcome === "refused") continue;
          // What nothing takes can still set something off: an error, or an eventless guard that looks at the event.
          const setsOff = after.errors.length > 0 || dialect === "native";
          if (can(machine, before, event!)) expect(after.outcome).toBe("taken");
          else if (!setsOff) expect(after.outcome).toBe("ignored");
        }
      }),
    );
  });
});

describe("the compiled engine does what the literal algorithm does, from every state it comes to", () => {
  test("on charts of all kinds", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => expectOracle(drawPlan(seed, dialect))),
      { numRuns: 400 },
    );
  });

  test("on charts without parallel states, which have a way of their own", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        const plan = drawPlan(seed, dialect);
        expectOracle(repair({ ...plan, root: withoutParallel(plan.root) }, dialect));
      }),
      { numRuns: 400 },
    );
  });

  test("on one machine that many runs share, whatever it remembers of earlier ones", () => {
    fc.assert(
      fc.property(seeds, dialects, (seed, dialect) => {
        const plan = drawPlan(seed, dialect);
        const machine = defineMachine(definitionOf(plan));
        const oracle = createOracle(definitionOf(plan));
        for (const events of [plan.events, plan.events.toReversed(), plan.events]) {
          let state = started(machine, {})?.state;
          for (const [index, planned] of events.entries()) {
            if (state?.status !== "active") break;
            const taken = step(machine, state, eventOf(planned), { at: index });
            expectStep(taken, oracle, state, eventOf(planned));
            state = taken.outcome === "refused" ? undefined : taken.state;
          }
        }
      }),
    );
  });
});

function withoutParallel(state: StatePlan): StatePlan {
  const kind = state.kind === "parallel" ? "compound" : state.kind;
  return { ...state, kind, states: state.states.map(withoutParallel) };
}

function expectOracle(plan: Plan): void {
  const oracle = createOracle(definitionOf(plan));
  for (const { before, event, after } of stepsOf(plan)) expectStep(after, oracle, before, event);
}

function expectStep(taken: Step, oracle: Oracle, before: State | undefined, event: Event | undefined): void {
  const expected = before === undefined ? oracle.start() : oracle.step(before as OracleState, event!);
  if (expected === undefined) {
    expect(taken.error?.code).toBe("STEP_UNBOUNDED");
    return;
  }
  const { state, effects, errors, outcome } = taken;
  const { status, configuration, context, history, output } = state;
  expect({
    state: { status, configuration, context, history, ...(output === undefined ? {} : { output }) },
    logs: effects.flatMap((effect) => (effect.type === "log" ? [effect.data] : [])),
    errors: errors.map(({ type }) => type),
    outcome,
  }).toEqual(expected);
}

describe("the difference of two JSON values", () => {
  test("leads from any value to any other", () => {
    fc.assert(fc.property(json, json, expectPatched), { numRuns: 500 });
  });

  test("leads from a value to what edits make of it, whatever moved", () => {
    fc.assert(
      fc.property(lists, fc.array(edits, { maxLength: 6 }), (before, made) => {
        expectPatched(before, made.reduce<readonly Json[]>(edited, before));
      }),
      { numRuns: 500 },
    );
  });

  test("leads from a text to a longer one, wherever its characters are cut", () => {
    const texts = fc.array(fc.constantFrom("a", "\ud83d", "\ude00", "😀", "é", "\u0000"), { maxLength: 8 });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        expectPatched(one.join(""), one.join("") + other.join(""));
        expectPatched({ text: one.join("") }, { text: other.join("") });
      }),
    );
  });
});

/** Objects with hostile keys among them; no minus zero, which JSON does not have. */
const keys = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "length", "0", "", "a", "b"),
  fc.string({ unit: "binary" }),
);
const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.constantFrom<Json>(null, true, false, 0, 1, "", "a", "ab"),
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.array(tie("json"), { maxLength: 6 }),
    fc.array(fc.tuple(keys, tie("json")), { maxLength: 5 }).map((entries) => Object.fromEntries(entries)),
  ),
}));
const lists = fc.array(json, { maxLength: 12 });

type Edit = readonly [kind: "insert" | "remove" | "replace" | "append" | "move", place: number, value: Json];
const edits: fc.Arbitrary<Edit> = fc.tuple(
  fc.constantFrom("insert", "remove", "replace", "append", "move"),
  fc.nat({ max: 12 }),
  json,
);

function edited(list: readonly Json[], [kind, place, value]: Edit): readonly Json[] {
  const index = list.length === 0 ? 0 : place % list.length;
  if (kind === "insert") return list.toSpliced(index, 0, value);
  if (kind === "append") return [...list, value];
  if (list.length === 0) return list;
  if (kind === "remove") return list.toSpliced(index, 1);
  if (kind === "replace") return list.with(index, value);
  return list.toSpliced(index, 1).toSpliced(place % list.length, 0, list[index]!);
}

function expectPatched(before: Json, after: Json): void {
  const kept = JSON.stringify(before);
  const patches = diff(before, after);
  expect(canonical(apply(before, patches))).toBe(canonical(after));
  expect(canonical(apply(before, JSON.parse(JSON.stringify(patches))))).toBe(canonical(after));
  expect(diff(after, apply(before, patches))).toEqual([]);
  expect(JSON.stringify(before)).toBe(kept);
}

/** A value as text in which the order of keys plays no part; unlike `toEqual` it sees a key `__proto__`. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_, part: Json) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    const entries = Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1));
    return { entries: entries.flat() };
  });
}

function isFrozenDeep(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenDeep);
}
