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

type Counters = Record<string, unknown[]>;
const counter = (context: JsonObject, index: number): number => (context as Counters)[`c${index}`]!.length;

/** Counters are lists that grow: regions that add to one list at once do not contradict each other. */
export const increment = (index: number) => (draft: object) => {
  const list = (draft as Counters)[`c${index}`]!;
  if (list.length < counterMax) list.push(list.length);
};

/** The counters of a context as numbers. */
export const countersOf = (context: JsonObject): Record<string, number> =>
  Object.fromEntries(Object.entries(context as Counters).map(([name, list]) => [name, list.length]));

/** Made once: most of the cost of throwing is in writing down where from. */
const failure = new Error("This always fails.");

function fail(): never {
  throw failure;
}
