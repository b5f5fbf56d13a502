/**
 * A process among those that share a store. It gives signs of life, knows the others, sees to the runs of its share of the
 * shards, and hears what becomes of runs elsewhere.
 *
 * M1. Who sees to a run is a matter of speed alone (F3): two that believe they do, or none for a moment, harm nothing.
 * M2. A process that was put out stops, with all it knows; whoever wants to go on makes another runtime.
 */
import type { Outage } from "../../core/timer.ts";
import { HoldfastError, isUnavailable } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Fleet, KeyName, Member, Sign, Taken } from "../../store/fleet.ts";
import { homesOf } from "../../store/homes.ts";
import type { ActivityRow, InboxRow, RunName } from "../../store/records.ts";
import { shardCount, shardOf } from "../../store/shard.ts";
import type { Hint } from "../../store/signals.ts";
import type { Clock } from "../clock.ts";
import type { LiveRun } from "../live/live-run.ts";
import { callSafely } from "../observers.ts";
import type { Due, Hearer, Mark, Moved, Standing, Waiting } from "../standing.ts";
import { Together } from "../together.ts";
import { Follower } from "./follower.ts";
import { Herald } from "./herald.ts";
import { Turns } from "./turns.ts";

/** How long a process may go without a sign of life, and how often it gives one. */
const leaseMs = 2_500;
const beatMs = 500;
/** How soon a store that could not be reached is tried again. */
const againMs = 250;
/** How often what is due is looked for, by one who hears of it and by one who does not, who looks sooner after it found some. */
const hearingLookMs = 1_000;
const deafLookMs = 100;
const deafLookMsMin = 10;
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
  /** Events may wait for these runs, which it sees to. */
  arrived(names: readonly RunName[]): void;
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
  readonly #seqs: Together<RunName, number>;
  readonly #inboxes: Together<RunName, readonly InboxRow[]>;
  readonly #taken: Together<KeyName, Taken | undefined>;
  readonly #hearers = new Set<Hearer>();
  #members: readonly Member[] = [];
  #mine: ReadonlySet<number> = new Set();
  #others: readonly number[] = [];
  #lookedForStrays = 0;
  #straysMax = straysMin;
  #deafMs = deafLookMs;
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
    this.#follower = new Follower({ ...world, isHearing: () => this.#herald.isHearing });
    const max = limits.askedTogetherMax;
    this.#seqs = new Together({ clock, max, call: (names) => fleet.readSeqs(names) });
    this.#inboxes = new Together({
      ...{ clock, max },
      call: (names) => fleet.readInboxes(names, limits.inboxLoadedMax),
    });
    this.#taken = new Together({ clock, max, call: (events) => fleet.readTaken(events) });
    this.#herald = new Herald(fleet.signals, clock, {
      epoch: () => this.epoch,
      heard: (names) => this.#heard(names),
      deaf: () => this.#tellHearers(undefined),
    });
    this.turns = new Turns({
      ...{ fleet, clock, epoch: () => this.epoch },
      lookMs: () => (this.#herald.isHearing ? hearingLookMs : deafLookMs),
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
    this.#deafMs = names.length > unreadable ? deafLookMsMin : Math.min(2 * this.#deafMs, deafLookMs);
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
    return this.#herald.isHearing ? hearingLookMs : this.#deafMs;
  }

  async adopt(rows: readonly ActivityRow[]): Promise<readonly boolean[]> {
    if (!this.isWorker) return rows.map(() => false);
    return this.#world.fleet.adopt(rows, this.epoch);
  }

  async isNewest({ name, head }: LiveRun): Promise<boolean> {
    return (await this.#seqs.ask(name)) === head.seq;
  }

  readInbox(name: RunName): Promise<readonly InboxRow[]> {
    return this.#inboxes.ask(name);
  }

  readTaken(event: KeyName): Promise<Taken | undefined> {
    return this.#taken.ask(event);
  }

  tell(name: RunName, since?: number, isUrgent?: boolean): void {
    if (this.#members.length > 1) this.#herald.tell(name, since, isUrgent);
  }

  hear(hearer: Hearer): () => void {
    const one: Hearer = (moved) => hearer(moved);
    this.#hearers.add(one);
    return () => void this.#hearers.delete(one);
  }

  mark(name: RunName): Mark {
    return this.#follower.mark(name);
  }

  until<Answer>(name: RunName, ask: () => Promise<Answer | undefined>, since?: Mark): Waiting<Answer> {
    return this.#follower.until(name, ask, since);
  }

  members(): readonly Member[] {
    return this.#members;
  }

  #heard(names: readonly Hint[] | undefined): void {
    if (this.#hearers.size > 0)
      this.#tellHearers(names?.filter((name): name is Moved => name.since !== undefined));
    this.#follower.look(names);
    this.turns.look(names);
    const mine = names?.filter((name) => this.isHome(name));
    if (mine === undefined || mine.some(({ since }) => since !== undefined)) this.#world.lookAgain();
    const others = mine?.filter(({ since }) => since === undefined) ?? [];
    if (others.length > 0) this.#world.arrived(others);
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
