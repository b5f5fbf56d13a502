/** Random plans, made sayable in a format: what it has no words for is said in a simpler way, or not at all. */
import { drawPlan } from "../generate/chart.ts";
import type { Dialect, Plan, StatePlan, TransitionPlan } from "../generate/plan.ts";
import { plant, type Tree } from "../generate/tree.ts";

/** How to say a state more simply; its children are done already. */
export type Simplify = (state: StatePlan, tree: Tree) => StatePlan;

/** The plan of a seed with every state made simpler. */
export function simplePlan(seed: number, dialect: Dialect, simplify: Simplify): Plan {
  const plan = drawPlan(seed, dialect);
  const tree = plant(plan.root);
  const visit = (state: StatePlan): StatePlan =>
    simplify({ ...state, states: state.states.map(visit) }, tree);
  return { ...plan, root: visit(plan.root) };
}

/** One block of actions instead of several. */
export function oneBlock(state: StatePlan): StatePlan {
  const joined = (blocks: StatePlan["entry"]) => (blocks.length < 2 ? blocks : [blocks.flat()]);
  return { ...state, entry: joined(state.entry), exit: joined(state.exit) };
}

/** A compound state that begins in one of its own children. */
export function directInitial(state: StatePlan, tree: Tree): StatePlan {
  if (state.initial === undefined) return state;
  const { targets, actions } = state.initial;
  let place = tree.get(targets[0] as string);
  while (place?.parent !== undefined && place.parent.state.key !== state.key) place = place.parent;
  return { ...state, initial: { targets: [place!.state.key], actions } };
}

/** A history that only goes somewhere. */
export function silentHistory(state: StatePlan): StatePlan {
  return state.fallback === undefined
    ? state
    : { ...state, fallback: { targets: state.fallback.targets, actions: [] } };
}

/** Only transitions for which this holds. */
export function onlyTransitions(state: StatePlan, keep: (transition: TransitionPlan) => boolean): StatePlan {
  return { ...state, transitions: state.transitions.filter(keep) };
}
