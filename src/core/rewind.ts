/**
 * Going back: the step with which a run returns to a state it was in before, or with which a fork begins from one.
 *
 * R1. It is a step like any other: nothing is taken out of the past, and what follows goes on from the newest seq.
 * R2. What was begun since is cancelled. What was under way then and still is stays as it is; what was under way then and
 *     has ended since begins again, under a new key.
 * R3. What was done stays done: a run that goes back keeps what would undo it, and what is being undone is undone to the
 *     end, once. A fork has nothing to undo: what was done before it is its source's.
 */
import { HoldfastError } from "../errors.ts";
import { admitCall, admitState } from "./admit.ts";
import { produce } from "./draft.ts";
import type { ActivityEffect, SpawnEffect } from "./effect.ts";
import { compensationName, type Event, forkEvent, rollbackEvent, sentBy } from "./event.ts";
import { freeze, freezeDeep, type Json, type JsonObject } from "./json.ts";
import type { Machine } from "./machine.ts";
import type { State, Timer } from "./state.ts";
import { finish, type Step, settle, withModel } from "./step.ts";
import { resumedDue } from "./timer.ts";
import { type AskedOptions, Work, without } from "./work.ts";

/** A state to go back to, and what is needed to go on from there. */
export interface Past {
  readonly state: State;
  /** The checkpoint it stands at, and when that was: the time since then is an outage for its timers. */
  readonly seq: number;
  readonly at: number;
  /** What the invocations under way there were begun with, by key. */
  readonly begun: ReadonlyMap<string, ActivityEffect | SpawnEffect>;
}

/** Changes a context in place. */
export type Edit = (context: JsonObject) => void;

export interface RewindOptions extends AskedOptions {
  /** Changes the context to go on with. */
  readonly edit?: Edit;
}

/** The step with which a run goes back. Throws STATE_INVALID for a past that had ended, or is not this machine's. */
export function rollBack(machine: Machine, current: State, past: Past, options: RewindOptions): Step {
  return rewind(machine, current, past, rollbackEvent(past.seq), options);
}

/** The step with which a fork begins. Throws STATE_INVALID as `rollBack` does. */
export function beginFork(machine: Machine, source: string, past: Past, options: RewindOptions): Step {
  return rewind(machine, undefined, past, forkEvent(source, past.seq), options);
}

function rewind(
  machine: Machine,
  current: State | undefined,
  past: Past,
  event: Event,
  { edit, by, ...options }: RewindOptions,
): Step {
  const { state } = past;
  admitCall(machine, options.at);
  const configuration = admitState(machine, state);
  if (state.status !== "active") {
    throw new HoldfastError(
      "STATE_INVALID",
      `At checkpoint ${past.seq} the run was ${state.status}: there is nothing to go on with`,
    );
  }
  // Whatever begins from here on is named after all that was.
  const seq = Math.max(state.seq, current?.seq ?? 0);
  const sent = freezeDeep(sentBy(event, by));
  const work = new Work(machine.chart, freeze({ ...state, seq }), configuration, sent, options);
  if (current !== undefined) cancelSince(work, current);
  work.timers = againTimers(work, current, past);
  beginAgain(work, current, past.begun);
  work.compensations = current?.compensations;
  return withModel(work, () => {
    if (edit !== undefined) {
      work.context = freezeDeep(produce(work.context, edit, undefined));
      settle(work);
    }
    return finish(work, "taken");
  });
}

/** What began after that state is not wanted any more, and what was deferred since is gone. */
function cancelSince(work: Work, current: State): void {
  const { before } = work;
  for (const [of, items, then] of [
    ["timer", current.timers, before.timers],
    ["activity", current.activities, before.activities],
    ["child", current.children, before.children],
  ] as const)
    for (const item of items)
      if (!has(then, item.key) && !undoes(work, item)) {
        const { key, id } = item;
        work.effect({ type: "cancel", of, key, ...(id === undefined ? {} : { id }) });
      }
  const left = before.deferred.map((event) => JSON.stringify(event));
  work.dropped = without(current.deferred, (event) => {
    const place = left.indexOf(JSON.stringify(event));
    if (place >= 0) left.splice(place, 1);
    return place >= 0;
  });
}

/** Its timers: those that still run as they are now, the others set again. */
function againTimers(work: Work, current: State | undefined, { state, at }: Past): readonly Timer[] {
  const outage = [{ from: at, until: work.at }];
  const timers = state.timers.map((timer) => {
    const running = current?.timers.find(({ key }) => key === timer.key);
    if (running !== undefined) return running;
    const again = freeze({ ...timer, ...resumedDue(timer, outage), key: work.nextKey() });
    work.effect({ type: "timer", key: again.key, due: again.due });
    return again;
  });
  return timers.length === 0 ? state.timers : freeze(timers);
}

/** Its invocations: those that are still under way stay, the others begin once more with what they were given. */
function beginAgain(work: Work, current: State | undefined, begun: Past["begun"]): void {
  const { activities, children } = work.before;
  work.activities = without(activities, () => true);
  work.children = without(children, () => true);
  for (const activity of activities) {
    const effect = begun.get(activity.key);
    if (has(current?.activities, activity.key)) work.activities = freeze([...work.activities, activity]);
    else if (effect?.type === "activity")
      work.addActivity({ ...activity, key: work.nextKey() }, effect.input, effect.options);
    else throw lostError(activity.key);
  }
  for (const child of children) {
    const effect = begun.get(child.key);
    if (has(current?.children, child.key)) work.children = freeze([...work.children, child]);
    else if (undoes(work, child)) work.addChild({ ...child, key: work.nextKey() }, nothingToUndo);
    else if (effect?.type === "spawn") work.addChild({ ...child, key: work.nextKey() }, effect.input);
    else throw lostError(child.key);
  }
  // What is being undone is undone to the end.
  const undoing = current?.children.filter((child) => undoes(work, child) && !has(children, child.key)) ?? [];
  if (undoing.length > 0) work.children = freeze([...work.children, ...undoing]);
}

/** What was undone is not undone again; whoever waits for it hears at once. */
const nothingToUndo: Json = freezeDeep({ steps: [] });

/** Whether something under way is the child that undoes what was done. */
function undoes({ chart }: Work, item: object): boolean {
  return (item as { readonly machine?: string }).machine === compensationName(chart.id);
}

function has(items: readonly { readonly key: string }[] | undefined, wanted: string): boolean {
  return items?.some(({ key }) => key === wanted) === true;
}

function lostError(key: string): HoldfastError {
  return new HoldfastError(
    "STATE_INVALID",
    `Nobody knows what the invocation ${key} was begun with: its entry is not in the journal any more`,
  );
}
