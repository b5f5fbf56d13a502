/** The right of this process to step the runs of a store: taken at the start, renewed while it lives, given back at the end. */
import type { Outage } from "../core/timer.ts";
import { HoldfastError, isUnavailable } from "../errors.ts";
import { limits } from "../limits.ts";
import type { KeyName, Member, Taken } from "../store/fleet.ts";
import type { ActivityRow, InboxRow, RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Due, Mark, Standing, Waiting } from "./standing.ts";
import { isGone } from "./worker.ts";

/** How long a process may go without renewing its right. */
const leaseMs = 10_000;
/** How often what is due is looked for without a reason: another process may have put an event into an inbox. */
const lookMs = 5_000;

export class Ownership implements Standing {
  epoch = 0;
  readonly isShared = false;
  readonly isWorker = true;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #worker: string;
  readonly #lost: (error: unknown) => void;
  #taking: Promise<readonly Outage[]> = Promise.resolve([]);
  #stopTimer: () => void = () => {};
  #stopped = false;

  /** `lost` is told when the right could not be renewed. */
  constructor(store: Store, clock: Clock, worker: string, lost: (error: unknown) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#worker = worker;
    this.#lost = lost;
  }

  /**
   * Takes the right, and goes on renewing it; throws STORE_OWNED if a process that is alive has it. Gives the
   * times in which nobody had it.
   */
  async take(): Promise<readonly Outage[]> {
    this.#taking = this.#own();
    return this.#taking;
  }

  async #own(): Promise<readonly Outage[]> {
    const own = () => this.#store.own(this.#worker, leaseMs, this.#clock.now());
    let lease = await own();
    if (lease.outcome === "taken" && isGone(lease.owner)) {
      // It was killed: there is no need to wait for its lease to lapse.
      await this.#store.release(lease.owner, lease.epoch, undefined);
      lease = await own();
    }
    if (lease.outcome === "taken") {
      throw new HoldfastError(
        "STORE_OWNED",
        `Another process (${lease.owner}) owns the runs of this store; stop it first, or use a store that many processes share`,
      );
    }
    // Somebody had it in between: what this process knows of its runs may be old.
    if (this.epoch !== 0 && this.epoch !== lease.epoch) throw lostError();
    this.epoch = lease.epoch;
    this.#renewIn(leaseMs / 3);
    return lease.outages;
  }

  #renewIn(ms: number): void {
    if (this.#stopped) return;
    this.#stopTimer = this.#clock.after(ms, () => {
      this.take().catch((error: unknown) => {
        // Until somebody else takes it, the right is not lost; and then the epoch keeps this process from writing.
        if (isUnavailable(error)) this.#renewIn(leaseMs / 10);
        else this.#lost(error);
      });
    });
  }

  /** Renews no more. */
  stop(): void {
    this.#stopped = true;
    this.#stopTimer();
  }

  /** Gives the right back, if this process has it. */
  async giveBack(): Promise<void> {
    this.stop();
    await this.#taking.catch(() => {});
    if (this.epoch !== 0) await this.#store.release(this.#worker, this.epoch, this.#clock.now());
  }

  // Nothing happens elsewhere.

  readonly turns = undefined;

  async yield(): Promise<void> {}

  isHome(): boolean {
    return true;
  }

  isSure(): boolean {
    return true;
  }

  async due(now: number, limit: number, unreadable: number): Promise<Due> {
    const names = await this.#store.due(now, limit + unreadable);
    return { names, isMore: names.length >= limit + unreadable };
  }

  nextDue(after: number): Promise<number | undefined> {
    return this.#store.nextDue(after);
  }

  readInbox(name: RunName): Promise<readonly InboxRow[]> {
    return this.#store.readInbox(name, limits.inboxLoadedMax);
  }

  async readTaken({ tenant, run, key }: KeyName): Promise<Taken | undefined> {
    const [seen] = await this.#store.readKeys({ tenant, run }, [key]);
    return seen;
  }

  lookMs(): number {
    return lookMs;
  }

  async adopt(rows: readonly ActivityRow[]): Promise<readonly boolean[]> {
    return rows.map(() => true);
  }

  isNewest(): boolean {
    return true;
  }

  tell(): void {}

  hear(): () => void {
    return () => {};
  }

  mark(): Mark {
    return { isPassed: false };
  }

  until<Answer>(): Waiting<Answer> {
    return { told: new Promise(() => {}), look: () => {}, cancel: () => {} };
  }

  members(): readonly Member[] {
    return [];
  }
}

function lostError(): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    "Another process owned the runs of this store in between; create another runtime",
  );
}

/** Says that this process may not write any more. */
export function fencedError({ run }: RunName): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    `Another process owns the runs of this store now; ${JSON.stringify(run)} goes on there`,
  );
}
