/** The waker: sees to it that whatever is due is taken up: timers, times that are up, retries, and what a crash left. */
import type { Event } from "../core/event.ts";
import { resumedDue } from "../core/timer.ts";
import { isHoldfastError } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { Alarm } from "./alarm.ts";
import { exhausted } from "./budget.ts";
import type { Clock } from "./clock.ts";
import { limitEvent, resumeEvent } from "./control.ts";
import type { LiveRun } from "./live-run.ts";
import { keyOf } from "./name.ts";
import { Outages } from "./outages.ts";
import { isUnavailable } from "./recovery.ts";

/** How many runs are looked for at a time when something is due. */
const dueMax = 1_000;
/** How long to wait before those that come after are looked for: the ones before them are taking their steps. */
const nextPageMs = 10;
/** How long to wait before a store that cannot be reached is asked again. */
const laterMs = 1_000;

export interface WakerWorld {
  readonly store: Store;
  readonly clock: Clock;
  find(name: RunName): Promise<LiveRun | undefined>;
  /** Whether a run has something to take: then it is looked at again after that. */
  isTaking(run: LiveRun): boolean;
  deliver(run: LiveRun, event: Event): Promise<unknown>;
  /** Reads what waits in the inbox of a run. */
  refill(run: LiveRun): void;
  park(run: LiveRun, error: unknown): void;
  /** A run cannot be read. */
  problem(name: RunName, error: unknown): void;
}

export class Waker {
  readonly #world: WakerWorld;
  readonly #alarm: Alarm;
  readonly #outages: Outages;
  /** Runs that cannot be read here, as those of a machine this process does not have: they are told of once. */
  readonly #unreadable = new Set<string>();
  /** Runs that may have come further than anybody here has been told. */
  readonly #uncertain = new Map<string, RunName>();
  /** Whether an answer of the store was lost since all was looked at, so that events may wait that nobody here was told of. */
  #lost = false;
  /** Whatever is due, a store that failed is left alone until then. */
  #pausedUntil = 0;
  #waking = false;
  #again = false;
  #closed = false;

  constructor(world: WakerWorld) {
    this.#world = world;
    this.#alarm = new Alarm(world.clock, () => void this.#wake());
    this.#outages = new Outages(world.store);
  }

  /** Takes up all that is due; `aliveAt` is when somebody last did. */
  async open(aliveAt: number | undefined): Promise<void> {
    await this.#outages.open(aliveAt, this.#world.clock.now());
    await this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#alarm.stop();
  }

  /** Something is due at this time. */
  wakeAt(at: number): void {
    if (!this.#closed) this.#alarm.set(Math.max(at, this.#pausedUntil));
  }

  /** The store could not be reached: what is due is looked for again in a while, and so is a run nobody is sure of. */
  wakeLater(uncertain?: RunName): void {
    this.#lost = true;
    if (uncertain !== undefined) this.#uncertain.set(keyOf(uncertain), uncertain);
    this.#pausedUntil = this.#world.clock.now() + laterMs;
    this.#alarm.stop();
    this.wakeAt(this.#pausedUntil);
  }

  /** Tells a run that came into memory of the outages that move its timers, and wakes it for those that are due. */
  resume(run: LiveRun): void {
    const outages = this.#outages.moving(run.state.timers);
    if (outages.length > 0) this.#deliver(run, resumeEvent(outages));
    if (run.head.wakeAt !== undefined) this.wakeAt(run.head.wakeAt);
  }

  async #wake(): Promise<void> {
    this.#again = this.#waking;
    if (this.#waking || this.#closed) return;
    this.#waking = true;
    try {
      await this.#wakeDue();
    } catch {
      this.wakeLater();
    }
    this.#waking = false;
    if (this.#again) void this.#wake();
  }

  async #wakeDue(): Promise<void> {
    const { store, clock } = this.#world;
    const now = clock.now();
    const lost = this.#lost;
    this.#lost = false;
    for (const [key, name] of this.#uncertain) {
      await this.#wakeRun(name, now, lost);
      this.#uncertain.delete(key);
    }
    const limit = dueMax + this.#unreadable.size;
    const due = await store.due(now, limit);
    for (const name of due) {
      if (this.#closed) return;
      if (!this.#unreadable.has(keyOf(name))) await this.#wakeRun(name, now, lost);
    }
    const next = await store.nextDue();
    // What is due and was not taken up, being busy or unreadable, is asked for again soon, but not at once.
    if (next !== undefined) this.wakeAt(next > now ? next : now + laterMs);
    if (due.length >= limit) this.wakeAt(now + nextPageMs);
  }

  async #wakeRun(name: RunName, now: number, lost: boolean): Promise<void> {
    try {
      const run = await this.#world.find(name);
      if (run?.head.status !== "active" || this.#world.isTaking(run)) return;
      this.#fire(run, now);
      if (lost && !this.#world.isTaking(run)) this.#world.refill(run);
    } catch (error) {
      if (!isHoldfastError(error) || isUnavailable(error)) throw error;
      this.#unreadable.add(keyOf(name));
      this.#world.problem(name, error);
    }
  }

  /** Ends a run whose time is up, or fires the timers that are due, the earliest first. */
  #fire(run: LiveRun, now: number): void {
    const reason = exhausted(run.head, now);
    if (reason !== undefined) {
      this.#deliver(run, limitEvent(reason));
      return;
    }
    const outages = this.#outages.moving(run.state.timers);
    for (const timer of run.state.timers.toSorted((one, other) => one.due - other.due)) {
      if (resumedDue(timer, outages).due <= now) this.#deliver(run, { ...timer.event, timer: timer.key });
    }
  }

  #deliver(run: LiveRun, event: Event): void {
    this.#world.deliver(run, event).catch((error: unknown) => this.#world.park(run, error));
  }
}
