/**
 * Makes any plan a valid one, changing as little as it can: what refers to states that are gone, or may not stand
 * together, is dropped. Both drawing and shrinking end here, so neither has to be careful.
 */
import { staysInside } from "./behaviour.ts";
import type { ActionPlan, Dialect, EntryPlan, GuardPlan, Plan, StatePlan, TransitionPlan } from "./plan.ts";
import { descendants, isInside, isStateSpecification, type Place, plant, type Tree } from "./tree.ts";

/** A valid plan: the same one, part by part, if it is valid already. */
export function repair(plan: Plan, dialect: Dialect): Plan {
  const { root } = plan;
  const kind = root.kind === "parallel" && dialect === "native" ? "parallel" : "compound";
  const hasStates = root.states.some((child) => child.kind !== "history");
  const states = hasStates ? root.states : [...root.states, lonely];
  const rooted = repairKinds({ ...root, kind, states }, undefined);
  return { ...plan, root: repairState(rooted, plant(rooted), dialect) };
}

/** A machine needs a state. */
const lonely: StatePlan = { key: "s", kind: "atomic", states: [], transitions: [], entry: [], exit: [] };

/** States that have lost their children become atomic, and so do final states that have become regions. */
function repairKinds(state: StatePlan, parent: StatePlan | undefined): StatePlan {
  const { initial: _, output: __, ...rest } = state;
  if (state.kind === "final" && parent?.kind === "parallel") return { ...rest, kind: "atomic" };
  if (state.kind !== "compound" && state.kind !== "parallel") return state;
  if (state.states.every((child) => child.kind === "history")) return { ...rest, kind: "atomic", states: [] };
  const repaired = state.kind === "parallel" ? rest : state;
  return { ...repaired, states: state.states.map((child) => repairKinds(child, state)) };
}

function repairState(state: StatePlan, tree: Tree, dialect: Dialect): StatePlan {
  const place = tree.get(state.key)!;
  return {
    ...state,
    entry: state.entry.map((block) => repairActions(block, tree)),
    exit: state.exit.map((block) => repairActions(block, tree)),
    ...(state.kind === "compound" ? { initial: repairEntry(state.initial, place, tree, "any") } : {}),
    ...(state.kind === "history"
      ? {
          fallback: repairEntry(
            state.fallback,
            place.parent!,
            tree,
            state.deep === true ? "states" : "children",
          ),
        }
      : {}),
    transitions: state.transitions.flatMap((transition) =>
      repairTransition(transition, place, tree, dialect),
    ),
    states: state.states.map((child) => repairState(child, tree, dialect)),
  };
}

/** Targets that lie below the owner; its first child if none is left. */
function repairEntry(
  entry: EntryPlan | undefined,
  owner: Place,
  tree: Tree,
  allowed: "any" | "states" | "children",
): EntryPlan {
  const fits = (place: Place): boolean =>
    isInside(place, owner) &&
    (allowed === "any" || place.state.kind !== "history") &&
    (allowed !== "children" || place.parent === owner);
  const targets = compatible((entry?.targets ?? []).flatMap((key) => tree.get(key) ?? []).filter(fits));
  const first = descendants(tree, owner).find(({ state }) => state.kind !== "history")!;
  return {
    targets: (targets.length > 0 ? targets : [first]).map(({ state }) => state.key),
    actions: repairActions(entry?.actions ?? [], tree),
  };
}

/** As many of the targets, from the first on, as can be active at once. */
function compatible(targets: readonly Place[]): Place[] {
  const kept: Place[] = [];
  for (const target of targets) if (isStateSpecification([...kept, target])) kept.push(target);
  return kept;
}

function repairTransition(
  transition: TransitionPlan,
  source: Place,
  tree: Tree,
  dialect: Dialect,
): TransitionPlan[] {
  if (source.state.kind === "final" || source.state.kind === "history") return [];
  if ("done" in transition.trigger && (source.parent === undefined || source.state.states.length === 0))
    return [];
  const known = transition.targets.flatMap((key) => tree.get(key) ?? []);
  const targets = compatible(known.filter(({ parent }) => parent !== undefined));
  if (targets.length === 0 && transition.targets.length > 0) return [];
  const { guard, reenter: _, ...rest } = transition;
  const kept = guard === undefined ? undefined : repairGuard(guard, tree);
  return [
    {
      ...rest,
      actions: repairActions(transition.actions, tree),
      targets: targets.map(({ state }) => state.key),
      ...(mustReenter(transition, source, targets, dialect) ? { reenter: true } : {}),
      ...(kept === undefined ? {} : { guard: kept }),
    },
  ];
}

/**
 * SCXML lets a transition stay inside its source only if that is compound and all targets lie below it; wherever
 * Holdfast would let it stay otherwise, the shared dialect must say `reenter`.
 * https://www.w3.org/TR/scxml/#SelectingTransitions
 */
function mustReenter(
  transition: TransitionPlan,
  source: Place,
  targets: readonly Place[],
  dialect: Dialect,
): boolean {
  if (targets.length === 0) return false;
  const mayLeadBack = ({ state, parent }: Place): boolean =>
    state.kind === "history" && isInside(source, parent!);
  const isNative =
    targets.some(mayLeadBack) ||
    (staysInside(source, targets) && (source.state.kind !== "compound" || targets.includes(source)));
  return transition.reenter === true || (dialect === "shared" && isNative);
}

/** What asks about states that are gone tells its line in any case. */
const repairActions = (actions: readonly ActionPlan[], tree: Tree): ActionPlan[] =>
  actions.map((action) => ("in" in action && !tree.has(action.in) ? { log: action.log } : action));

/** Without the parts that speak of states that are gone; undefined if nothing is left. */
function repairGuard(guard: GuardPlan, tree: Tree): GuardPlan | undefined {
  if ("in" in guard) return tree.get(guard.in)?.parent === undefined ? undefined : guard;
  if ("not" in guard) {
    const inner = repairGuard(guard.not, tree);
    return inner === undefined ? undefined : { not: inner };
  }
  if ("and" in guard) return repairParts(guard.and, tree, (and) => ({ and }));
  if ("or" in guard) return repairParts(guard.or, tree, (or) => ({ or }));
  return guard;
}

function repairParts(
  parts: readonly GuardPlan[],
  tree: Tree,
  join: (parts: GuardPlan[]) => GuardPlan,
): GuardPlan | undefined {
  const kept = parts.flatMap((part) => repairGuard(part, tree) ?? []);
  return kept.length > 1 ? join(kept) : kept[0];
}
