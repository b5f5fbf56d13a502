/**
 * How many may be under way at a time, of all processes that share a store: whoever is let in has a turn that the store gave.
 * A turn is asked for when somebody here could use it at once, and given back as soon as nobody does. What is wrong between
 * what is used here and what the store knows is told to it until it is right, so no answer has to arrive.
 */
import type { Clock } from "../clock.ts";
import type { Turnstile } from "../standing.ts";
import type { Claim, Pool, Waiter } from "./pool.ts";
import type { ConcurrencyUse } from "./request.ts";

/** How long to wait before a store that cannot be reached is asked again. */
const unavailableMs = 1_000;

export interface SharedWorld {
  readonly clock: Clock;
  readonly turns: Turnstile;
  /** How many could begin here. */
  room(): number;
  /** Called when those who wait may look again. */
  freed(pool: Pool): void;
}

export class SharedConcurrency implements Pool {
  readonly waiting = new Set<Waiter>();
  gates = 0;
  readonly #use: ConcurrencyUse;
  readonly #world: SharedWorld;
  #used = 0;
  /** Turns that were given just now. */
  #spare = 0;
  /** How many the store knows of, and whether it knows that somebody here waits. */
  #known = 0;
  #isListed = false;
  /** Whether there is a reason to ask that does not follow from these. */
  #isWoken = false;
  #isAsking = false;
  #stopWaiting: (() => void) | undefined;
  #isClosed = false;

  constructor(use: ConcurrencyUse, world: SharedWorld) {
    this.#use = use;
    this.#world = world;
  }

  claim(): Claim {
    return {
      pool: this,
      isFree: () => this.isFree(),
      freeAt: () => Number.POSITIVE_INFINITY,
      take: () => {
        this.#used++;
        this.#spare--;
        return { begin: () => true, giveBack: () => this.#giveBack() };
      },
    };
  }

  #giveBack(): void {
    this.#used--;
    this.watch();
  }

  isFree(): boolean {
    return this.#spare > 0;
  }

  watch(): void {
    if (!this.#isAsking) void this.#settle();
  }

  /** Asks until the store knows what is used and wanted here. */
  async #settle(): Promise<void> {
    this.#isAsking = true;
    while (!this.#isClosed && this.#isUnsettled())
      try {
        await this.#ask();
      } catch {
        this.#isWoken = true;
        await new Promise<void>((pass) => void this.#world.clock.after(unavailableMs, pass));
      }
    this.#isAsking = false;
    if (this.#isListed && !this.#isClosed) this.#stopWaiting ??= this.#wait();
    else this.#stop();
  }

  #isUnsettled(): boolean {
    return this.#isWoken || this.#used !== this.#known || this.waiting.size > 0 !== this.#isListed;
  }

  async #ask(): Promise<void> {
    let held = 0;
    let wanted = 0;
    const given = await this.#world.turns.take(() => {
      this.#isWoken = false;
      held = this.#used;
      wanted = this.#wanted();
      return { ...this.#use, held, wanted };
    });
    this.#known = held + given;
    this.#isListed = given < wanted;
    this.#spare = given;
    if (given > 0) this.#world.freed(this);
    // What nobody could use is not kept.
    this.#spare = 0;
  }

  #wanted(): number {
    let count = 0;
    for (const { size } of this.waiting) count += size;
    return Math.min(count, this.#use.limit, Math.max(1, this.#world.room()));
  }

  #wait(): () => void {
    return this.#world.turns.await(this.#use.key, () => {
      this.#isWoken = true;
      this.watch();
    });
  }

  #stop(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = undefined;
  }

  isForgettable(): boolean {
    return this.gates === 0 && !this.#isAsking && !this.#isUnsettled() && this.#known === 0;
  }

  close(): void {
    this.#isClosed = true;
    this.#stop();
  }

  forget(): void {
    this.close();
  }
}
