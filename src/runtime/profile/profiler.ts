/**
 * The profiler: where the time of a runtime goes, measured while it runs. There is one only where somebody asked for it;
 * elsewhere nothing is put around the store, and what the rest of the runtime does for it is to see that it is not there.
 *
 * Time is the clock's `stamp`, or `now` where it has none: a virtual clock tells no time that passes inside a step.
 */
import type { State } from "../../core/state.ts";
import type { CacheUse, Remembering, Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import { HitCount, type HitRate, Measure, type Measured, Measures, rateOf } from "./measure.ts";
import { timeStore } from "./timed-store.ts";

/** Names of one kind that are told apart: more than any machine has that a person can read. */
const namesMax = 1_000;

export interface RuntimeProfile {
  /** Since it was opened. */
  readonly ms: number;
  /** Each verb of the store, from the call to its answer. */
  readonly store: Readonly<Record<string, Measured>>;
  readonly queue: {
    /** Events, from when they came to their run to their turn. */
    readonly events: Measured;
    /** Attempts of activities, from when they may begin to their slot. */
    readonly slots: Measured;
  };
  /** Steps with what records them, up to the commit. */
  readonly steps: Measured;
  /** The same by state, as `machine: state`. */
  readonly states: Readonly<Record<string, Measured>>;
  /** Attempts of activities, by name. */
  readonly activities: Readonly<Record<string, Measured>>;
  readonly caches: {
    /** Runs in memory: a miss was read from the store. */
    readonly runs: HitRate;
    /** Large texts that a turn keeps: a hit was stored before, and is not written again. */
    readonly contents: HitRate;
    /** Those of the store itself, by name; for SQLite `known runs`: a miss was looked up before its commit. */
    readonly store: Readonly<Record<string, HitRate>>;
  };
}

/** An attempt of an activity that is being timed. */
export interface TimedAttempt {
  /** It has its slot. */
  begun(): void;
  /** It is over, whether it began or not. */
  over(): void;
}

export class Profiler {
  readonly runs = new HitCount();
  readonly contents = new HitCount();
  #caches: () => Readonly<Record<string, CacheUse>> = () => ({});
  readonly #stamp: () => number;
  readonly #from: number;
  readonly #verbs = new Measures(namesMax);
  readonly #states = new Measures(namesMax);
  readonly #activities = new Measures(namesMax);
  readonly #steps = new Measure();
  readonly #events = new Measure();
  readonly #slots = new Measure();
  /** When events came that wait for their turn. */
  readonly #arrivals = new WeakMap<object, number>();

  constructor(clock: Clock) {
    this.#stamp = () => clock.stamp?.() ?? clock.now();
    this.#from = this.#stamp();
  }

  /** The same store, timed. */
  watch(store: Store): Store {
    if ("caches" in store) this.#caches = () => (store as Store & Remembering).caches();
    const answered = (verb: string, ms: number) => this.#verbs.add(verb, ms);
    return timeStore(store, { stamp: this.#stamp, answered });
  }

  /** An event came to its run. */
  arrived(delivery: object): void {
    if (!this.#arrivals.has(delivery)) this.#arrivals.set(delivery, this.#stamp());
  }

  /** It is an event's turn, in this state of its run; the result is called when its step is recorded. */
  take(delivery: object, { machine, configuration }: Pick<State, "machine" | "configuration">): () => void {
    const from = this.#stamp();
    this.#events.add(from - (this.#arrivals.get(delivery) ?? from));
    return () => {
      const ms = this.#stamp() - from;
      this.#steps.add(ms);
      this.#states.add(`${machine}: ${configuration.join(", ") || "(start)"}`, ms);
    };
  }

  /** An attempt may begin, as soon as there is a slot. */
  attempt(activity: string): TimedAttempt {
    let from = this.#stamp();
    let runs = false;
    return {
      begun: () => {
        const now = this.#stamp();
        this.#slots.add(now - from);
        [from, runs] = [now, true];
      },
      over: () => {
        if (runs) this.#activities.add(activity, this.#stamp() - from);
      },
    };
  }

  read(): RuntimeProfile {
    return {
      ms: this.#stamp() - this.#from,
      store: this.#verbs.read(),
      queue: { events: this.#events.read(), slots: this.#slots.read() },
      steps: this.#steps.read(),
      states: this.#states.read(),
      activities: this.#activities.read(),
      caches: {
        runs: this.runs.read(),
        contents: this.contents.read(),
        store: Object.fromEntries(Object.entries(this.#caches()).map(([name, use]) => [name, rateOf(use)])),
      },
    };
  }
}
