/**
 * Whoever delivers: takes changes from the outbox in order, hands each to its run, and settles them.
 *
 * It may die anywhere. What was not delivered is still there; what was delivered and not settled is delivered again, under
 * the same key, which a run takes once.
 */
import { limits } from "../../limits.ts";
import type { NotedChange, Outbox } from "../../store/postgres/changes/outbox.ts";
import type { Clock } from "../clock.ts";
import { isGone } from "../worker.ts";
import type { Delivered, Parcel, Receiver } from "./deliver.ts";

/** How long a turn lasts. One who was killed on another machine keeps the others waiting for it. */
const turnMs = 5_000;
/** How often it looks: soon after there was something, then ever more rarely. */
const pollMsMin = 50;
const pollMsMax = 1_000;
/**
 * How long it must have been idle before it asks to be woken. Until then it only looks, since writers who wake somebody
 * commit one after the other.
 */
const sleepAfterMs = 400;
/** How long they go on waking it without hearing of it, and how often it tells them. */
const asleepMs = 120_000;
const stillAsleepMs = 60_000;
/** How long to wait for a database or a runtime that cannot be reached. */
const laterMs = 1_000;

export interface ConsumerWorld {
  readonly outbox: Outbox;
  readonly receiver: Receiver;
  readonly clock: Clock;
  /** Its name among those who take turns. */
  readonly holder: string;
  address(noted: NotedChange): Parcel;
  /** Whether it hears when somebody wakes it. */
  isListening(): boolean;
  /** A change could not be delivered and was put aside. */
  failed(parcel: Parcel, undelivered: Delivered & { readonly outcome: "failed" }): void;
}

export class Consumer {
  readonly #world: ConsumerWorld;
  #stopTimer: () => void = () => {};
  #pollMs = pollMsMin;
  /** When it last asked to be woken; undefined while it is at work. */
  #asleepSince: number | undefined;
  #working: Promise<void> | undefined;
  #again = false;
  #closed = false;
  #problem: unknown;

  constructor(world: ConsumerWorld) {
    this.#world = world;
  }

  /** What keeps it from delivering, if something does. */
  get problem(): unknown {
    return this.#problem;
  }

  /** There may be something. */
  wake(): void {
    if (this.#closed) return;
    this.#again = true;
    this.#stopTimer();
    this.#working ??= this.#work();
  }

  /** Delivers no more; resolves when what is under way is settled. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#stopTimer();
    await this.#working;
    await this.#world.outbox.release(this.#world.holder).catch(() => {});
  }

  async #work(): Promise<void> {
    let sleepMs = 0;
    while (!this.#closed && (this.#again || sleepMs === 0)) {
      this.#again = false;
      try {
        sleepMs = await this.#turn();
      } catch (error) {
        this.#problem = error;
        sleepMs = laterMs;
        break;
      }
    }
    this.#working = undefined;
    if (!this.#closed) this.#stopTimer = this.#world.clock.after(sleepMs, () => this.wake());
  }

  /** Takes what is there and delivers it; how long to wait after that. */
  async #turn(): Promise<number> {
    const { outbox, holder } = this.#world;
    const taken = await outbox.take(holder, turnMs, limits.changesPerTurnMax);
    if (taken.outcome === "empty") {
      this.#problem = undefined;
      return (await this.#fallAsleep()) ? 0 : this.#idleMs();
    }
    if (taken.outcome === "theirs") {
      // It was killed: there is no need to wait for its turn to end.
      if (!isGone(taken.holder)) return Math.min(taken.forMs + 1, this.#idleMs());
      await outbox.release(taken.holder);
      return 0;
    }
    this.#pollMs = pollMsMin;
    this.#asleepSince = undefined;
    const isHeldUp = await this.#deliverAll(taken.changes);
    return isHeldUp ? laterMs : 0;
  }

  /** Asks to be woken, once it has been idle for a while; whether it did, so that it has to look once more. */
  async #fallAsleep(): Promise<boolean> {
    const { outbox, holder, clock, isListening } = this.#world;
    const now = clock.now();
    const isKnown = this.#asleepSince !== undefined && now - this.#asleepSince < stillAsleepMs;
    if (!isListening() || this.#pollMs < sleepAfterMs || isKnown) return false;
    await outbox.sleep(holder, asleepMs);
    this.#asleepSince = now;
    return true;
  }

  #idleMs(): number {
    const ms = this.#pollMs;
    this.#pollMs = Math.min(ms * 2, pollMsMax);
    return ms;
  }

  /** Those of one run one after the other, those of different runs at once. Gives whether some have to wait. */
  async #deliverAll(changes: readonly NotedChange[]): Promise<boolean> {
    const places = new Map<string, Parcel[]>();
    for (const parcel of changes.map((noted) => this.#world.address(noted))) {
      const before = places.get(parcel.place);
      if (before === undefined) places.set(parcel.place, [parcel]);
      else before.push(parcel);
    }
    const done: number[] = [];
    const failed: Failed[] = [];
    const outcomes = await Promise.all(
      [...places.values()].map((parcels) => this.#deliver(parcels, done, failed)),
    );
    await this.#world.outbox.settle(
      done,
      failed.map(({ parcel, fate }) => ({ number: parcel.change.number, reason: fate.reason })),
    );
    for (const { parcel, fate } of failed) this.#world.failed(parcel, fate);
    const held = outcomes.find((outcome) => outcome?.outcome === "later");
    this.#problem = held?.error;
    return held !== undefined;
  }

  /** Stops at one that has to wait, since those behind it must not overtake it. */
  async #deliver(parcels: readonly Parcel[], done: number[], failed: Failed[]): Promise<Later | undefined> {
    for (const parcel of parcels) {
      if (this.#closed) return undefined;
      const fate = await parcel.deliver(this.#world.receiver);
      if (fate.outcome === "later") return fate;
      if (fate.outcome === "failed") failed.push({ parcel, fate });
      else done.push(parcel.change.number);
    }
    return undefined;
  }
}

type Later = Delivered & { readonly outcome: "later" };
interface Failed {
  readonly parcel: Parcel;
  readonly fate: Delivered & { readonly outcome: "failed" };
}
