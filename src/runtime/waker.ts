/** The waker: sees to it that whatever is due is taken up: timers, times that are up, retries, and what a crash left. */
import { describeError } from "../core/describe-error.ts";
import { cancelEvent, type Event, resumeEvent } from "../core/event.ts";
import type { Outage } from "../core/timer.ts";
import { HoldfastError, isHoldfastError, isUnavailable } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import { Alarm } from "./alarm.ts";
import { exhausted } from "./budget.ts";
import type { Clock } from "./clock.ts";
import type { LiveRun } from "./live/live-run.ts";
import { keyOf, systemTenant } from "./name.ts";
import { outagesMoving } from "./outages.ts";
import type { Standing } from "./standing.ts";
import { Told } from "./told.ts";

/** How many runs are looked for at a time when something is due. */
const dueMax = 1_000;
/** How many are taken up at a time: each takes a question or two to the store, and who was killed may leave hundreds. */
const attendedMax = 10;
/** How long to wait before those that come after are looked for: the ones before them are taking their steps. */
const nextPageMs = 10;
/** How long to wait before a store that cannot be reached is asked again. */
const laterMs = 1_000;

/** Under this name it is told that what is due cannot be looked for. */
export const wakingName: RunName = { tenant: systemTenant, run: "waking" };

export interface WakerWorld {
  readonly standing: Pick<Standing, "due" | "nextDue" | "lookMs">;
  readonly clock: Clock;
  /** The live run, with what the store has for it taken up. */
  attend(name: RunName, isInDoubt: boolean): Promise<LiveRun | undefined>;
  /** Whether a run has something to take: then it is looked at again after that; and whether it is ahead of the store. */
  isTaking(run: LiveRun): boolean;
  isBusy(run: LiveRun): boolean;
  deliver(run: LiveRun, event: Event): Promise<unknown>;
  /** Reads the run's inbox again. */
  refill(run: LiveRun): void;
  park(run: LiveRun, error: unknown): void;
  /** A run cannot be read, or what is due cannot be looked for. */
  problem(name: RunName, error: unknown): void;
}

/** One look at what is due. */
interface Look {
  readonly now: number;
  /** Whether an answer of the store was lost before it. */
  readonly lost: boolean;
}

export class Waker {
  readonly #world: WakerWorld;
  readonly #alarm: Alarm;
  /** Runs that cannot be read here, as those of a machine this process does not have: they are told of once. */
  readonly #unreadable = new Set<string>();
  /** Runs of which nobody here knows what the store has. What is under way for this process is not due: it is read. */
  readonly #doubtful = new Map<string, RunName>();
  /** Kinds of errors that are tried again and were told of. */
  readonly #told = new Told();
  /** Whether an answer of the store was lost since all was looked at, so that events may wait that nobody here was told of. */
  #lost = false;
  /** Whatever is due, a store that failed is left alone until then. */
  #pausedUntil = 0;
  #outages: readonly Outage[] = [];
  #stopLooking: () => void = () => {};
  #waking = false;
  #again = false;
  #closed = false;

  constructor(world: WakerWorld) {
    this.#world = world;
    this.#alarm = new Alarm(world.clock, () => void this.#wake());
  }

  /** Runs that come into memory from now on hear of these. A member reads some while it still starts, so it is told first. */
  heed(outages: readonly Outage[]): void {
    this.#outages = outages;
  }

  /** Takes up all that is due. */
  async open(): Promise<void> {
    await this.#wake();
    this.#lookInAWhile();
  }

