/**
 * Evolution: the step with which a run goes from one definition of its machine to another. Pure like every other step.
 *
 * E1. Either the whole run goes, with everything it waits for, or it stays as it is and the report says why.
 * E2. A run is moved, not walked: no exit or entry actions. What is new in the states it is in begins, and then the
 *     machine goes on until it is stable, as after any event.
 * E3. What runs keeps its key, and a timer the time it is due.
 */
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import { admitCall, admitState } from "../admit.ts";
import type { Configuration, Delay, InvokeNode, StateNode } from "../chart.ts";
import { type Event, migrateEvent, sentBy } from "../event.ts";
import { startInvocation } from "../invocation.ts";
import { freeze, freezeDeep } from "../json.ts";
import { announceDone, startDelay } from "../microstep.ts";
import { inside, messageOf } from "../problem.ts";
import type { Activity, Child, State, Timer } from "../state.ts";
import { finish, recall, type Step, settle, withModel } from "../step.ts";
import { type AskedOptions, Work } from "../work.ts";
import { moveContext, problemsIn } from "./context.ts";
import { moveDeferred } from "./events.ts";
import { Invocations } from "./invocations.ts";
import { identity, type Mapping } from "./mapping.ts";
import type { Migration } from "./migration.ts";
import { type Evolvable, Move } from "./move.ts";
import { moveConfiguration, moveHistory } from "./place.ts";
import { type EvolutionReport, type Pending, pendingActivity, pendingChild, pendingTimer } from "./report.ts";
import { Timers } from "./timers.ts";
import { moveCompensations, moveMaps } from "./undoing.ts";

export interface EvolveOptions extends AskedOptions {
  /** What is where in the other definition; without one, everything is where it was. */
  readonly migration?: Migration;
  /** Let go of pending things that cannot survive; without it they stand in the way. */
  readonly drop?: boolean;
  /** Go back, as the migration's `back` says. */
  readonly reverse?: boolean;
}

export type Evolved =
  | { readonly outcome: "moved"; readonly step: Step; readonly report: EvolutionReport }
  | { readonly outcome: "refused"; readonly report: EvolutionReport };

/**
 * The step that takes a run from one definition to another, or why it cannot be taken. Throws STATE_INVALID for a state
 * that is not of `from`, and MIGRATION_INVALID for a migration between other definitions.
 */
export function evolve(
  from: Evolvable,
  to: Evolvable,
  state: State<object>,
  options: EvolveOptions,
): Evolved {
  admitCall(to, options.at);
  const given = state as State;
  const before = admitState(from, given);
  const mapping = mappingOf(from, to, options);
  const move = new Move({ from, to }, given, before, {
    mapping,
    drop: options.drop === true,
    at: options.at,
  });
  if (given.status !== "active")
    move.problem("status", `is ${given.status}`, "a run that has ended stays what it was");
  const moved = moveState(move);
  if (moved === undefined || move.report().refused.length > 0)
    return { outcome: "refused", report: move.report() };
  const step = stepFrom(move, moved, options);
  const report = move.report();
  if (step === undefined || report.refused.length > 0) return { outcome: "refused", report };
  return { outcome: "moved", step, report };
}

function mappingOf(from: Evolvable, to: Evolvable, { migration, reverse }: EvolveOptions): Mapping {
  if (from.id !== to.id)
    throw new HoldfastError(
      "MIGRATION_INVALID",
      `A run of ${from.id} cannot become one of ${to.id}: it keeps its machine`,
    );
  if (migration === undefined) return identity;
  const [first, last] = reverse === true ? [to, from] : [from, to];
  const { id, from: old, to: now, mapping, back } = migration;
  if (id !== from.id || old !== first.version || now !== last.version)
    throw new HoldfastError(
      "MIGRATION_INVALID",
      `The migration is from ${id}@${old} to ${id}@${now}, and was used from ${from.id}@${from.version} to ${to.id}@${to.version}${reverse === true ? ", in reverse" : ""}`,
    );
  if (reverse !== true) return mapping;
  if (back !== undefined) return back;
  throw new HoldfastError(
    "MIGRATION_INVALID",
    `The migration from ${id}@${old} to ${id}@${now} cannot be reversed: it has no \`back\``,
  );
}

/** What a run takes along, and what begins with it. */
interface Moved {
  readonly state: State;
  readonly configuration: Configuration;
  readonly timers: Timers;
  readonly invocations: Invocations;
}

function moveState(move: Move): Moved | undefined {
  const { state, to } = move;
  const configuration = moveConfiguration(move);
  const context = moveContext(move);
  const history = moveHistory(move);
  const invocations = new Invocations(move);
  const activities = invocations.activities();
  const children = invocations.children();
  const timers = new Timers(move, invocations.childIds);
  const { compensations: _, maps: __, ...rest } = state;
  const compensations = moveCompensations(move);
  const maps = moveMaps(move);
  const parts = {
    history,
    timers: sameList(state.timers, timers.timers()),
    activities: sameList(state.activities, activities),
    children: sameList(state.children, children),
    deferred: sameList(state.deferred, moveDeferred(move)),
    ...(compensations === undefined ? {} : { compensations }),
    ...(maps === undefined ? {} : { maps }),
  };
  if (configuration === undefined || context === undefined) return undefined;
  const place = { version: to.version, configuration: configuration.paths, context };
  return { state: freeze({ ...rest, ...place, ...parts }), configuration, timers, invocations };
}

