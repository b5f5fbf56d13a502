/**
 * A process among those that share a store. It gives signs of life, knows the others, sees to the runs of its share of the
 * shards, and hears what becomes of runs elsewhere.
 *
 * M1. Who sees to a run is a matter of speed alone (F3): two that believe they do, or none for a moment, harm nothing.
 * M2. A process that was put out stops, with all it knows; whoever wants to go on makes another runtime.
 */
import type { Outage } from "../../core/timer.ts";
import { HoldfastError, isUnavailable } from "../../errors.ts";
import type { Fleet, Member, Sign } from "../../store/fleet.ts";
import { homesOf } from "../../store/homes.ts";
import type { ActivityRow, RunName } from "../../store/records.ts";
import { shardCount, shardOf } from "../../store/shard.ts";
import type { Hint } from "../../store/signals.ts";
import type { Clock } from "../clock.ts";
import type { LiveRun } from "../live-run.ts";
import { callSafely } from "../observers.ts";
import type { Due, Hearer, Moved, Standing, Waiting } from "../standing.ts";
import { Checkpoints } from "./checkpoints.ts";
import { Follower } from "./follower.ts";
import { Herald } from "./herald.ts";
import { Turns } from "./turns.ts";

/** How long a process may go without a sign of life, and how often it gives one. */
const leaseMs = 2_500;
const beatMs = 500;
/** How soon a store that could not be reached is tried again. */
const againMs = 250;
/** How often what is due is looked for, by one who hears of it and by one who does not. */
const hearingLookMs = 1_000;
const deafLookMs = 100;
/** After so long, what is due and nobody has taken up is anybody's: who should see to it may not know its machine. */
const strayMs = 3_000;
/** How many of those are looked at first. While there are more it is twice as many each time, up to what it may see to itself. */
const straysMin = 20;

export interface MembershipWorld {
  readonly fleet: Fleet;
  readonly clock: Clock;
  readonly worker: string;
  /** Whether it sees to runs at all. */
  readonly isWorker: boolean;
  /** How much it has to do. */
  load(): Omit<Sign, "isLeaving">;
  /** Runs of which somebody here wants to know what becomes of them elsewhere. */
  followed(): Iterable<RunName>;
  /** The run in memory, if it is. */
  live(name: RunName): LiveRun | undefined;
  /** A run was changed elsewhere. */
  moved(name: RunName): void;
  /** Runs of which this holds have another home than before: this process, or another in its place. */
  rehomed(isRehomed: (name: RunName) => boolean, isHome: (name: RunName) => boolean): void;
  /** Runs that it sees to may have something to do. */
  lookAgain(): void;
  /** It is no member any more. */
  lost(error: unknown): void;
}

export class Membership implements Standing {
  epoch = 0;
  readonly isShared = true;
  readonly isWorker: boolean;
  readonly turns: Turns;
  readonly #world: MembershipWorld;
  readonly #herald: Herald;
  readonly #follower: Follower;
  readonly #checkpoints: Checkpoints;
  readonly #hearers = new Set<Hearer>();
  #members: readonly Member[] = [];
  #mine: ReadonlySet<number> = new Set();
  #others: readonly number[] = [];
  #lookedForStrays = 0;
  #straysMax = straysMin;
  /** When the last sign of life was given that was answered. */
  #aliveAt = 0;
  #isLeaving: boolean;
  #isStopped = false;
  #stopTimer: () => void = () => {};
  #beating: Promise<unknown> = Promise.resolve();

