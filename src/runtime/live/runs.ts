/**
 * Finding runs: there is one of each in memory at most, read from the store when somebody wants it.
 *
 * R1. What waits in the store for a run comes before what is sent to it later. A run that gets another home while it is read
 *     or busy may have something there that nobody here knows of: until its inbox was read, what is sent goes there too.
 * R2. What was read is not taken for the run if that was in memory since the reading began, though it is not any more: it may
 *     have gone further. It is read again.
 */
import { isHoldfastError, isUnavailable } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { InboxRow, RunName } from "../../store/records.ts";
import type { LoadedRun, Store } from "../../store/store.ts";
import { unknownRunError } from "../name.ts";
import type { Profiler } from "../profile/profiler.ts";
import type { Standing } from "../standing.ts";
import { hasEnded, type LiveRun } from "./live-run.ts";
import { type Reading, Residents } from "./residents.ts";

export interface RunsWorld {
  readonly store: Store;
  readonly standing: Pick<Standing, "isShared" | "isHome" | "isNewest">;
  readonly profiler?: Profiler | undefined;
  isBusy(run: LiveRun): boolean;
  /** Has what a busy run has taken committed soon, though it may wait by its policy. */
  hasten(run: LiveRun): void;
  /** Whether what waits for a run is on its way here. */
  isReading(run: LiveRun): boolean;
  /** The live run, its inbox still empty. */
  hydrate(loaded: LoadedRun): Promise<LiveRun>;
  /** The store has told of a run: its newest step may be one whose commit was not answered. */
  wasLoaded(loaded: LoadedRun): void;
  /** A run was read. */
  wasRead(run: LiveRun): void;
  /** A run was looked for, and is not there. */
  wasMissing(name: RunName): void;
  /** What time it is: a run with a timer that is due has something to do whatever else the store has for it. */
  now(): number;
  /** Goes on with a run that is active, with its activities and its timers, if that is wanted still when they were read. */
  takeUp(run: LiveRun, loaded: LoadedRun, isWanted: () => boolean): Promise<void>;
  /** Hands an event from the inbox to a run. */
  bring(run: LiveRun, row: InboxRow): void;
  /** A run cannot go on. */
  park(run: LiveRun, error: unknown): void;
  /** These runs are looked for again in a while. */
  wakeLater(names: readonly RunName[]): void;
}

/** Says that a run did not begin, since one of its name has. */
export class TakenError extends Error {
  constructor({ run }: RunName) {
    super(`There is a run ${JSON.stringify(run)} already`);
  }
}

export class Runs {
  readonly #world: RunsWorld;
  readonly #residents: Residents;
  /** Runs that came back while the store could not be read. */
  readonly #unrevived = new WeakSet<LiveRun>();
  /** How often homes have changed. */
  #homings = 0;

  constructor(world: RunsWorld) {
    this.#world = world;
    this.#residents = new Residents((run) => world.isBusy(run));
  }

  /** The run, if it is in memory. */
  live(name: RunName): LiveRun | undefined {
    return this.#residents.read(name);
  }

  /** Takes in a run that has begun, unless somebody has read it already. */
  add(run: LiveRun): void {
    if (this.live(run.name) === undefined) this.#residents.add(run);
  }

  /** Whether no other run of this name is in memory. */
  isOnly(run: LiveRun): boolean {
    return (this.live(run.name) ?? run) === run;
  }

  remove(run: LiveRun): void {
    this.#residents.remove(run);
  }

  /** The live run; reads it from the store if it is not in memory. */
  async find(name: RunName): Promise<LiveRun | undefined> {
    const found = this.#residents.find(name, (reading) => this.#load(name, reading));
    if (!(found instanceof Promise)) this.#world.profiler?.runs.hit();
    return found;
  }

