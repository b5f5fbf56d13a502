/**
 * A plan as the plain model object that SCION takes. Nothing here is shared with the way Holdfast's own definition is
 * made, except the plan. The functions in a model are in `scion-content.ts`.
 */
import type { EntryPlan, Plan, StatePlan, TransitionPlan } from "../../test/generate/plan.ts";
import { doneName, plant, type Tree } from "../../test/generate/tree.ts";
import {
  actionOf,
  conditionOf,
  end,
  type ScionAction,
  type ScionCondition,
  type ScionRun,
} from "./scion-content.ts";

interface ScionTransition {
  readonly event?: string;
  readonly target?: readonly string[];
  readonly type?: "internal";
  readonly cond?: ScionCondition;
  readonly onTransition: readonly ScionAction[];
}

export interface ScionState {
  readonly id?: string;
  readonly $type: "state" | "parallel" | "final" | "history" | "initial";
  readonly isDeep?: boolean;
  readonly states?: readonly ScionState[];
  readonly transitions?: readonly ScionTransition[];
  readonly onEntry?: readonly (readonly ScionAction[])[];
  readonly onExit?: readonly (readonly ScionAction[])[];
  readonly donedata?: () => number;
}

/** What building a model needs to know. */
interface Building {
  readonly plan: Plan;
  readonly tree: Tree;
  readonly run: ScionRun;
  readonly idOf: (key: string) => string;
}

/** The model of a plan, whose functions work on the given run. */
export function scionModel(plan: Plan, run: ScionRun): ScionState {
  const tree = plant(plan.root);
  return stateOf(plan.root, { plan, tree, run, idOf: (key) => scionId(tree, key) });
}

/** The id a state has in SCION's model: also the name in its done events. */
export function scionId(tree: Tree, key: string): string {
  const place = tree.get(key)!;
  return place.parent === undefined ? place.state.key : doneName(place);
}

function stateOf(state: StatePlan, building: Building): ScionState {
  const { run, tree, idOf } = building;
  const id = idOf(state.key);
  if (state.kind === "history") {
    const transitions = [entryOf(state.fallback!, building)];
    return { id, $type: "history", ...(state.deep === true ? { isDeep: true } : {}), transitions };
  }
  const initial: ScionState[] =
    state.initial === undefined
      ? []
      : [{ $type: "initial", transitions: [entryOf(state.initial, building)] }];
  const states = [...initial, ...state.states.map((child) => stateOf(child, building))];
  const { output } = state;
  const endsRun = state.kind === "final" && tree.get(state.key)!.parent!.parent === undefined;
  const blocksOf = (blocks: StatePlan["entry"]) =>
    blocks.map((block) => block.map((one) => actionOf(one, run)));
  return {
    id,
    $type: state.kind === "parallel" || state.kind === "final" ? state.kind : "state",
    ...(states.length === 0 ? {} : { states }),
    transitions: transitionsOf(state, building),
    onEntry: [...(endsRun ? [[end(run)]] : []), ...blocksOf(state.entry)],
    onExit: blocksOf(state.exit),
    ...(output === undefined ? {} : { donedata: () => output }),
  };
}

const entryOf = (entry: EntryPlan, { idOf, run }: Building): ScionTransition => ({
  target: entry.targets.map(idOf),
  onTransition: entry.actions.map((action) => actionOf(action, run)),
});

function transitionsOf(state: StatePlan, building: Building): ScionTransition[] {
  const always = state.transitions.filter(({ trigger }) => "always" in trigger);
  return [
    ...always.map((transition) => transitionOf(state, { transition, descriptors: undefined }, building)),
    ...handlersOf(state, building).map((handler) => transitionOf(state, handler, building)),
  ];
}

interface Handler {
  readonly transition: TransitionPlan;
  /** Undefined for eventless transitions. */
  readonly descriptors: readonly string[] | undefined;
}

function transitionOf(
  state: StatePlan,
  { transition, descriptors }: Handler,
  building: Building,
): ScionTransition {
  const { plan, run, idOf } = building;
  // Holdfast's root is what <scxml> is to SCXML: no transition leaves it.
  const leaves = transition.reenter === true && state !== plan.root;
  const isExact = plan.matching === "exact" || "done" in transition.trigger;
  return {
    ...(descriptors === undefined ? {} : { event: descriptors.join(" ") }),
    ...(transition.targets.length === 0 ? {} : { target: transition.targets.map(idOf) }),
    ...(leaves ? {} : { type: "internal" }),
    cond: conditionOf(transition.guard, isExact ? descriptors : undefined, run, idOf),
    onTransition: transition.actions.map((action) => actionOf(action, run)),
  };
}

/** The transitions that have an event, in the order in which they are to be tried. */
function handlersOf(state: StatePlan, { plan, idOf }: Building): Handler[] {
  const handlers = state.transitions.flatMap((transition) => {
    const { trigger } = transition;
    if ("always" in trigger) return [];
    const descriptors = "events" in trigger ? trigger.events : [`done.state.${idOf(state.key)}`];
    return [{ transition, descriptors }];
  });
  if (plan.matching === "exact") return bySpecificity(handlers);
  const isDone = ({ transition }: Handler): boolean => "done" in transition.trigger;
  return [...handlers.filter((handler) => !isDone(handler)), ...handlers.filter(isDone)];
}

/** One transition for each descriptor: exact names first, then prefixes, the longest first, then `*`. */
function bySpecificity(
  handlers: readonly { transition: TransitionPlan; descriptors: readonly string[] }[],
): Handler[] {
  const rank = (descriptor: string): number => {
    if (descriptor === "*") return 1_000;
    return descriptor.endsWith(".*") ? 100 - descriptor.split(".").length : 0;
  };
  return handlers
    .flatMap(({ transition, descriptors }) => descriptors.map((descriptor) => ({ transition, descriptor })))
    .sort((one, other) => rank(one.descriptor) - rank(other.descriptor))
    .map(({ transition, descriptor }) => ({ transition, descriptors: [descriptor] }));
}
