/** What random states do: guards, actions and transitions. Labels in logs tell where an action stands. */
import type { ActionPlan, Dialect, GuardPlan, Plan, TransitionPlan, Trigger } from "./plan.ts";
import type { Random } from "./random.ts";
import { drawTargets } from "./targets.ts";
import { isInside, type Place, type Tree } from "./tree.ts";
import { drawDescriptors, drawRaised } from "./vocabulary.ts";

export interface Surroundings {
  readonly random: Random;
  readonly tree: Tree;
  readonly matching: Plan["matching"];
  readonly counters: number;
  readonly dialect: Dialect;
  /** Whether transitions may cross from one region of a parallel state into another. */
  readonly roams: boolean;
}

/** A block that tells where it is and sometimes does something besides. */
export function drawBlock(around: Surroundings, label: string): ActionPlan[] {
  const { random, counters, dialect } = around;
  const actions: ActionPlan[] = random.chance(0.85) ? [{ log: label }] : [];
  const count = random.chance(0.3) ? random.between(1, 2) : 0;
  for (let index = 0; index < count; index++)
    actions.splice(random.below(actions.length + 1), 0, drawAction(random, counters));
  if (dialect === "native" && random.chance(0.2)) {
    const state = drawActive(around);
    actions.push({ log: `${label} in ${state}`, in: state });
  }
  return actions;
}

function drawAction(random: Random, counters: number): ActionPlan {
  const roll = random.next();
  if (roll < 0.45) return { count: random.below(counters) };
  if (roll < 0.9)
    return { raise: drawRaised(random), counter: random.below(counters), below: random.between(1, 6) };
  if (roll < 0.902) return { raise: drawRaised(random) };
  return { throws: true };
}

/** The entry or exit of a state: nothing, one block, or two. */
export function drawBlocks(around: Surroundings, label: string): ActionPlan[][] {
  const roll = around.random.next();
  if (roll < 0.1) return [];
  if (roll < 0.9) return [drawBlock(around, label)].filter((block) => block.length > 0);
  return [drawBlock(around, `${label}/1`), drawBlock(around, `${label}/2`)].filter(
    (block) => block.length > 0,
  );
}

/** The transitions of one state. */
export function drawTransitions(around: Surroundings, source: Place): TransitionPlan[] {
  const { random } = around;
  const { kind, key } = source.state;
  if (kind === "final" || kind === "history") return [];
  const count = random.pick([0, 1, 1, 2, 2, 3]);
  return Array.from({ length: count }, (_, index) => drawTransition(around, source, `${key}>${index}`));
}

function drawTransition(around: Surroundings, source: Place, label: string): TransitionPlan {
  const { random, tree, counters, roams } = around;
  const trigger = drawTrigger(around, source);
  const targets = drawTargets(random, source, tree, roams);
  const actions = drawBlock(around, label);
  if ("always" in trigger)
    return { trigger, targets, ...drawAlways(around, actions), ...drawReenter(around) };
  // What takes its own consequences again, such as errors, would do so for ever without a limit.
  const risky = "done" in trigger || trigger.events.some((event) => /^(\*|error)/.test(event));
  const limit = risky && random.chance(0.98) ? random.below(counters) : undefined;
  const guard = random.chance(0.35) ? drawGuard(around, 2, source) : undefined;
  return {
    trigger,
    targets,
    ...drawReenter(around),
    ...(limit === undefined
      ? { ...(guard === undefined ? {} : { guard }), actions }
      : { guard: { counter: limit, below: random.between(2, 8) }, actions: [{ count: limit }, ...actions] }),
  };
}

/** Eventless transitions nearly always use up a counter, or their chart would run for ever. */
function drawAlways(
  around: Surroundings,
  actions: readonly ActionPlan[],
): Pick<TransitionPlan, "guard" | "actions"> {
  const { random, counters } = around;
  if (random.chance(0.002)) return { guard: drawGuard(around, 1, undefined), actions };
  const counter = random.below(counters);
  const limited: GuardPlan = { counter, below: random.between(1, 6) };
  const guard: GuardPlan = random.chance(0.4) ? { and: [limited, drawGuard(around, 1, undefined)] } : limited;
  return { guard, actions: [{ count: counter }, ...actions] };
}

const drawReenter = ({ random }: Surroundings): Pick<TransitionPlan, "reenter"> =>
  random.chance(0.4) ? { reenter: true } : {};

function drawTrigger({ random, matching }: Surroundings, { state, parent }: Place): Trigger {
  const hasEnd = state.kind === "parallel" || state.states.some((child) => child.kind === "final");
  const canBeDone = parent !== undefined && hasEnd;
  if (canBeDone && random.chance(0.4)) return { done: true };
  if (random.chance(0.15)) return { always: true };
  return { events: drawDescriptors(random, matching) };
}

/**
 * A guard. Eventless ones, which have no source here, must not throw: they are asked between events too, where one would
 * raise its error event for ever; and in the shared dialect they do not look at the event, which SCION shows them too
 * early. Of the others only those of atomic states throw: the rest are asked once for each active leaf below, and
 * whether each time is an error is left open here.
 */
function drawGuard(around: Surroundings, depth: number, source: Place | undefined): GuardPlan {
  const { random, counters, dialect } = around;
  const inner = (): GuardPlan => drawGuard(around, depth - 1, source);
  const roll = random.next();
  if (depth > 0 && roll < 0.15) return { not: inner() };
  if (depth > 0 && roll < 0.25) return { and: [inner(), inner()] };
  if (depth > 0 && roll < 0.35) return { or: [inner(), inner()] };
  if (roll < 0.55) return { in: drawActive(around) };
  if ((source !== undefined || dialect === "native") && roll < 0.7)
    return { parity: random.chance(0.5) ? 0 : 1 };
  if (source?.state.kind === "atomic" && roll < 0.74) return { throws: true };
  if (roll < 0.87) return { counter: random.below(counters), odd: true };
  return { counter: random.below(counters), below: random.between(1, 8) };
}

/** A state that could be active. */
const drawActive = ({ random, tree }: Surroundings): string =>
  random.pick(
    [...tree.values()].filter(({ state, parent }) => state.kind !== "history" && parent !== undefined),
  ).state.key;

/** Whether all targets are the source itself or lie inside it. */
export const staysInside = (source: Place, targets: readonly Place[]): boolean =>
  targets.length > 0 && targets.every((target) => target === source || isInside(target, source));
