/**
 * The step loop: the main flow of the runtime. Events become ready, runs take their steps, everything goes to the store
 * in one commit, and only then does the world hear of it.
 *
 * L1. Nothing a step asks for happens before the commit of that step.
 * L2. A run has one turn at a time; what comes meanwhile waits for the next one.
 * L3. Whatever became ready while a commit was on its way goes into the next one together: no delay when idle, large
 *     groups under load.
 * L4. A commit that the store refuses, or of which nobody knows whether it was made, leaves the run as the store has it:
 *     it is dropped from memory and read again.
 */
import { isUnstorable } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Commit, CommitOutcome, Store } from "../store/store.ts";
import { mayWait } from "./checkpoint-policy.ts";
import type { Clock } from "./clock.ts";
import { isControl } from "./control.ts";
import { type Delivery, type Handled, hasEnded, type LiveRun, takeDelivery } from "./live/live-run.ts";
import { fencedError } from "./ownership.ts";
import type { Standing } from "./standing.ts";
import { type Recording, Turn } from "./turn.ts";

/** What the loop needs of the rest of the runtime. */
export interface LoopWorld extends Recording {
  readonly store: Store;
  readonly clock: Clock;
  readonly standing: Pick<Standing, "epoch" | "isWorker">;
  /** A turn of a run is durable: its effects may happen now. */
  published(turn: Turn): void;
  /** The store has another idea of this run than memory, or has had one of the keys before; these were not taken. */
  refused(run: LiveRun, deliveries: readonly Delivery[], outcome: CommitOutcome): void;
  /** Nobody knows whether this turn was committed. */
  unknown(turn: Turn, deliveries: readonly Delivery[], error: unknown): void;
  /** A run that has ended or is parked cannot take these. */
  left(run: LiveRun, deliveries: readonly Delivery[]): void;
  /** Something is wrong with the loop itself. */
  failed(error: unknown): void;
}

/** The store failed instead of saying what became of a commit. */
interface Unknown {
  readonly outcome: "unknown";
  readonly error: unknown;
}

/** How a turn of a run ended. `overtaken`: the store is ahead of the run, which is read again. */
type TurnEnd = "over" | "overtaken" | { readonly error: unknown };

export class StepLoop {
  readonly #world: LoopWorld;
  readonly #ready = new Set<LiveRun>();
  /** Turns that may wait for a later commit, as the policy of their machine says. */
  readonly #waiting = new Map<LiveRun, Turn>();
  /** Turns under way, until what became of their commit is known. */
  readonly #taking = new Map<LiveRun, Turn>();
  /** Runs of which somebody waits for the end of a turn: few, and only then does a turn cost more for it. */
  readonly #awaited = new Map<LiveRun, PromiseWithResolvers<TurnEnd>>();
  /** The rounds under way, until nobody is ready. */
  #going: Promise<void> | undefined;
  /** Why no more turns are taken. */
  #closed: { readonly error: unknown } | undefined;

  constructor(world: LoopWorld) {
    this.#world = world;
  }

  /** Hands an event to a run. It is taken in one of the next turns. */
  deliver(run: LiveRun, delivery: Delivery): void {
    if (this.#closed !== undefined) {
      tellClosed(delivery, this.#closed.error);
      return;
    }
    // Whoever gives it may have read the run before it was parked or ended.
    if (hasEnded(run) || (run.head.status !== "active" && !isControl(delivery.event))) {
      this.#world.left(run, [delivery]);
      return;
    }
    this.#world.profiler?.arrived(delivery);
    run.inbox.push(delivery);
    this.wake(run);
  }

  /** Makes sure a run that has something to take gets its turn. */
  wake(run: LiveRun): void {
    this.#ready.add(run);
    if (this.#going !== undefined || this.#closed !== undefined) return;
    this.#going = new Promise((done) => {
      this.#world.clock.soon(() => void this.#rounds().then(done));
    });
  }

