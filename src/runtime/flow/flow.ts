/**
 * Flow control: every attempt of an activity enters here, waits for its turn, and leaves when it is over.
 *
 * Q1. No more are under way than there are slots, and of any key no more than its limits say.
 * Q2. A slot is never free while somebody waits who may start.
 * Q3. Whoever may not start holds up nobody who may: each waits at the gate of what it needs, and only the first of a
 *     gate that is open waits for a slot.
 * Q4. Of tenants that wait for a slot, the one that has fewest is next, and of equals the one that has waited longest; so
 *     it is within a gate, where tenants share one. Within a tenant it is the highest priority, then who came first.
 * Q5. A decision costs the logarithm of how many wait. What is free is handed to one gate, and passed on by it: when it
 *     uses some and leaves some, is shut by another pool, or has nobody left.
 *
 * What waits here waits in memory only: its row is in the store, and whoever takes over enters it again.
 */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import type { Turnstile } from "../standing.ts";
import { Allowance, ratePrefix } from "./allowance.ts";
import { Concurrency } from "./concurrency.ts";
import { FairQueue, type Waiting } from "./fair-queue.ts";
import { Gate } from "./gate.ts";
import type { Claim, Pool, Share } from "./pool.ts";
import { Rate } from "./rate.ts";
import type { ConcurrencyUse, RateUse, Request } from "./request.ts";
import { SharedConcurrency } from "./shared-concurrency.ts";

/** The right to be under way. */
export interface Slot {
  /** The attempt begins now: this is the time that rates count. False if that is too late, and it must enter again. */
  begin(): boolean;
  /** It is over. */
  leave(): void;
}

export interface FlowWorld {
  readonly clock: Clock;
  readonly store: Pick<Store, "readDocument" | "writeDocument" | "removeDocument">;
  /** Where turns of keys are had that others use as well. */
  readonly turns?: Turnstile | undefined;
}

interface Entry extends Waiting {
  readonly gate: Gate<Entry> | undefined;
  /** Its slot, once it has one, or nothing if it is not wanted any more. */
  readonly decided: (slot: Slot | undefined) => void;
}

const nothingShared: readonly Share[] = [];

/** From how many pools on those that nobody needs are looked for; then again when there are twice as many as were kept. */
const poolsKeptMin = 1_000;

/** What flow control is told for the whole of a runtime. */
export interface FlowOptions {
  /** How many attempts of activities may be under way at a time in this process; `limits.slots` unless given. */
  readonly slots?: number;
}

/** The slots that are asked for; throws FLOW_INVALID if that is no number of them. */
export function slotsOf({ slots = limits.slots }: FlowOptions = {}): number {
  if (Number.isSafeInteger(slots) && slots > 0) return slots;
  throw invalidFlow(`slots is ${String(slots)}; write a whole number above zero`);
}

export function invalidFlow(problem: string): HoldfastError {
  return new HoldfastError("FLOW_INVALID", `That cannot be meant: ${problem}`);
}

export class Flow {
  readonly #world: FlowWorld;
  readonly #slots: number;
  #used = 0;
  #arrivals = 0;
  /** Those that need nothing but a slot, and the first of every gate that is open. */
  readonly #front = new FairQueue<Entry>();
  readonly #gates = new Map<string, Gate<Entry>>();
  readonly #pools = new Map<string, Pool>();
  #poolsMax = poolsKeptMin;

  constructor(world: FlowWorld, slots: number) {
    this.#world = world;
    this.#slots = slots;
  }

  /** A slot at once if there is one, or once it is this one's turn; nothing if it is not wanted any more before that. */
  enter(request: Request, signal: AbortSignal): Slot | Promise<Slot | undefined> {
    const { tenant, priority } = request;
    const waiting = { tenant, priority, arrival: ++this.#arrivals };
    if (request.concurrency === undefined && request.rate === undefined && this.#isOpen) {
      const entry: Entry = { ...waiting, gate: undefined, decided: () => {} };
      this.#front.take(entry);
      return this.#slotOf(entry);
    }
    if (signal.aborted) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<Slot | undefined>();
    let taken: Slot | undefined;
    const decided = (slot: Slot | undefined) => {
      signal.removeEventListener("abort", giveUp);
      taken = slot;
      resolve(slot);
    };
    const entry: Entry = { ...waiting, gate: this.#gateOf(request), decided };
    const giveUp = () => this.#remove(entry);
    signal.addEventListener("abort", giveUp, { once: true });
    this.#add(entry);
    this.#decide();
    return taken ?? promise;
  }

  /** How many slots are taken. */
  get used(): number {
    return this.#used;
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }

  /** Whether there is a slot and nobody who waits for it. */
  get #isOpen(): boolean {
    return this.#used < this.#slots && this.#front.isEmpty;
  }

  /** Gives slots to those who may have them, for as long as there are some. */
  #decide(): void {
    const now = this.#world.clock.now();
    while (this.#used < this.#slots) {
      const entry = this.#front.first();
      if (entry === undefined) return;
      const pool = entry.gate?.emptyPool(now);
      if (entry.gate !== undefined && pool !== undefined) this.#shut(entry.gate, pool, now);
      else this.#start(entry, now);
    }
  }