  /**
   * The live run, with what the store has for it taken up, whoever's it is to see to that. One that is in memory may have been
   * changed by others, or have something to do that nobody here was told of. What is under way for this process is due for
   * nobody: of a run in doubt it is taken up however busy that is, since it may have been read since by somebody who did not.
   */
  async attend(name: RunName, isInDoubt = false): Promise<LiveRun | undefined> {
    const live = this.live(name);
    if (live === undefined) return this.#attendAnew(name, isInDoubt);
    const { store, standing, isBusy, isReading, bring, now } = this.#world;
    if (this.#unrevived.has(live) || (isInDoubt && standing.isShared)) await this.#takeUpAgain(live);
    // One that is parked here does nothing about that: somebody else may have brought it back.
    const { status, wakeAt } = live.head;
    const isDue = status === "active" && wakeAt !== undefined && wakeAt <= now();
    if (!standing.isShared || isBusy(live) || isReading(live) || isDue) return live;
    // What it has here need not be read again.
    const loaded = await store.load(name, { seq: live.head.seq, digest: live.head.digest });
    if (isBusy(live) || this.live(name) !== live) return this.live(name);
    if (loaded === undefined || loaded.head.seq !== live.head.seq) {
      this.#residents.remove(live);
      return this.#attendAnew(name, isInDoubt);
    }
    this.#world.wasLoaded(loaded);
    this.#world.wasRead(live);
    if (live.head.status !== "active") return live;
    await this.#takeUp(live, loaded);
    // Put out meanwhile, it would go on beside the one that is read next.
    if (this.live(name) !== live) return this.attend(name);
    for (const row of loaded.inbox) bring(live, row);
    return live;
  }

  /** Reads a run and takes it up. Whoever is reading it already may not see to it: then it is attended to once it is in memory. */
  async #attendAnew(name: RunName, isInDoubt: boolean): Promise<LiveRun | undefined> {
    const isJoined = this.#world.standing.isShared && this.#residents.isReading(name);
    const run = await this.#residents.find(name, (reading) => this.#load(name, reading, true));
    return isJoined && run !== undefined ? this.attend(name, isInDoubt) : run;
  }

