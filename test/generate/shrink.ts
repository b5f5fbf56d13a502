/**
 * Makes a failing plan small: tries one simplification after the other and keeps each one that still fails, until none
 * does any more. What is left is what the failure needs.
 */
import type { ActionPlan, Dialect, GuardPlan, Plan, StatePlan, TransitionPlan } from "./plan.ts";
import { repair } from "./repair.ts";

/** A plan that still fails, and from which nothing can be taken away without losing the failure. */
export function shrink(plan: Plan, dialect: Dialect, fails: (plan: Plan) => boolean): Plan {
  let smallest = plan;
  for (let shrunk = true; shrunk; ) {
    shrunk = false;
    for (const simpler of simplifications(smallest)) {
      const candidate = repair(simpler, dialect);
      if (weight(candidate) >= weight(smallest) || !fails(candidate)) continue;
      smallest = candidate;
      shrunk = true;
      break;
    }
  }
  return smallest;
}

/** Every simplification weighs less, so shrinking ends. What is harder to follow weighs more than its letters. */
function weight(plan: Plan): number {
  const text = JSON.stringify(plan);
  const parallels = text.split('"kind":"parallel"').length - 1;
  return text.length + parallels * 100 + (plan.matching === "scxml" ? 1 : 0);
}

/** Everything that could be left out, the largest pieces first. */
function* simplifications(plan: Plan): Generator<Plan> {
  for (const events of withoutChunks(plan.events)) yield { ...plan, events };
  for (const root of simplerStates(plan.root)) yield { ...plan, root };
  if (plan.matching === "scxml") yield { ...plan, matching: "exact" };
  if (plan.counters > 1 && !usesCounter(plan, plan.counters - 1))
    yield { ...plan, counters: plan.counters - 1 };
}

const usesCounter = (plan: Plan, index: number): boolean =>
  new RegExp(`"(counter|count)":${index}\\b`).test(JSON.stringify(plan.root));

/** The list without its halves, quarters and so on down to single items. */
function* withoutChunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let size = items.length; size >= 1; size = Math.floor(size / 2))
    for (let start = 0; start < items.length; start += size)
      yield [...items.slice(0, start), ...items.slice(start + size)];
}

function* simplerStates(state: StatePlan): Generator<StatePlan> {
  for (const states of withoutChunks(state.states)) yield { ...state, states };
  for (const [index, child] of state.states.entries()) {
    // A child's own children can stand in its place.
    yield { ...state, states: state.states.toSpliced(index, 1, ...child.states) };
    if (child.kind === "parallel")
      yield { ...state, states: state.states.with(index, { ...child, kind: "compound" }) };
  }
  yield* simplerBehaviour(state);
  for (const [index, child] of state.states.entries())
    for (const simpler of simplerStates(child)) yield { ...state, states: state.states.with(index, simpler) };
}

function* simplerBehaviour(state: StatePlan): Generator<StatePlan> {
  for (const transitions of withoutChunks(state.transitions)) yield { ...state, transitions };
  for (const entry of simplerBlocks(state.entry)) yield { ...state, entry };
  for (const exit of simplerBlocks(state.exit)) yield { ...state, exit };
  for (const key of ["initial", "fallback"] as const) {
    const entry = state[key];
    if (entry === undefined) continue;
    for (const targets of withoutChunks(entry.targets)) yield { ...state, [key]: { ...entry, targets } };
    for (const actions of simplerActions(entry.actions)) yield { ...state, [key]: { ...entry, actions } };
  }
  for (const [index, transition] of state.transitions.entries())
    for (const simpler of simplerTransitions(transition))
      yield { ...state, transitions: state.transitions.with(index, simpler) };
  for (const key of ["named", "deep", "output"] as const) {
    const { [key]: dropped, ...rest } = state;
    if (dropped !== undefined) yield rest;
  }
}

function* simplerTransitions(transition: TransitionPlan): Generator<TransitionPlan> {
  const { guard, reenter, ...rest } = transition;
  const kept = reenter === undefined ? {} : { reenter };
  if (guard !== undefined) {
    yield { ...rest, ...kept };
    for (const simpler of simplerGuards(guard)) yield { ...transition, guard: simpler };
  }
  if (reenter !== undefined) yield { ...rest, ...(guard === undefined ? {} : { guard }) };
  for (const targets of withoutChunks(transition.targets)) yield { ...transition, targets };
  for (const actions of simplerActions(transition.actions)) yield { ...transition, actions };
  if ("events" in transition.trigger)
    for (const events of withoutChunks(transition.trigger.events))
      if (events.length > 0) yield { ...transition, trigger: { events } };
}

function* simplerGuards(guard: GuardPlan): Generator<GuardPlan> {
  if ("not" in guard) yield guard.not;
  if ("and" in guard) yield* guard.and;
  if ("or" in guard) yield* guard.or;
}

function* simplerBlocks(
  blocks: readonly (readonly ActionPlan[])[],
): Generator<readonly (readonly ActionPlan[])[]> {
  yield* withoutChunks(blocks);
  for (const [index, block] of blocks.entries())
    for (const simpler of simplerActions(block)) if (simpler.length > 0) yield blocks.with(index, simpler);
}

function* simplerActions(actions: readonly ActionPlan[]): Generator<readonly ActionPlan[]> {
  yield* withoutChunks(actions);
  for (const [index, action] of actions.entries()) {
    if ("counter" in action) yield actions.with(index, { raise: action.raise });
    if ("in" in action) yield actions.with(index, { log: action.log });
  }
}
