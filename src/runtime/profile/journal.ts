/**
 * Where a run's time went, told by its journal alone: nothing was measured while it ran, so it works for any run, be it
 * years old. What the journal does not know (queues, the store, the processor) `profiler.ts` measures.
 *
 * A state's time is told apart by what it waited for, the first of these that holds: the run was parked; an activity
 * of the state, or of one around it, was under way; so was a child; the event it took next came from a timer; else it
 * waited for an event from elsewhere. So the five make up its time.
 */
import { settles, settlesWell } from "../../core/event.ts";
import type { Json } from "../../core/json.ts";
import { apply } from "../../core/patch.ts";
import type { State } from "../../core/state.ts";
import type { Entry } from "../../store/journal.ts";
import type { RunHead } from "../../store/records.ts";
import { isControl } from "../control.ts";
import type { Past } from "../live/past.ts";

/** Milliseconds, by what was waited for. */
export interface Waits {
  readonly activity: number;
  readonly child: number;
  readonly timer: number;
  readonly event: number;
  readonly parked: number;
}

/** What a run spent in one of its states. */
export interface StateProfile {
  readonly state: string;
  /** How often it came there from elsewhere. */
  readonly visits: number;
  /** Steps that were taken there. */
  readonly steps: number;
  readonly ms: number;
  readonly waits: Waits;
}

/** What a run spent with one of its activities, from the step that began it to the one that settled it. */
export interface ActivityProfile {
  readonly activity: string;
  readonly begun: number;
  readonly done: number;
  readonly failed: number;
  /** Those that nobody wanted to the end. */
  readonly cancelled: number;
  /** At least: the journal tells of those that failed how often they were tried, of others only that they were. */
  readonly attempts: number;
  readonly ms: number;
  readonly maxMs: number;
}

export interface RunProfile {
  readonly steps: number;
  /** From its first step to its last one, or to now if it goes on. */
  readonly ms: number;
  /** The leaves it was in, the longest first. Regions are there at the same time, so theirs add up to more than `ms`. */
  readonly states: readonly StateProfile[];
  /** The longest first. */
  readonly activities: readonly ActivityProfile[];
}

export interface ProfileOptions {
  /** The state before the first entry, where there was one, as with a fork. */
  readonly origin?: Json;
  /** The time to which a run that goes on is told; its last entry unless given. */
  readonly until?: number;
}

/** The profile of a run whose whole journal this is. */
export function profileOf(entries: Iterable<Entry>, { origin, until }: ProfileOptions = {}): RunProfile {
  const timeline = new Timeline(origin ?? null);
  for (const entry of entries) timeline.add(entry);
  return timeline.end(until);
}

/** The profile of a run that is stored, read page by page. */
export async function readProfile(past: Past, head: RunHead, now: number): Promise<RunProfile> {
  const timeline = new Timeline((await past.origin(head)).state);
  for await (const entry of past.entries(head)) timeline.add(entry);
  return timeline.end(now);
}

type Changing<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };
interface StateTally extends Changing<Omit<StateProfile, "waits">> {
  readonly waits: Changing<Waits>;
  /** Time that is a timer's or an event's: the next step tells. */
  idleMs: number;
}
type ActivityTally = Changing<ActivityProfile>;

class Timeline {
  #state: Json;
  #from = 0;
  #at = 0;
  #steps = 0;
  #parked = false;
  readonly #states = new Map<string, StateTally>();
  readonly #activities = new Map<string, ActivityTally>();
  /** By key, those under way: what they are and since when. */
  readonly #under = new Map<string, { readonly activity: string; readonly at: number }>();

  constructor(origin: Json) {
    this.#state = origin;
  }

