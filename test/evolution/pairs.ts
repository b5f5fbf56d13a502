/**
 * Random pairs of versions: a random chart whose states also wait for things, and what somebody may have made of it: a
 * state removed, renamed or turned into another kind, other things to wait for, or another chart altogether.
 */
import type { MachineDefinition, StateDefinition } from "../../src/core/definition.ts";
import type { Event } from "../../src/core/event.ts";
import { defineMachine, type Machine } from "../../src/core/machine.ts";
import { drawPlan } from "../generate/chart.ts";
import { definitionOf, eventOf } from "../generate/definition.ts";
import type { Plan, StatePlan } from "../generate/plan.ts";
import { createRandom, type Random } from "../generate/random.ts";
import { repair } from "../generate/repair.ts";
import { plant } from "../generate/tree.ts";

export interface Pair {
  readonly from: Machine;
  readonly to: Machine;
  /** What to send to a run of the first. */
  readonly events: readonly Event[];
  /** Where states are now, by path, and the other way round; undefined unless one was renamed, and nothing else. */
  readonly states:
    | { readonly there: Record<string, string>; readonly back: Record<string, string> }
    | undefined;
}

/**
 * The pair of a seed. A `rich` one also has children, maps, and what is to be undone: those need a runtime around them to
 * come to anything.
 */
export function drawPair(seed: number, { rich = false }: { readonly rich?: boolean } = {}): Pair {
  const random = createRandom(seed);
  const plan = drawPlan(random.below(0x7fff_ffff), "native");
  const salt = random.below(0x7fff_ffff);
  const versions = (change: Plan, differs: number) =>
    [machineOf(plan, 1, { salt, differs: 0, rich }), machineOf(change, 2, { salt, differs, rich })] as const;
  const events = [...plan.events.map(eventOf), ...(rich ? [{ type: regret }] : [])];
  const roll = random.next();
  const keys = [...plant(plan.root).keys()].slice(1);
  const key = random.pick(keys);
  if (roll < 0.3) {
    const path = plant(plan.root).get(key)!.path;
    const renamed = withKey(plan, key, `${key}new`);
    const now = plant(renamed.root).get(`${key}new`)!.path;
    const [from, to] = versions(renamed, 0);
    return { from, to, events, states: { there: { [path]: now }, back: { [now]: path } } };
  }
  const changed =
    roll < 0.5
      ? plan
      : roll < 0.7
        ? without(plan, key)
        : roll < 0.8
          ? withKind(plan, key, random)
          : roll < 0.92
            ? withMore(plan, random)
            : drawPlan(random.below(0x7fff_ffff), "native");
  const [from, to] = versions(repair(changed, "native"), random.pick([0, 0.3, 0.7]));
  return { from, to, events, states: undefined };
}

/** The machine of a plan whose states also have timers, invocations, sends and deferrals. */
function machineOf(plan: Plan, version: number, chance: Chance): Machine {
  const definition = definitionOf(plan);
  const decorated = waiting(definition, plan.root.key, chance);
  // Once for each run: in a chart that goes round in circles they would grow without end.
  const entry = ["a", "later", "r"].map((type, index) => ({ send: { type, delay: 10 * (index + 1) } }));
  const undo = chance.rich ? { on: withRegret(decorated.on) } : {};
  return defineMachine({ ...decorated, ...undo, entry, id: "m", version } as MachineDefinition);
}

/** What has a run undo what it did. */
const regret = "regret";

function withRegret(on: StateDefinition["on"]): StateDefinition["on"] {
  const undoes = { actions: { compensate: true } } as const;
  if (Array.isArray(on)) return [...on, { event: regret, ...undoes }];
  return { ...(on as object), [regret]: undoes } as StateDefinition["on"];
}

/** A child that is over after a while. */
const kid = defineMachine({
  id: "kid",
  initial: "growing",
  states: { growing: { after: { 25: "grown" } }, grown: { type: "final" } },
});

interface Chance {
  readonly rich: boolean;
  readonly salt: number;
  /** How likely a state waits for something else than in the version before. */
  readonly differs: number;
}