  constructor(world: MembershipWorld) {
    const { fleet, clock, isWorker } = world;
    this.#world = world;
    this.isWorker = isWorker;
    this.#isLeaving = !isWorker;
    this.#follower = new Follower(world);
    this.#checkpoints = new Checkpoints(fleet, clock);
    this.#herald = new Herald(fleet.signals, clock, {
      epoch: () => this.epoch,
      heard: (names) => this.#heard(names),
      deaf: () => this.#tellHearers(undefined),
    });
    this.turns = new Turns({
      ...{ fleet, clock, epoch: () => this.epoch, lookMs: () => this.lookMs() },
      tell: (name) => this.tell(name),
    });
  }

  async take(): Promise<readonly Outage[]> {
    const { fleet, clock, worker } = this.#world;
    const lease = await fleet.join(worker, leaseMs, clock.now());
    if (lease.outcome === "taken") {
      throw new HoldfastError(
        "STORE_OWNED",
        `Another process (${lease.owner}) owns all runs of this store, as tools that repair it do; wait until it has ended`,
      );
    }
    this.epoch = lease.epoch;
    await this.#beat();
    this.#beatIn(beatMs);
    this.#herald.start();
    this.#follower.start();
    return lease.outages;
  }

  async #beat(): Promise<void> {
    const { fleet, clock, load } = this.#world;
    const sign = { ...load(), ...(!this.isWorker && { slots: 0 }), isLeaving: this.#isLeaving };
    const at = clock.now();
    const members = await fleet.beat(this.epoch, leaseMs, sign, at);
    if (members === undefined) throw putOutError();
    this.#aliveAt = at;
    const isSame = homeKey(members) === homeKey(this.#members);
    this.#members = members;
    if (isSame) return;
    const homes = homesOf(members);
    const all = Array.from({ length: shardCount }, (_, shard) => shard);
    const before = this.#mine;
    const mine = new Set(all.filter((shard) => homes[shard] === this.epoch));
    this.#mine = mine;
    this.#others = all.filter((shard) => !mine.has(shard));
    const isRehomed = (name: RunName) => before.has(shardOf(name)) !== mine.has(shardOf(name));
    this.#world.rehomed(isRehomed, (name) => this.isHome(name));
    // Somebody may have gone with turns of theirs.
    this.turns.look(undefined);
  }

  #beatIn(ms: number): void {
    if (this.#isStopped) return;
    this.#stopTimer = this.#world.clock.after(ms, () => {
      this.#beating = this.#beat().then(
        () => this.#beatIn(beatMs),
        (error: unknown) => {
          // Nobody may have noticed, and if somebody has, no write of this process is taken.
          if (isUnavailable(error)) this.#beatIn(againMs);
          else if (!this.#isStopped) this.#world.lost(error);
        },
      );
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopTimer();
    this.#follower.stop();
    this.turns.stop();
    this.#herald.stop();
  }

  async yield(): Promise<void> {
    this.#isLeaving = true;
    await this.#beat();
    this.#herald.tellAll();
  }

  async giveBack(): Promise<void> {
    this.stop();
    await this.#beating.catch(() => {});
    if (this.epoch === 0) return;
    await this.#world.fleet.leave(this.epoch, this.#world.clock.now());
    this.#herald.tellAll();
  }

  isHome(name: RunName): boolean {
    return this.#mine.has(shardOf(name));
  }

  isSure(): boolean {
    // A clock that was set back must not make it sure for longer.
    return Math.abs(this.#world.clock.now() - this.#aliveAt) < leaseMs;
  }

  async due(now: number, limit: number, unreadable: number): Promise<Due> {
    if (!this.isWorker) return { names: [], isMore: false };
    const names = await this.#world.fleet.due([...this.#mine], now, limit + unreadable);
    const isMore = names.length >= limit + unreadable;
    if (this.#others.length === 0 || Math.abs(now - this.#lookedForStrays) < strayMs)
      return { names, isMore };
    const strays = await this.#strays(now, limit, unreadable);
    return { names: [...names, ...strays.names], isMore: isMore || strays.isMore };
  }

  /** What is due and others do not see to. Those that nobody can read come first for ever, so it looks past them. */
  async #strays(now: number, limit: number, unreadable: number): Promise<Due> {
    const max = Math.min(this.#straysMax, limit) + unreadable;
    const names = await this.#world.fleet.due(this.#others, now, max, now - strayMs);
    const isMore = names.length >= max;
    this.#straysMax = isMore ? Math.min(2 * this.#straysMax, limit) : straysMin;
    if (!isMore) this.#lookedForStrays = now;
    return { names, isMore };
  }

  nextDue(after: number): Promise<number | undefined> {
    return this.#world.fleet.nextDue([...this.#mine], after);
  }

  lookMs(): number {
    return this.#herald.isHearing ? hearingLookMs : deafLookMs;
  }

  async adopt(rows: readonly ActivityRow[]): Promise<readonly boolean[]> {
    if (!this.isWorker) return rows.map(() => false);
    return this.#world.fleet.adopt(rows, this.epoch);
  }

  async isNewest({ name, head }: LiveRun): Promise<boolean> {
    return (await this.#checkpoints.read(name)) === head.seq;
  }

  tell(name: RunName, since?: number): void {
    if (this.#members.length > 1) this.#herald.tell(name, since);
  }

  hear(hearer: Hearer): () => void {
    const one: Hearer = (moved) => hearer(moved);
    this.#hearers.add(one);
    return () => void this.#hearers.delete(one);
  }

  until<Answer>(name: RunName, ask: () => Promise<Answer | undefined>): Waiting<Answer> {
    return this.#follower.until(name, ask);
  }

  members(): readonly Member[] {
    return this.#members;
  }

  #heard(names: readonly Hint[] | undefined): void {
    if (this.#hearers.size > 0)
      this.#tellHearers(names?.filter((name): name is Moved => name.since !== undefined));
    this.#follower.look(names);
    this.turns.look(names);
    if (names === undefined || names.some((name) => this.isHome(name))) this.#world.lookAgain();
  }

  #tellHearers(moved: readonly Moved[] | undefined): void {
    if (moved?.length === 0) return;
    for (const hearer of this.#hearers) {
      // Whoever only listens cannot hurt those who work.
      callSafely(
        () => hearer(moved),
        () => {},
      );
    }
  }
}

/** What tells whether shards have other homes than before. */
const homeKey = (members: readonly Member[]): string =>
  members.map(({ epoch, isLeaving }) => `${epoch} ${isLeaving}`).join();

function putOutError(): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    "This process gave no sign of life for too long, and others took over what it saw to; create another runtime",
  );
}
