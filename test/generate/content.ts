/** Guards, actions and counters of a plan as Holdfast's definitions have them: functions where they compute, data elsewhere. */
import type { Action, Guard } from "../../src/core/definition.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { type ActionPlan, counterMax, type GuardPlan } from "./plan.ts";
import { payloadNumber, probe } from "./probe.ts";
import { stateId, type Tree } from "./tree.ts";

export function actionOf(action: ActionPlan, tree: Tree): Action {
  if ("log" in action) {
    const tell: Action = { log: ({ context, event }) => probe(action.log, event, countersOf(context)) };
    return "in" in action ? { choose: [{ guard: guardOf({ in: action.in }, tree), actions: tell }] } : tell;
  }
  if ("count" in action) return { update: increment(action.count) };
  if ("throws" in action) return { update: fail };
  if (!("counter" in action)) return { raise: action.raise };
  const guard = guardOf({ counter: action.counter, below: action.below }, tree);
  return { choose: [{ guard, actions: [{ update: increment(action.counter) }, { raise: action.raise }] }] };
}

export function guardOf(guard: GuardPlan, tree: Tree): Guard {
  if ("not" in guard) return { not: guardOf(guard.not, tree) };
  if ("and" in guard) return { and: guard.and.map((part) => guardOf(part, tree)) };
  if ("or" in guard) return { or: guard.or.map((part) => guardOf(part, tree)) };
  if ("in" in guard) {
    const place = tree.get(guard.in)!;
    return { in: place.state.named === true ? `#${stateId(guard.in)}` : place.path };
  }
  if ("throws" in guard) return fail;
  if ("parity" in guard)
    return ({ event }) => {
      const n = payloadNumber(event.data);
      return n !== undefined && n % 2 === guard.parity;
    };
  if ("odd" in guard) return ({ context }) => counter(context, guard.counter) % 2 === 1;
  return ({ context }) => counter(context, guard.counter) < guard.below;
}

/** Every other counter is a list that grows, the rest are numbers: regions that write to one at once do so differently. */
type Counter = unknown[] | number;
type Counters = Record<string, Counter>;

export const firstCounters = (count: number): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, index % 2 === 0 ? [] : 0]));

export const increment = (index: number) => (draft: object) => {
  const counters = draft as Counters;
  const name = `c${index}`;
  const value = counters[name]!;
  if (sizeOf(value) >= counterMax) return;
  if (typeof value === "number") counters[name] = value + 1;
  else value.push(value.length);
};

const sizeOf = (value: Counter): number => (typeof value === "number" ? value : value.length);
const counter = (context: JsonObject, index: number): number => sizeOf((context as Counters)[`c${index}`]!);

/** The counters of a context as numbers. */
export const countersOf = (context: JsonObject): Record<string, number> =>
  Object.fromEntries(Object.entries(context as Counters).map(([name, value]) => [name, sizeOf(value)]));

/** Made once: most of the cost of throwing is in writing down where from. */
const failure = new Error("This always fails.");

function fail(): never {
  throw failure;
}