function waiting(state: StateDefinition, key: string, chance: Chance): StateDefinition {
  const states = Object.fromEntries(
    Object.entries(state.states ?? {}).map(([name, child]) => [name, waiting(child, name, chance)]),
  );
  const inside = state.states === undefined ? {} : { states };
  if (state.type === "final" || state.type === "history") return state;
  // A state that was renamed waits for the same.
  const seed = [...key.replace(/new$/, "")].reduce(
    (sum, letter) => sum * 31 + letter.charCodeAt(0),
    chance.salt,
  );
  const dice = createRandom(seed);
  const other = createRandom(seed + 1);
  const random = other.chance(chance.differs) ? other : dice;
  const waits = drawWaiting(random);
  const more = chance.rich ? drawMore(random, waits, state.states === undefined ? key : undefined) : {};
  if (!("map" in more)) return { ...state, ...inside, ...waits, ...more };
  // A list is gone through in states of its own.
  const { invoke: _, ...others } = waits;
  return { ...state, ...others, ...more };
}

/** Children, things to undo, and lists to go through. */
function drawMore(
  random: Random,
  { invoke = [] }: StateDefinition,
  leaf: string | undefined,
): StateDefinition {
  const begun = ([invoke].flat() as object[]).map((one) =>
    random.chance(0.5) ? { ...one, compensate: "undo" } : one,
  );
  const children = random.chance(0.3) ? [{ machine: kid }] : [];
  // When it is through, a state begins its list again.
  const ends = { onDone: leaf, onError: leaf };
  if (leaf !== undefined && random.chance(0.25))
    return {
      map: { over: [1, 2, 3, 4], activity: "count", concurrency: random.between(1, 3), ...ends },
    } as never;
  return { invoke: [...begun, ...children] } as never;
}

const activities = ["read", "write", "count"] as const;

function drawWaiting(random: Random): StateDefinition {
  const invocation = () => ({
    activity: random.pick(activities),
    ...(random.chance(0.5) ? { onDone: { actions: { log: "done" } } } : {}),
  });
  const after = Object.fromEntries(
    random.some([10, 20, 30], random.below(3)).map((delay) => [delay, { actions: { log: "late" } }]),
  );
  return {
    ...(random.chance(0.4) ? { invoke: Array.from({ length: random.between(1, 2) }, invocation) } : {}),
    ...(random.chance(0.5) ? { after } : {}),
    ...(random.chance(0.4) ? { defer: random.some(["a", "a.x", "b.z", "c", "d", "later"], 3) } : {}),
  };
}

/** The same plan with every mention of a state under another key. */
function withKey(plan: Plan, old: string, now: string): Plan {
  const replace = (value: unknown): unknown => {
    if (value === old) return now;
    if (Array.isArray(value)) return value.map(replace);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replace(item)]));
  };
  return { ...plan, root: replace(plan.root) as StatePlan };
}

function without(plan: Plan, key: string): Plan {
  return { ...plan, root: changeState(plan.root, key, () => []) };
}

/** A state more in a state, or a region more where there are regions. */
function withMore(plan: Plan, random: Random): Plan {
  const parents = [...plant(plan.root).values()].filter(({ state }) => state.states.length > 0);
  const parallel = parents.filter(({ state }) => state.kind === "parallel");
  const { state } = random.pick(parallel.length > 0 ? parallel : parents);
  const more = { ...state, states: [...state.states, atomic(`${state.key}in`)] };
  return state === plan.root
    ? { ...plan, root: more }
    : { ...plan, root: changeState(plan.root, state.key, () => [more]) };
}

const atomic = (key: string): StatePlan => ({
  key,
  kind: "atomic",
  states: [],
  transitions: [],
  entry: [],
  exit: [],
});

function withKind(plan: Plan, key: string, random: Random): Plan {
  const kind = random.pick(["atomic", "compound", "parallel", "final"] as const);
  const inner = atomic(`${key}in`);
  const change = ({
    fallback: _,
    deep: __,
    output: ___,
    initial: ____,
    ...state
  }: StatePlan): StatePlan[] => [
    { ...state, kind, states: kind === "atomic" || kind === "final" ? [] : [...state.states, inner] },
  ];
  return { ...plan, root: changeState(plan.root, key, change) };
}

function changeState(state: StatePlan, key: string, change: (state: StatePlan) => StatePlan[]): StatePlan {
  const states = state.states.flatMap((child) =>
    child.key === key ? change(child) : [changeState(child, key, change)],
  );
  return { ...state, states };
}