  #lookInAWhile(): void {
    if (this.#closed) return;
    this.#stopLooking = this.#world.clock.after(this.#world.standing.lookMs(), () => {
      this.#lookInAWhile();
      void this.#wake();
    });
  }

  close(): void {
    this.#closed = true;
    this.#stopLooking();
    this.#alarm.stop();
  }

  /** Something is due at this time. */
  wakeAt(at: number): void {
    if (this.#closed) return;
    // A clock that was set back must not make the pause longer.
    const pausedUntil = Math.min(this.#pausedUntil, this.#world.clock.now() + laterMs);
    this.#alarm.set(Math.max(at, pausedUntil));
  }

  /** The store could not be reached: these runs, and what is due, are looked for again in a while, and not before. */
  wakeLater(names: readonly RunName[] = []): void {
    this.#lost = true;
    for (const name of names) this.#doubtful.set(keyOf(name), name);
    this.#pausedUntil = this.#world.clock.now() + laterMs;
    this.#alarm.stop();
    this.wakeAt(this.#pausedUntil);
  }

  /** Runs that could not be read may be readable now. */
  lookAgain(): void {
    this.#unreadable.clear();
    this.wakeAt(this.#world.clock.now());
  }

  /** Tells a run that came into memory of the outages that move its timers, and wakes it for those that are due. */
  resume(run: LiveRun): void {
    const outages = outagesMoving(this.#outages, run.state.timers, this.#world.clock.now());
    if (outages.length > 0) this.#deliver(run, resumeEvent(outages));
    if (run.head.wakeAt !== undefined) this.wakeAt(run.head.wakeAt);
  }

  async #wake(): Promise<void> {
    this.#again = this.#waking;
    if (this.#waking || this.#closed) return;
    this.#waking = true;
    try {
      await this.#wakeDue();
    } catch (error) {
      this.#tellOnce(wakingName, error);
      this.wakeLater();
    }
    this.#waking = false;
    if (this.#again) void this.#wake();
  }

  async #wakeDue(): Promise<void> {
    const { standing, clock } = this.#world;
    const now = clock.now();
    const look: Look = { now, lost: this.#lost };
    this.#lost = false;
    await this.#each([...this.#doubtful.values()], (name) => this.#wakeDoubtful(name, look));
    const { names, isMore } = await standing.due(now, dueMax, this.#unreadable.size);
    await this.#each(names, async (name) => {
      if (!this.#unreadable.has(keyOf(name)))
        await this.#wakeRun(name, look, () => this.#doubtful.has(keyOf(name)));
    });
    if (this.#closed) return;
    const next = await standing.nextDue(now);
    if (next !== undefined) this.wakeAt(next);
    // What is due and was not taken up, being busy, is asked for again soon, but not at once.
    if (names.some((name) => !this.#unreadable.has(keyOf(name)))) this.wakeAt(now + laterMs);
    if (isMore) this.wakeAt(now + nextPageMs);
  }

  /** Sees to runs in their order, some of them at the same time; throws when all have come to rest. */
  async #each(names: readonly RunName[], see: (name: RunName) => Promise<void>): Promise<void> {
    const waiting = names.values();
    const seeing = Array.from({ length: Math.min(attendedMax, names.length) }, async () => {
      for (const name of waiting) {
        if (this.#closed) return;
        await see(name);
      }
    });
    const failed = (await Promise.allSettled(seeing)).find(({ status }) => status === "rejected");
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
  }

  /** It is taken out first: whoever doubts it anew while it is looked at puts it back. */
  async #wakeDoubtful(name: RunName, look: Look): Promise<void> {
    this.#doubtful.delete(keyOf(name));
    try {
      await this.#wakeRun(name, look, () => true);
    } catch (error) {
      this.#doubtful.set(keyOf(name), name);
      throw error;
    }
  }

  async #wakeRun(name: RunName, { now, lost }: Look, isInDoubt: () => boolean): Promise<void> {
    try {
      const run = await this.#world.attend(name, isInDoubt());
      // One that is in doubt may never have begun.
      if (run === undefined && isInDoubt()) return;
      if (run === undefined) throw strayError(name);
      if (run.head.status !== "active") return;
      if (!this.#world.isTaking(run)) this.#fire(run, now);
      // What nobody here was told of is read once the run has taken what it has. One that is due and has nothing to do
      // may have such an event; one that is ahead of the store is due for what it has taken.
      if (lost || !this.#world.isBusy(run)) run.more = true;
      if (run.more) this.#world.refill(run);
    } catch (error) {
      if (!isHoldfastError(error)) this.#tellOnce(name, error);
      if (!isHoldfastError(error) || isUnavailable(error)) throw error;
      this.#unreadable.add(keyOf(name));
      this.#world.problem(name, error);
    }
  }

  /** What is tried again and again is told the first time: a person has to see to it, unless it is that the store is away. */
  #tellOnce(name: RunName, error: unknown): void {
    const { name: kind, message } = describeError(error);
    const { code = message } = Object(error) as { readonly code?: unknown };
    if (!isUnavailable(error) && this.#told.isNews(`${kind} ${code}`)) this.#world.problem(name, error);
  }

  /**
   * Ends a run whose time is up, or fires the timers that are due, the earliest first. It has been told of outages when
   * it came into memory; before that step is durable it is busy, and does not come here.
   */
  #fire(run: LiveRun, now: number): void {
    const reason = exhausted(run.head, now);
    if (reason !== undefined) {
      this.#deliver(run, cancelEvent(reason));
      return;
    }
    for (const timer of run.state.timers.toSorted((one, other) => one.due - other.due)) {
      if (timer.due <= now) this.#deliver(run, { ...timer.event, timer: timer.key });
    }
  }

  #deliver(run: LiveRun, event: Event): void {
    this.#world.deliver(run, event).catch((error: unknown) => this.#world.park(run, error));
  }
}

function strayError({ run }: RunName): HoldfastError {
  return new HoldfastError(
    "STORE_CORRUPT",
    `Something waits for the run ${JSON.stringify(run)}, which is not there: the store is damaged; restore it from a backup`,
  );
}