  add(entry: Entry): void {
    if (this.#steps++ === 0) this.#from = this.#at = entry.at;
    // What a fork begins with it has not been in before.
    const before = this.#steps === 1 ? [] : this.#configuration;
    const timers = this.#current?.timers ?? [];
    this.#pass(entry.at);
    for (const leaf of before) this.#tally(leaf).steps++;
    // What the context holds says nothing about time, and is most of what changes.
    const patches = entry.patches.filter(({ path }) => path[0] !== "context");
    if (patches.length > 0) this.#state = apply(this.#state, patches);
    const after = this.#configuration;
    for (const leaf of before) {
      const told = after.includes(leaf) ? toldBy(entry, leaf, before.length > 1, timers) : causeOf(entry);
      if (told !== undefined) this.#settleIdle(leaf, told);
    }
    for (const leaf of after) if (!before.includes(leaf)) this.#tally(leaf).visits++;
    this.#parked = isParkedAfter(this.#parked, entry);
    this.#follow(entry);
  }

  end(now = this.#at): RunProfile {
    if (this.#steps > 0) this.#pass(now);
    const timers = this.#current?.timers ?? [];
    for (const leaf of this.#states.keys())
      this.#settleIdle(leaf, timers.some(({ state }) => covers(state, leaf)) ? "timer" : "event");
    for (const { activity, at } of this.#under.values()) this.#spend(activity, this.#at - at);
    return {
      steps: this.#steps,
      ms: this.#at - this.#from,
      states: [...this.#states.values()].map(({ idleMs: _, ...state }) => state).sort(longestFirst),
      activities: [...this.#activities.values()].sort(longestFirst),
    };
  }

  get #current(): State | undefined {
    return (this.#state as unknown as State | null) ?? undefined;
  }

  get #configuration(): readonly string[] {
    return this.#current?.configuration ?? [];
  }

  /** Time passes in the states the run is in, until it ends. A clock that was set back takes none of it away. */
  #pass(at: number): void {
    const ms = at - this.#at;
    if (ms <= 0 || this.#current?.status !== "active") return;
    this.#at = at;
    for (const leaf of this.#configuration) {
      const tally = this.#tally(leaf);
      const cause = this.#causeFor(leaf);
      tally.ms += ms;
      if (cause === undefined) tally.idleMs += ms;
      else tally.waits[cause] += ms;
    }
  }

  #causeFor(leaf: string): "parked" | "activity" | "child" | undefined {
    const { activities, children } = this.#current as State;
    if (this.#parked) return "parked";
    if (activities.some(({ state }) => covers(state, leaf))) return "activity";
    return children.some(({ state }) => covers(state, leaf)) ? "child" : undefined;
  }

  #settleIdle(leaf: string, cause: "timer" | "event"): void {
    const tally = this.#tally(leaf);
    tally.waits[cause] += tally.idleMs;
    tally.idleMs = 0;
  }

  /** What an entry says of activities. */
  #follow({ event, effects, at }: Entry): void {
    const ended = settles(event) ? this.#leave(event.invocation as string, at) : undefined;
    if (ended !== undefined) {
      const attempts = (event.data as { readonly attempts?: unknown } | null | undefined)?.attempts;
      if (settlesWell(event)) ended.done++;
      else ended.failed++;
      if (!settlesWell(event) && typeof attempts === "number") ended.attempts += attempts - 1;
    }
    for (const effect of effects) {
      if (effect.type === "cancel" && effect.of === "activity") {
        const left = this.#leave(effect.key, at);
        if (left !== undefined) left.cancelled++;
      } else if (effect.type === "activity") {
        const tally = this.#activity(effect.activity);
        tally.begun++;
        tally.attempts++;
        this.#under.set(effect.key, { activity: effect.activity, at });
      }
    }
  }

  #leave(key: string, at: number): ActivityTally | undefined {
    const under = this.#under.get(key);
    if (under === undefined) return undefined;
    this.#under.delete(key);
    return this.#spend(under.activity, at - under.at);
  }

  #spend(activity: string, ms: number): ActivityTally {
    const tally = this.#activity(activity);
    tally.ms += Math.max(0, ms);
    tally.maxMs = Math.max(tally.maxMs, ms);
    return tally;
  }

  #tally(state: string): StateTally {
    const known = this.#states.get(state);
    if (known !== undefined) return known;
    const waits = { activity: 0, child: 0, timer: 0, event: 0, parked: 0 };
    const tally: StateTally = { state, visits: 0, steps: 0, ms: 0, waits, idleMs: 0 };
    this.#states.set(state, tally);
    return tally;
  }

  #activity(activity: string): ActivityTally {
    const known = this.#activities.get(activity);
    if (known !== undefined) return known;
    const counts = { begun: 0, done: 0, failed: 0, cancelled: 0, attempts: 0 };
    const tally: ActivityTally = { activity, ...counts, ms: 0, maxMs: 0 };
    this.#activities.set(activity, tally);
    return tally;
  }
}

const causeOf = ({ event }: Entry): "timer" | "event" => (event.timer === undefined ? "event" : "timer");

/**
 * What a step says of the wait of a leaf that it leaves active. What another region took says nothing where the leaf has a
 * timer of its own: it may go on to wait for that.
 */
function toldBy(
  entry: Entry,
  leaf: string,
  hasOthers: boolean,
  timers: State["timers"],
): "timer" | "event" | undefined {
  const { event, outcome } = entry;
  if (outcome !== "taken" || isControl(event)) return undefined;
  const fired = timers.find(({ key }) => key === event.timer);
  if (fired !== undefined) return covers(fired.state, leaf) ? "timer" : undefined;
  return hasOthers ? undefined : "event";
}

function isParkedAfter(before: boolean, { event }: Entry): boolean {
  if (!isControl(event)) return before;
  if (event.type === "park") return true;
  return before && event.type !== "retry" && event.type !== "rollback";
}

/** Whether what belongs to a state belongs to this leaf: the leaf is it, or is in it. What belongs to none, to all. */
function covers(state: string | undefined, leaf: string): boolean {
  return state === undefined || state === "" || leaf === state || leaf.startsWith(`${state}.`);
}

const longestFirst = (one: { readonly ms: number }, other: { readonly ms: number }): number =>
  other.ms - one.ms;