  #start(entry: Entry, now: number): void {
    const { gate } = entry;
    this.#front.take(entry);
    const slot = this.#slotOf(entry);
    if (gate !== undefined) {
      gate.queue.take(entry);
      gate.offered = undefined;
      this.#offer(gate);
      this.#passOn(gate, now);
    }
    entry.decided(slot);
  }

  #slotOf(entry: Entry): Slot {
    const shares = entry.gate?.claims.map((claim) => claim.take()) ?? nothingShared;
    let hasLeft = false;
    this.#used++;
    return {
      begin: () => {
        const now = this.#world.clock.now();
        return !hasLeft && shares.every((share) => share.begin(now));
      },
      leave: () => {
        if (hasLeft) return;
        hasLeft = true;
        for (const share of shares) share.giveBack();
        this.#leave(entry);
      },
    };
  }

  #leave(entry: Entry): void {
    const { gate } = entry;
    this.#used--;
    if (gate !== undefined) {
      gate.queue.giveBack(entry);
      // Whose turn it is may have changed with who has how much.
      this.#offer(gate);
      this.#passOn(gate, this.#world.clock.now());
      this.#forget(gate);
    }
    // Last, so that a tenant whose gate opens with this has not gone in between.
    this.#front.giveBack(entry);
    this.#decide();
  }

  #add(entry: Entry): void {
    const { gate } = entry;
    if (gate === undefined) {
      this.#front.add(entry);
      return;
    }
    gate.queue.add(entry);
    this.#offer(gate);
  }

  /** It is not wanted any more. */
  #remove(entry: Entry): void {
    const { gate } = entry;
    if (gate === undefined) this.#front.remove(entry);
    else {
      gate.queue.remove(entry);
      this.#offer(gate);
      if (gate.queue.isEmpty) this.#open(gate);
      this.#passOn(gate, this.#world.clock.now());
      this.#forget(gate);
    }
    entry.decided(undefined);
    this.#decide();
  }

  /** Lets the one whose turn it is at an open gate wait for a slot, instead of whose turn it was. */
  #offer(gate: Gate<Entry>): void {
    const first = gate.shutBy === undefined ? gate.queue.first() : undefined;
    const before = gate.offered;
    if (before === first) return;
    gate.offered = first;
    // In this order, so that a tenant keeps its turn.
    if (first !== undefined) this.#front.add(first);
    if (before !== undefined) this.#front.remove(before);
  }

  #shut(gate: Gate<Entry>, pool: Pool, now: number): void {
    gate.shutBy = pool;
    pool.waiting.add(gate);
    this.#offer(gate);
    this.#passOn(gate, now);
    pool.watch(now);
  }

  #open(gate: Gate<Entry>): void {
    gate.shutBy?.waiting.delete(gate);
    gate.shutBy = undefined;
    this.#offer(gate);
  }

  /** What this gate leaves of its pools may be for another one. */
  #passOn({ claims }: Gate<Entry>, now: number): void {
    for (const { pool } of claims) if (pool.waiting.size > 0) this.#openNext(pool, now);
  }

  /** Opens the gate that has been shut by this pool for longest, of those it would let through now. */
  #openNext(pool: Pool, now: number): void {
    // Where all have the same limit it is the first; only those with a stricter one are passed over.
    for (const waiter of pool.isFree(now) ? pool.waiting : []) {
      if (!waiter.isFree(pool, now)) continue;
      this.#open(waiter as Gate<Entry>);
      return;
    }
    pool.watch(now);
  }

  #gateOf({ concurrency, rate }: Request): Gate<Entry> | undefined {
    if (concurrency === undefined && rate === undefined) return undefined;
    const name = JSON.stringify([concurrency?.key, concurrency?.limit, rate?.key, rate?.limit, rate?.perMs]);
    const known = this.#gates.get(name);
    if (known !== undefined) return known;
    const claims: Claim[] = [];
    if (concurrency !== undefined) claims.push(this.#claimOf(concurrency));
    if (rate !== undefined) claims.push(this.#pool(`rate ${rate.key}`, () => this.#rateOf(rate)).claim(rate));
    // Others could use a turn while this waits for its rate: so it is the last that is asked for.
    if (this.#world.turns !== undefined) claims.reverse();
    const gate = new Gate<Entry>(claims, name);
    this.#gates.set(name, gate);
    return gate;
  }

  #pool<Kind extends Pool>(name: string, make: () => Kind): Kind {
    const known = this.#pools.get(name);
    // The name says of which kind it is.
    if (known !== undefined) return known as Kind;
    if (this.#pools.size >= this.#poolsMax) this.#forgetPools();
    const pool = make();
    this.#pools.set(name, pool);
    return pool;
  }

  #claimOf(use: ConcurrencyUse): Claim {
    const { turns } = this.#world;
    if (turns === undefined) return this.#pool(`concurrency ${use.key}`, () => new Concurrency()).claim(use);
    const room = () => this.#slots - this.#used;
    const { clock } = this.#world;
    const make = () => new SharedConcurrency(use, { clock, turns, room, freed: (pool) => this.#freed(pool) });
    return this.#pool(`concurrency ${use.limit} ${use.key}`, make).claim();
  }

  #rateOf({ key, tenant }: RateUse): Rate {
    const { clock, store, turns } = this.#world;
    const allowance = new Allowance(store, { tenant, name: `${ratePrefix}${key}` });
    const isShared = turns !== undefined;
    return new Rate({ clock, allowance, isShared }, (pool) => this.#freed(pool));
  }

  /** There may be some of a pool for those who wait. */
  #freed(pool: Pool): void {
    if (pool.waiting.size === 0) return;
    this.#openNext(pool, this.#world.clock.now());
    this.#decide();
  }

  #forget(gate: Gate<Entry>): void {
    if (!gate.queue.isIdle || this.#gates.get(gate.name) !== gate) return;
    this.#gates.delete(gate.name);
    gate.close();
  }

  #forgetPools(): void {
    const now = this.#world.clock.now();
    for (const [name, pool] of this.#pools) {
      if (!pool.isForgettable(now)) continue;
      pool.forget(now);
      this.#pools.delete(name);
    }
    this.#poolsMax = Math.max(poolsKeptMin, 2 * this.#pools.size);
  }
}