function sameList<Item>(before: readonly Item[], now: readonly Item[]): readonly Item[] {
  const isSame = before.length === now.length && now.every((item, index) => item === before[index]);
  return isSame ? before : freeze(now as Item[]);
}

/** The step from where the run has been put; undefined, with the problem told, if it is refused. */
function stepFrom(move: Move, moved: Moved, options: AskedOptions): Step | undefined {
  const event = freezeDeep(sentBy(migrateEvent(move.state.version, move.to.version), options.by));
  const work = new Work(move.chart, moved.state, moved.configuration, event, options);
  cancelWhatIsGone(work, move.state);
  try {
    const step = withModel(work, (under) => {
      if (!moved.configuration.final) begin(under, move, moved);
      settle(under);
      if (under.deferred.length > 0) recall(under);
      return finish(under, "taken");
    });
    const gone = move.state.deferred.filter((one) => !move.keeps(one));
    move.settle((pending, now) => fateIn(step, pending, now));
    return gone.length === 0 ? step : { ...step, dropped: freeze([...gone, ...step.dropped]) };
  } catch (error) {
    if (!isHoldfastError(error)) throw error;
    if (error.code === "CONTEXT_INVALID")
      for (const { path, problem } of problemsIn(error)) move.problem(path, problem);
    else move.problem("step", messageOf(error));
    return undefined;
  }
}

/** What was let go of is cancelled. */
function cancelWhatIsGone(work: Work, before: State): void {
  const kept = new Set([...work.timers, ...work.activities, ...work.children].map(({ key }) => key));
  const isGone = ({ key }: { readonly key: string }) => !kept.has(key);
  const gone = [
    before.timers.filter(isGone),
    before.activities.filter(isGone),
    before.children.filter(isGone),
  ];
  const [timers, activities, children] = gone as [Timer[], Activity[], Child[]];
  if (timers.length > 0) work.timers = [...work.timers, ...timers];
  if (activities.length > 0) work.activities = [...work.activities, ...activities];
  if (children.length > 0) work.children = [...work.children, ...children];
  work.cancelTimers(isGone);
  work.cancelActivities(isGone);
  work.cancelChildren(isGone);
}

/** Begins what the new definition has in the active states, and the old one had not. */
function begin(work: Work, move: Move, { configuration, timers, invocations }: Moved): void {
  for (const leaf of configuration.leaves) if (isNewlyFinal(move, leaf)) announceDone(work, leaf);
  // Where several regions have ended at once, each finds that all have.
  const types = new Set<string>();
  work.queue = work.queue?.filter(({ type }) => !types.has(type) && types.add(type));
  for (const { node, index } of timers.beginning()) {
    const { length } = work.timers;
    attempt(work, move, inside("after", index), node, () =>
      startDelay(work, node, node.delays[index] as Delay),
    );
    for (const timer of work.timers.slice(length)) move.begun.push(pendingTimer(timer));
  }
  for (const { node, index } of invocations.beginning()) {
    const { activities, children } = work;
    const start = () => startInvocation(work, node, node.invokes[index] as InvokeNode, index);
    attempt(work, move, inside("invoke", index), node, start);
    move.begun.push(...work.activities.slice(activities.length).map(pendingActivity));
    move.begun.push(...work.children.slice(children.length).map(pendingChild));
  }
}

/** Whether a leaf has ended its parent only now: nothing else will say so. */
function isNewlyFinal({ counterparts }: Move, leaf: StateNode): boolean {
  return leaf.kind === "final" && !counterparts.some(({ old, now }) => now === leaf && old.kind === "final");
}

/** What cannot begin stands in the way: the run would wait for it in vain. */
function attempt(work: Work, move: Move, place: string, node: StateNode, start: () => void): void {
  const { length } = work.errors;
  start();
  for (const { data } of work.errors.slice(length))
    move.problem(
      node.path === "" ? place : `${node.path}.${place}`,
      `cannot begin: ${messageOf(data)}`,
      "let it depend on the context only: the event under way is the migration",
    );
}

/** What became of something in the step that took it along. */
function fateIn(
  { state, dropped }: Step,
  { kind, name, key }: Pending,
  now: object,
): "kept" | "ended" | "lost" {
  const isThere = (items: readonly { readonly key: string }[]) => items.some((one) => one.key === key);
  const there = {
    timer: () => isThere(state.timers),
    activity: () => isThere(state.activities),
    child: () => isThere(state.children),
    compensation: () => isThere(state.compensations ?? []),
    map: () => Object.hasOwn(state.maps ?? {}, name),
    history: () => true,
    event: () => state.deferred.includes(now as Event),
  };
  if (there[kind]()) return "kept";
  return kind === "event" && dropped.includes(now as Event) ? "lost" : "ended";
}