  /** The newest run with all that it has to take: what waits for a commit at its home waits in the store, too, for anybody. */
  async taking(name: RunName): Promise<LiveRun> {
    const run = await this.newest(name);
    const { checkpoint } = run.machine.machine.definition;
    if (checkpoint === undefined || this.#world.standing.isHome(name)) return run;
    return (await this.attend(name)) ?? run;
  }

  /** The run at its newest checkpoint; throws RUN_UNKNOWN. Others may have changed it since it was read. */
  newest(name: RunName): Promise<LiveRun> | LiveRun {
    if (!this.#world.standing.isShared) return this.reach(name);
    const live = this.live(name);
    if (live !== undefined) return this.#compared(live);
    // What is being read may be from before whatever the one who asks knows of.
    if (this.#residents.isReading(name)) return this.read(name).then((run) => this.#compared(run));
    return this.read(name);
  }

  async #compared(live: LiveRun): Promise<LiveRun> {
    const { store, standing, isBusy, hydrate } = this.#world;
    if (await standing.isNewest(live)) return live;
    // One that is about to commit finds out by itself; whoever reads has a copy meanwhile.
    if (!isBusy(live)) {
      this.#residents.remove(live);
      return this.newest(live.name);
    }
    const loaded = await store.load(live.name);
    if (loaded === undefined) throw unknownRunError(live.name);
    return hydrate(loaded);
  }

  /** Reads a run again that was changed elsewhere. One that is busy finds out by its next commit, and is read then. */
  async refresh(name: RunName): Promise<void> {
    const live = this.live(name);
    if (live !== undefined && this.#world.isBusy(live)) return this.#world.hasten(live);
    if (live !== undefined) this.#residents.remove(live);
    await this.find(name);
  }

  /** The run as the store has it, whatever is in memory; one that is about to commit finds out by itself. Throws RUN_UNKNOWN. */
  async readAnew(name: RunName): Promise<LiveRun> {
    await this.refresh(name);
    return this.read(name);
  }

  /** Drops those that are not busy and have another home now: whoever sees to them reads them anew. Of the others see R1. */
  rehome(isRehomed: (name: RunName) => boolean): void {
    this.#homings++;
    for (const busy of this.#residents.removeIdle(isRehomed)) busy.more = true;
  }

  /** The live run, at once if it is in memory; throws RUN_UNKNOWN. */
  reach(name: RunName): Promise<LiveRun> | LiveRun {
    const live = this.live(name);
    if (live === undefined) return this.read(name);
    this.#world.profiler?.runs.hit();
    return live;
  }

  /** The live run; throws RUN_UNKNOWN. */
  async read(name: RunName): Promise<LiveRun> {
    const run = await this.find(name);
    if (run !== undefined) return run;
    throw unknownRunError(name);
  }

  /** The live run; if there is none, the one that begins, be it by somebody else in the same moment. */
  async findOrBegin(name: RunName, begin: () => Promise<LiveRun>): Promise<LiveRun> {
    const load = async (reading: Reading) =>
      (await this.#load(name, reading)) ??
      begin().catch((error: unknown) => {
        if (error instanceof TakenError) return this.#load(name, reading);
        throw error;
      });
    // Somebody may have looked for it just before it began.
    return ((await this.#residents.find(name, load)) ?? (await this.#residents.find(name, load))) as LiveRun;
  }

  /** Whoever holds a run that was put out meanwhile means the one that is in. One that is to begin means itself. */
  current(run: LiveRun): LiveRun {
    // Another of its name may have begun since it was looked for: then the store refuses this one.
    if (run.head.seq === 0) return run;
    const current = this.#residents.read(run.name);
    if (current !== undefined) return current;
    run.more ||= this.#world.standing.isShared;
    this.#residents.add(run);
    return run;
  }

  /** A run that was parked is active again: what it waits for is taken up, as if it had been read anew. */
  async revive(run: LiveRun): Promise<void> {
    run.more = true;
    try {
      await this.#takeUpAgain(run);
    } catch (error) {
      if (!isUnavailable(error)) return this.#world.park(run, error);
      // Whoever has it goes on with it meanwhile, so it is not enough to have it read anew.
      this.#unrevived.add(run);
      this.#world.wakeLater([run.name]);
    }
  }

  async #takeUpAgain(run: LiveRun): Promise<void> {
    const loaded = await this.#world.store.load(run.name);
    if (run.head.status === "active" && loaded !== undefined) await this.#takeUp(run, loaded);
    this.#unrevived.delete(run);
  }

  /** What is this process's now is due for nobody: if it came to that and no further, the run is looked for again. */
  async #takeUp(run: LiveRun, loaded: LoadedRun, isWanted = () => this.isOnly(run)): Promise<void> {
    try {
      await this.#world.takeUp(run, loaded, isWanted);
    } catch (error) {
      if (isUnavailable(error)) this.#world.wakeLater([run.name]);
      throw error;
    }
  }

  async #load(
    name: RunName,
    reading: Reading,
    attends = this.#world.standing.isHome(name),
  ): Promise<LiveRun | undefined> {
    // One may have begun while it was looked for, as the child of another.
    const run = (await this.#read(name, reading, attends)) ?? this.live(name);
    if (run === undefined) this.#world.wasMissing(name);
    return run;
  }

  async #read(name: RunName, reading: Reading, attends: boolean): Promise<LiveRun | undefined> {
    const homings = this.#homings;
    reading.isOvertaken = false;
    const loaded = await this.#world.store.load(name);
    if (loaded === undefined) return undefined;
    this.#world.profiler?.runs.miss();
    // What has ended goes on no longer, however long it takes to read the rest.
    if (!reading.isOvertaken && this.live(name) === undefined) this.#world.wasLoaded(loaded);
    const run = await this.#world.hydrate(loaded).catch(async (error: unknown) => {
      // What was removed while it was read has lost its texts, and is not damaged.
      if (isHoldfastError(error) && (await this.#world.store.readHead(name)) === undefined) return undefined;
      throw error;
    });
    if (run === undefined) return undefined;
    const isNewest = () => !reading.isOvertaken && this.isOnly(run);
    if (isNewest()) this.#world.wasRead(run);
    if (attends && isNewest() && run.head.status === "active") await this.#takeUp(run, loaded, isNewest);
    const begun = this.live(name);
    if (begun !== undefined) return begun;
    if (reading.isOvertaken) return this.#read(name, reading, attends);
    // From here on what comes for it finds it, and comes after what has waited (R1).
    run.more = homings !== this.#homings;
    if (!hasEnded(run)) this.#residents.add(run);
    if (run.head.status !== "active" || !attends) return run;
    run.more ||= loaded.inbox.length >= limits.inboxLoadedMax;
    for (const row of loaded.inbox) this.#world.bring(run, row);
    return run;
  }
}
