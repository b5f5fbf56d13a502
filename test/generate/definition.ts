/** A plan as a machine definition of Holdfast's own: what an author would write for the same chart. */
import type {
  Action,
  Blocks,
  HandlerList,
  HandlerRecord,
  MachineDefinition,
  StateDefinition,
  TransitionParts,
} from "../../src/core/definition.ts";
import type { Event } from "../../src/core/event.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { actionOf, firstCounters, guardOf, increment } from "./content.ts";
import type { ActionPlan, EventPlan, Plan, StatePlan, TransitionPlan } from "./plan.ts";
import { isAlways } from "./plan.ts";
import { isInside, type Place, plant, stateId, type Tree } from "./tree.ts";

/** The machine that a plan describes. It ignores events that no state takes, as SCXML does. */
export function definitionOf(plan: Plan): MachineDefinition {
  const tree = plant(plan.root);
  return {
    ...stateOf(plan.root, tree, plan.matching),
    id: plan.root.key,
    start: firstCounters(plan.counters),
    matching: plan.matching,
    unhandled: "ignore",
  };
}

/** An event of a plan as the engine takes it. */
export const eventOf = (event: EventPlan): Event => ({ type: event.type, data: { n: event.n } });

function stateOf(state: StatePlan, tree: Tree, matching: Plan["matching"]): StateDefinition {
  const place = tree.get(state.key)!;
  const id = state.named === true ? { id: stateId(state.key) } : {};
  if (state.kind === "history") {
    const fallback = state.fallback!;
    return {
      ...id,
      type: "history",
      history: state.deep === true ? "deep" : "shallow",
      target: fallback.targets.map((key) => reference(tree.get(key)!, place)),
      ...someActions(fallback.actions, tree),
    };
  }
  return {
    ...id,
    // Regions write one after the other, as in SCXML; that two of them count at once is not a contradiction here.
    ...(state.kind === "parallel" ? ({ type: "parallel", writes: "last" } as const) : {}),
    ...(state.kind === "final" ? ({ type: "final" } as const) : {}),
    ...(state.output === undefined ? {} : { output: state.output }),
    ...initialOf(state, place, tree),
    ...(state.states.length === 0
      ? {}
      : {
          states: Object.fromEntries(
            state.states.map((child) => [child.key, stateOf(child, tree, matching)]),
          ),
        }),
    ...handlersOf(state, tree, matching),
    ...(state.entry.length === 0 ? {} : { entry: blocksOf(state.entry, tree) }),
    ...(state.exit.length === 0 ? {} : { exit: blocksOf(state.exit, tree) }),
  };
}

function initialOf(state: StatePlan, place: Place, tree: Tree): Pick<StateDefinition, "initial"> {
  if (state.initial === undefined) return {};
  const targets = state.initial.targets.map((key) => relative(tree.get(key)!, place));
  const target = targets.length === 1 ? targets[0]! : targets;
  return {
    initial:
      state.initial.actions.length === 0 ? target : { target, ...someActions(state.initial.actions, tree) },
  };
}

/** Initial targets are written from their own state down, without a leading dot: `child` or `child.grandchild`. */
const relative = (target: Place, from: Place): string =>
  from.path === "" ? target.path : target.path.slice(from.path.length + 1);

/** Targets are written in every way there is, each where it fits. */
function reference(target: Place, source: Place): string {
  if (target.state.named === true) return `#${stateId(target.state.key)}`;
  if (isInside(target, source) && target.depth % 2 === 0) return `.${relative(target, source)}`;
  if (target.parent === source.parent) return target.state.key;
  return target.path;
}

function handlersOf(state: StatePlan, tree: Tree, matching: Plan["matching"]): StateDefinition {
  const source = tree.get(state.key)!;
  const partsOf = (transition: TransitionPlan): TransitionParts => transitionOf(transition, source, tree);
  const always = state.transitions.filter(isAlways).map(partsOf);
  const onDone = state.transitions.filter((transition) => "done" in transition.trigger).map(partsOf);
  const handlers = state.transitions.flatMap((transition) =>
    "events" in transition.trigger ? [{ event: transition.trigger.events, ...partsOf(transition) }] : [],
  );
  return {
    ...(always.length === 0 ? {} : { always }),
    ...(onDone.length === 0 ? {} : { onDone }),
    ...(handlers.length === 0 ? {} : { on: matching === "scxml" ? handlers : recordOf(handlers) }),
  };
}

/** Handlers by key, for the format in which the most specific key comes first. */
function recordOf(handlers: HandlerList<JsonObject, Event>): HandlerRecord<JsonObject, Event> {
  const record: Record<string, TransitionParts[]> = {};
  for (const { event, ...parts } of handlers)
    for (const descriptor of [event].flat()) {
      record[descriptor] ??= [];
      record[descriptor].push(parts);
    }
  return record;
}

function transitionOf(transition: TransitionPlan, source: Place, tree: Tree): TransitionParts {
  const targets = transition.targets.map((key) => reference(tree.get(key)!, source));
  return {
    ...(targets.length === 0 ? {} : { target: targets.length === 1 ? targets[0]! : targets }),
    ...(transition.guard === undefined ? {} : { guard: guardOf(transition.guard, tree) }),
    ...(transition.reenter === undefined ? {} : { reenter: transition.reenter }),
    ...updateAndActions(transition.actions, tree),
  };
}

/** A first action that counts is written as the transition's `update`, which runs before its actions. */
function updateAndActions(
  actions: readonly ActionPlan[],
  tree: Tree,
): Pick<TransitionParts, "update" | "actions"> {
  const [first, ...rest] = actions;
  if (first === undefined || !("count" in first)) return someActions(actions, tree);
  return { update: increment(first.count), ...someActions(rest, tree) };
}

const someActions = (actions: readonly ActionPlan[], tree: Tree): Pick<TransitionParts, "actions"> =>
  actions.length === 0 ? {} : { actions: blockOf(actions, tree) };

/** One block is written flat, several as lists of lists. */
const blocksOf = (blocks: readonly (readonly ActionPlan[])[], tree: Tree): Blocks =>
  blocks.length === 1 ? blockOf(blocks[0]!, tree) : blocks.map((block) => blockOf(block, tree));

const blockOf = (block: readonly ActionPlan[], tree: Tree): Action[] =>
  block.map((action) => actionOf(action, tree));
