/**
 * A microstep: leave, act, enter. All exits come first, then all transitions' actions, then all entries, across the
 * whole set of transitions. https://www.w3.org/TR/scxml/#microstepProcedure
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Contract, Entry, Plan, StateNode, TransitionNode } from "./chart.ts";
import { doneStateType, type Event } from "./event.ts";
import { freeze, type Json } from "./json.ts";
import { planFor } from "./plan.ts";
import type { Timer } from "./state.ts";
import { withPolicy } from "./timer.ts";
import type { Work } from "./work.ts";
import { settleWrites } from "./writes.ts";

/** Takes the transitions. `event` is what enabled them; undefined for eventless ones. */
export function takeTransitions(
  work: Work,
  transitions: readonly TransitionNode[],
  event: Event | undefined,
): void {
  const plan = planFor(work.chart, work.configuration, transitions, work.history);
  takePlan(work, plan, event);
}

/** Carries out a plan: afterwards the work is in the plan's next configuration. */
export function takePlan(work: Work, plan: Plan, event: Event | undefined): void {
  countMicrostep(work, plan, event);
  work.tracer?.microstep(event, plan);
  work.plan = plan;
  work.exitedCount = 0;
  work.enteredCount = 0;
  if (plan.remembers.length > 0) remember(work, plan);
  if (plan.quiet) work.exitedCount = plan.exits.length;
  else for (const node of plan.exits) leave(work, node);
  for (const transition of plan.transitions) act(work, transition);
  if (!plan.quiet) for (const entry of plan.entries) enter(work, entry);
  work.configuration = plan.next;
  work.plan = undefined;
  if (work.writes !== undefined) settleRegions(work);
}

/** Settles what parallel regions wrote since the last time; throws where they contradict each other. */
export function settleRegions(work: Work): void {
  if (work.writes !== undefined && work.writes.length > 1) {
    work.context = settleWrites(work.writes, work.context);
  }
  work.writes = undefined;
}

/** Histories are filled before any exit action runs, so that they see the states as they were. */
function remember(work: Work, plan: Plan): void {
  const history = { ...work.history };
  for (const { history: node, paths } of plan.remembers) history[node.path] = paths;
  work.history = freeze(history);
}

/** Runs a state's exit actions and ends what belongs to it. */
export function leave(work: Work, node: StateNode, judged = true): void {
  const before = work.context;
  for (const block of node.exit) block(work);
  if (judged) check(work, node.ensure, "ensure", node.path, before);
  const owned = ({ state }: { readonly state?: string }) => state === node.path;
  if (node.delays.length > 0) work.cancelTimers(owned);
  if (node.invokes.length > 0) {
    work.cancelActivities(owned);
    work.cancelChildren(owned);
    if (work.entered !== undefined) work.entered = work.entered.filter((one) => one !== node);
  }
  work.exitedCount++;
}

function act(work: Work, transition: TransitionNode): void {
  const { run, require, ensure } = transition;
  if (require.length > 0) check(work, require, "require", transition.source.path, work.context);
  const before = work.context;
  run?.(work);
  if (ensure.length > 0) check(work, ensure, "ensure", transition.source.path, before);
}

function enter(work: Work, { node, initial, fallback, stays }: Entry): void {
  if (stays) {
    initial?.(work);
    fallback?.(work);
    work.enteredCount++;
    return;
  }
  check(work, node.require, "require", node.path, work.context);
  work.enteredCount++;
  if (node.invokes.length > 0) work.entered = [...(work.entered ?? []), node];
  node.declare?.(work);
  for (const block of node.entry) block(work);
  initial?.(work);
  fallback?.(work);
  for (const delay of node.delays) startDelay(work, node, delay);
  if (node.kind === "final") announceDone(work, node);
}

/** Starts the timer of one delay of a state. */
export function startDelay(work: Work, node: StateNode, delay: StateNode["delays"][number]): void {
  try {
    const { at } = work.options;
    const ms = delay.ms(work);
    const timer: Timer = {
      key: work.nextKey(),
      due: at + ms,
      event: freeze({ type: delay.type, kind: "platform" }),
      state: node.path,
    };
    work.addTimer(withPolicy(timer, delay.resume, at, ms));
  } catch (error) {
    work.fail(error);
  }
}

/** A final child ends its parent; when all regions have ended, so has the parallel state around them. */
export function announceDone(work: Work, node: StateNode): void {
  const parent = node.parent as StateNode;
  if (parent.parent === undefined) return;
  const data = outputOf(work, node);
  const type = doneStateType(parent.name);
  work.enqueue(freeze(data === undefined ? { type, kind: "platform" } : { type, kind: "platform", data }));
  const around = parent.parent;
  if (around.kind === "parallel" && around.parent !== undefined && isDone(work, around)) {
    work.enqueue(freeze({ type: doneStateType(around.name), kind: "platform" }));
  }
}

/** Whether a state has run its course. https://www.w3.org/TR/scxml/#isInFinalState */
function isDone(work: Work, node: StateNode): boolean {
  if (node.kind === "parallel") return node.children.every((region) => isDone(work, region));
  return node.children.some((child) => child.kind === "final" && work.isActive(child));
}

export function outputOf(work: Work, node: StateNode): Json | undefined {
  try {
    return node.output?.(work);
  } catch (error) {
    work.fail(error);
    return undefined;
  }
}

/** Refuses the step if a contract does not hold; one that throws does not. */
export function check(
  work: Work,
  contracts: readonly Contract[],
  kind: "require" | "ensure",
  place: string,
  old: Work["context"],
): void {
  for (const { name, holds } of contracts) {
    work.old = old;
    let cause: unknown;
    try {
      if (holds(work)) continue;
    } catch (error) {
      cause = error;
    }
    throw new HoldfastError(
      "CONTRACT_VIOLATED",
      `The step on ${JSON.stringify(work.given.type)} was refused: ${kind} ${JSON.stringify(name)} of ${JSON.stringify(place)} does not hold`,
      { details: { contract: name, kind, state: place, event: work.given.type }, cause },
    );
  }
}

/** Bounds the step, and remembers enough to show the loop when the bound is met. */
function countMicrostep(work: Work, plan: Plan, event: Event | undefined): void {
  const left = limits.microstepsMax - ++work.microsteps;
  if (left >= limits.loopShownMax) return;
  const on = event === undefined ? "always" : event.type;
  work.loop ??= [];
  work.loop.push(`${work.configuration.paths.join(", ")} --${on}--> ${plan.next.paths.join(", ")}`);
  if (left >= 0) return;
  throw new HoldfastError(
    "STEP_UNBOUNDED",
    `The step on ${JSON.stringify(work.given.type)} did not end after ${limits.microstepsMax} microsteps; it goes round:\n  ${cycleOf(work.loop).join("\n  ")}`,
    { details: { loop: cycleOf(work.loop) } },
  );
}

/** The part of the tail that repeats. */
function cycleOf(lines: readonly string[]): readonly string[] {
  const last = lines.length - 1;
  const before = lines.lastIndexOf(lines[last] as string, last - 1);
  return before < 0 ? lines.slice(-limits.loopShownMax) : lines.slice(before + 1);
}
