/**
 * Going back, worked out a second time: the state and the effects that a rollback or a fork must have, from the entry it
 * goes back to. Written anew, since the code that does it is what is judged.
 */
import type { ActivityEffect, Effect, Event, JsonObject, Outcome, SpawnEffect, State, Timer } from "holdfast";
import { compensationId } from "../../src/core/event.ts";
import { moveBy } from "./moving.ts";

/** What stepping gives. */
export interface Stepped {
  readonly state: State;
  readonly outcome: Outcome;
  readonly effects: readonly Effect[];
  /** Deferred events that were let go of. */
  readonly dropped: readonly Event[];
}

interface Keyed {
  readonly key: string;
}

const has = (items: readonly Keyed[], wanted: Keyed): boolean => items.some(({ key }) => key === wanted.key);

/** A step as it went into the journal. */
interface Past {
  readonly at: number;
  readonly effects: readonly Effect[];
  readonly stepped: Stepped;
}

/** Where a run goes back to: a checkpoint of these entries, its own or for a fork those of its source. */
export interface Place {
  readonly entries: readonly Past[];
  readonly seq: number;
}

/** The step with which a run goes back to `place`; without a current state, the one with which a fork begins there. */
export function rewound(
  current: State | undefined,
  { entries, seq }: Place,
  at: number,
  edit?: (context: JsonObject) => void,
): Stepped {
  const past = entries[seq - 1] as Past;
  const { state } = past.stepped;
  const newest = Math.max(state.seq, current?.seq ?? 0) + 1;
  let named = 0;
  const nextKey = () => `${newest}.${named++}`;
  const effects: Effect[] = current === undefined ? [] : cancelled(current, state);
  const timers = state.timers.map((timer) => {
    const running = current?.timers.find(({ key }) => key === timer.key);
    if (running !== undefined) return running;
    const again = { ...setAgain(timer, past.at, at), key: nextKey() };
    effects.push({ type: "timer", key: again.key, due: again.due });
    return again;
  });
  const again = <Item extends Keyed>(items: readonly Item[], still: readonly Item[] = []): Item[] =>
    items.map((item) => {
      if (has(still, item)) return item;
      const key = nextKey();
      const begun = begunWith(entries, item);
      // What was undone is not undone again: whoever waits for that hears of nothing.
      effects.push({ ...begun, ...(undoes(state, item) && { input: { steps: [] } }), key });
      return { ...item, key };
    });
  const activities = again(state.activities, current?.activities);
  const children = again(state.children, current?.children);
  // What is being undone is undone to the end.
  for (const child of current?.children ?? [])
    if (undoes(state, child) && !has(state.children, child)) children.push(child);
  const context = structuredClone(state.context);
  edit?.(context);
  const { compensations: _, ...rest } = state;
  const undo = current?.compensations;
  return {
    state: {
      ...{ ...rest, context, seq: newest, timers, activities, children },
      ...(undo === undefined ? {} : { compensations: undo }),
    },
    outcome: "taken",
    effects,
    dropped: current === undefined ? [] : since(current.deferred, state.deferred),
  };
}

/** Whether something under way is the child that undoes what the run did. */
function undoes({ machine }: State, item: object): boolean {
  return (item as { readonly machine?: string }).machine === `${machine}/${compensationId}`;
}

/** What was begun since is not wanted any more. */
function cancelled(current: State, past: State): Effect[] {
  const effects: Effect[] = [];
  for (const [of, list] of [
    ["timer", "timers"],
    ["activity", "activities"],
    ["child", "children"],
  ] as const)
    for (const item of current[list])
      if (!has(past[list], item) && !undoes(past, item)) {
        const { key, id } = item;
        effects.push({ type: "cancel", of, key, ...(id === undefined ? {} : { id }) });
      }
  return effects;
}

/** The events that were not there then; of equals, as many as have come. */
function since(now: readonly Event[], then: readonly Event[]): Event[] {
  const left = then.map((event) => JSON.stringify(event));
  return now.filter((event) => {
    const place = left.indexOf(JSON.stringify(event));
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
}

/** A timer after an outage. */
export function setAgain(timer: Timer, from: number, until: number): Timer {
  const { resume, due, since, ms } = timer;
  if (resume === undefined) return timer;
  const moving = { due, since: since as number };
  moveBy(moving, { from, until }, resume, ms as number);
  return { ...timer, ...moving };
}

/** What an invocation under way was begun with. */
function begunWith(entries: readonly Past[], { key }: Keyed): ActivityEffect | SpawnEffect {
  for (const { effects } of entries)
    for (const effect of effects)
      if ((effect.type === "activity" || effect.type === "spawn") && effect.key === key) return effect;
  throw new Error(`nobody began ${key}`);
}