  /**
   * Commits what a run has taken and not committed yet, once it has taken all it was given; throws if the store cannot.
   * False if the store is ahead of the run: what it has taken is taken again by the one that is read.
   */
  async checkpoint(run: LiveRun): Promise<boolean> {
    const given = Math.max(1, Math.ceil(run.inbox.length / limits.stepsPerTurnMax));
    // What it is given from now on is not waited for: that might never end.
    for (let turns = given + (this.#taking.has(run) ? 1 : 0); ; turns--) {
      if ((turns <= 0 || !this.isTaking(run)) && !this.hasten(run)) return true;
      const end = await this.#turnOf(run);
      if (end === "overtaken") return false;
      if (end !== "over") throw end.error;
    }
  }

  /** Has what a run has taken committed in its next turn, though it may wait by its policy; false if nothing waits. */
  hasten(run: LiveRun): boolean {
    const waiting = this.#waiting.get(run);
    if (waiting === undefined) return false;
    waiting.forced = true;
    this.wake(run);
    return true;
  }

  /** How the turn of a run that is under way ends, or else its next one. */
  #turnOf(run: LiveRun): Promise<TurnEnd> | TurnEnd {
    if (this.#closed !== undefined && !this.#taking.has(run)) return this.#closed;
    const awaited = this.#awaited.get(run) ?? Promise.withResolvers<TurnEnd>();
    this.#awaited.set(run, awaited);
    return awaited.promise;
  }

  /** A turn of a run is over. */
  #end(run: LiveRun, end: TurnEnd): void {
    this.#taking.delete(run);
    if (this.#awaited.size === 0) return;
    this.#awaited.get(run)?.resolve(end);
    this.#awaited.delete(run);
  }

  /** Whether a run has something to take, or is about to commit it. */
  isTaking(run: LiveRun): boolean {
    return run.inbox.length > 0 || this.#ready.has(run) || this.#taking.has(run);
  }

  /** Whether memory is ahead of the store, or about to be. */
  isBusy(run: LiveRun): boolean {
    return this.isTaking(run) || this.#waiting.has(run);
  }

  /** Takes no more turns; resolves when the round under way is over. Whoever waits for another turn is told why there is none. */
  async close(error: unknown): Promise<void> {
    this.#closed = { error };
    await this.#going;
    this.#giveUp(error);
  }

  /** No turn will come, and none that is under way will be concluded. */
  #giveUp(error: unknown): void {
    const takenBack = [...this.#taking.values()].flatMap((turn) => this.#takeBack(turn));
    const untaken = [...this.#ready].flatMap(({ inbox }) => inbox.splice(0));
    this.#ready.clear();
    for (const delivery of [...takenBack, ...untaken]) tellClosed(delivery, error);
    for (const run of this.#awaited.keys()) this.#end(run, { error });
  }

  async #rounds(): Promise<void> {
    try {
      while (this.#ready.size > 0 && this.#closed === undefined) {
        await this.#takeTurns();
        // A store may answer at once, for ever: whatever else the process has to do comes in between.
        await new Promise<void>((resolve) => this.#world.clock.soon(resolve));
      }
    } catch (error) {
      this.#closed = { error };
      this.#giveUp(error);
      this.#world.failed(error);
    } finally {
      this.#going = undefined;
    }
  }

  /** One round: every ready run has its turn, one commit makes them durable, and then they are published. */
  async #takeTurns(): Promise<void> {
    const now = this.#world.clock.now();
    const turns: Turn[] = [];
    const commits: Commit[] = [];
    // Whoever becomes ready meanwhile, a run that has more to take among them, is for the next round (L2).
    let bytes = 0;
    let left = Math.min(this.#ready.size, limits.runsPerRoundMax);
    for (const run of this.#ready) {
      if (left-- === 0 || bytes >= limits.commitBytesMax) break;
      this.#ready.delete(run);
      const turn = this.#takeSteps(run, now);
      const commit = turn && this.#prepare(turn);
      if (turn === undefined || commit === undefined) continue;
      turns.push(turn);
      commits.push(commit);
      bytes += turn.bytes;
    }
    if (commits.length === 0) return;
    const outcomes = await this.#commit(commits);
    if (outcomes.length !== commits.length)
      throw new Error(`The store was given ${commits.length} commits and told of ${outcomes.length}`);
    let bug: { readonly error: unknown } | undefined;
    for (let index = 0; index < turns.length; index++) {
      try {
        this.#conclude(turns[index] as Turn, outcomes[index] as CommitOutcome | Unknown);
      } catch (error) {
        // What goes wrong with one must not leave the others without an answer.
        bug ??= { error };
      }
    }
    if (bug !== undefined) throw bug.error;
  }

  /** If something in it cannot be kept nothing was made: each is tried by itself, so that others do not suffer for one. */
  async #commit(commits: readonly Commit[]): Promise<readonly (CommitOutcome | Unknown)[]> {
    try {
      return await this.#world.store.commit(commits);
    } catch (error) {
      if (!isUnstorable(error) || commits.length === 1)
        return commits.map(() => ({ outcome: "unknown", error }));
      const outcomes: (CommitOutcome | Unknown)[] = [];
      for (const commit of commits) outcomes.push(...(await this.#commit([commit])));
      return outcomes;
    }
  }

  /** The steps a run takes now; undefined if there is nothing to commit yet. */
  #takeSteps(run: LiveRun, now: number): Turn | undefined {
    if (this.#taking.has(run)) throw new Error(`The run ${JSON.stringify(run.name.run)} has two turns (L2)`);
    const turn = this.#waiting.get(run) ?? new Turn(run, this.#world);
    this.#taking.set(run, turn);
    this.#waiting.delete(run);
    for (let steps = 0; run.inbox.length > 0 && turn.head.status === run.head.status; steps++) {
      if (steps >= limits.stepsPerTurnMax || turn.bytes >= limits.commitBytesMax) {
        this.#ready.add(run);
        break;
      }
      const delivery = takeDelivery(run);
      try {
        if (turn.stopsBefore(delivery, now)) run.inbox.unshift(delivery);
        else this.#take(turn, delivery, now);
      } catch (error) {
        delivery.failed(error);
      }
    }
    if (turn.parks) this.#putAside(turn, now);
    if (turn.taken.length > 0) {
      if (!mayWait(turn)) return turn;
      this.#waiting.set(run, turn);
    }
    this.#end(run, "over");
    return undefined;
  }

  #take(turn: Turn, delivery: Delivery, now: number): void {
    const taken = this.#world.profiler?.take(delivery, turn.state);
    try {
      turn.take(delivery, now);
    } finally {
      taken?.();
    }
  }

  /** What is left for a run that was parked is kept with the same commit: of a batch all is kept, or nothing. */
  #putAside(turn: Turn, now: number): void {
    const { inbox } = turn.run;
    for (const delivery of inbox.splice(0)) {
      try {
        if (!turn.putAside(delivery, now)) inbox.push(delivery);
      } catch (error) {
        delivery.failed(error);
      }
    }
  }

  #prepare(turn: Turn): Commit | undefined {
    try {
      return turn.commit(this.#world.standing.epoch);
    } catch (error) {
      for (const { failed } of this.#takeBack(turn)) failed(error);
      this.#end(turn.run, { error });
      return undefined;
    }
  }

  #conclude(turn: Turn, outcome: CommitOutcome | Unknown): void {
    const { run, taken, repeats, aside } = turn;
    if (outcome.outcome === "unknown") {
      this.#world.unknown(turn, this.#takeBack(turn), outcome.error);
      this.#end(run, outcome);
      return;
    }
    if (outcome.outcome !== "committed") {
      this.#world.refused(run, this.#takeBack(turn), outcome);
      // Of a duplicate all but the repeat is taken again: whoever waits goes on waiting for that.
      if (outcome.outcome !== "duplicate" || !this.isTaking(run)) this.#end(run, refusedEnd(run, outcome));
      return;
    }
    turn.adopt();
    this.#end(run, "over");
    for (const { delivery, step, seq } of taken)
      delivery?.handled?.({ seq, outcome: step.outcome, error: step.error });
    for (const { delivery, row } of aside) delivery.aside?.(row);
    for (const repeat of repeats) repeat.handled?.(handledAs(repeat, turn));
    try {
      this.#world.published(turn);
    } finally {
      this.#leave(run);
    }
  }

  /** A turn ends where the status changes; what is left is for the run as it is now. */
  #leave(run: LiveRun): void {
    if (run.inbox.length === 0) return;
    if (run.head.status === "active") this.wake(run);
    else this.#world.left(run, run.inbox.splice(0));
  }

  /** Everything that was to be taken with a commit that did not happen, in its order. */
  #takeBack({ run, taken, repeats, aside }: Turn): Delivery[] {
    this.#ready.delete(run);
    this.#taking.delete(run);
    const before = [...taken, ...aside].flatMap(({ delivery }) => delivery ?? []);
    return [...before, ...repeats, ...run.inbox.splice(0)];
  }
}

function refusedEnd({ name }: LiveRun, { outcome }: CommitOutcome): TurnEnd {
  if (outcome === "fenced") return { error: fencedError(name) };
  return outcome === "conflict" ? "overtaken" : "over";
}

/** Whoever handed it in is told why it is not taken; what is in the inbox stays there for whoever comes next. */
function tellClosed({ failed, row }: Delivery, error: unknown): void {
  if (row === undefined) failed(error);
}

/** What became of the first delivery of a key is what became of its repeats. */
function handledAs({ key }: Delivery, { taken }: Turn): Handled {
  const { step, seq } = taken.find(({ delivery }) => delivery?.key === key) as Turn["taken"][number];
  return { seq, outcome: step.outcome, error: step.error };
}
