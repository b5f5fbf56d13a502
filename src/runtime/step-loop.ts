/**
 * The step loop: the main flow of the runtime. Events become ready, runs take their steps, everything goes to the store
 * in one commit, and only then does the world hear of it.
 *
 * L1. Nothing a step asks for happens before the commit of that step.
 * L2. A run has one turn at a time; what comes meanwhile waits for the next one.
 * L3. Whatever became ready while a commit was on its way goes into the next one together: no delay when idle, large
 *     groups under load.
 * L4. A commit that the store refuses leaves the run as the store has it: it is dropped from memory and read again.
 */
import { cancel, type Step, start, step } from "../core/step.ts";
import { HoldfastError, isHoldfastError } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import type { CommitOutcome, Store } from "../store/store.ts";
import { Checkpoint, type Recording } from "./checkpoint.ts";
import type { Clock } from "./clock.ts";
import { type Delivery, type LiveRun, takeDelivery } from "./live-run.ts";

/** How many steps of one run go into one commit: enough to batch, few enough to be fair to the others. */
const stepsPerTurnMax = 64;

/** What the loop needs of the rest of the runtime. */
export interface LoopWorld extends Recording {
  readonly store: Store;
  readonly clock: Clock;
  readonly epoch: () => number;
  /** A turn of a run is durable: its effects may happen now. */
  published(checkpoint: Checkpoint): void;
  /** The store has another idea of this run; its deliveries that were only in memory come back. */
  lost(run: LiveRun, deliveries: readonly Delivery[], outcome: CommitOutcome): void;
  /** The store cannot be reached, or this process no longer owns the runs. */
  failed(error: unknown): void;
}

export class StepLoop {
  readonly #world: LoopWorld;
  readonly #ready = new Set<LiveRun>();
  #turning = false;
  #closed = false;

  constructor(world: LoopWorld) {
    this.#world = world;
  }

  /** Hands an event to a run. It is taken in one of the next turns. */
  deliver(run: LiveRun, delivery: Delivery): void {
    run.inbox.push(delivery);
    this.wake(run);
  }

  /** Makes sure a run that has something to take gets its turn. */
  wake(run: LiveRun): void {
    this.#ready.add(run);
    if (this.#turning || this.#closed) return;
    this.#turning = true;
    this.#world.clock.soon(() => void this.#turns());
  }

  close(): void {
    this.#closed = true;
  }

  async #turns(): Promise<void> {
    try {
      while (this.#ready.size > 0 && !this.#closed) await this.#turn();
    } catch (error) {
      this.#closed = true;
      this.#world.failed(error);
    } finally {
      this.#turning = false;
    }
  }

  /** One turn: every ready run takes its steps, one commit makes them durable, and then they are published. */
  async #turn(): Promise<void> {
    const { store, clock, epoch } = this.#world;
    const now = clock.now();
    const runs = [...this.#ready];
    this.#ready.clear();
    const turns = runs.map((run) => this.#takeSteps(run, now));
    // Without a step there is nothing to commit: whatever is repeated was durable before this turn.
    for (const { taken, run, repeats } of turns) if (taken.length === 0) answer(repeats, run);
    const checkpoints = turns.filter(({ taken }) => taken.length > 0);
    if (checkpoints.length === 0) return;
    const commits = checkpoints.map((checkpoint) => checkpoint.commit(epoch()));
    const outcomes = await store.commit(commits, now);
    checkpoints.forEach((checkpoint, index) => {
      this.#conclude(checkpoint, outcomes[index] as CommitOutcome);
    });
  }

  #takeSteps(run: LiveRun, now: number): Checkpoint {
    const checkpoint = new Checkpoint(run, this.#world);
    while (run.inbox.length > 0 && checkpoint.taken.length < stepsPerTurnMax) {
      const delivery = takeDelivery(run) as Delivery;
      const { key } = delivery;
      if (key !== undefined && run.keys.has(key)) {
        checkpoint.repeats.push(delivery);
        continue;
      }
      if (key !== undefined) run.keys.add(key);
      try {
        checkpoint.add(delivery, stepOf(run, checkpoint, delivery, now), now);
      } catch (error) {
        if (!isHoldfastError(error)) throw error;
        delivery.failed?.(error);
      }
    }
    if (run.inbox.length > 0) this.#ready.add(run);
    return checkpoint;
  }

  #conclude(checkpoint: Checkpoint, outcome: CommitOutcome): void {
    const { run, taken, repeats } = checkpoint;
    if (outcome.outcome === "committed") {
      checkpoint.adopt();
      for (const { delivery, step: made, seq } of taken) {
        delivery.handled?.({ seq, outcome: made.outcome, error: made.error });
      }
      answer(repeats, run);
      this.#world.published(checkpoint);
      return;
    }
    this.#ready.delete(run);
    const deliveries = [...taken.map(({ delivery }) => delivery), ...repeats, ...run.inbox.splice(0)];
    this.#world.lost(run, deliveries, outcome);
  }
}

/** Tells senders that their event is one the run has had. */
function answer(repeats: readonly Delivery[], { head }: LiveRun): void {
  for (const { handled } of repeats) handled?.({ seq: head.seq, outcome: "ignored", error: undefined });
}

/** The step a delivery leads to; `cancel` is the one event the machine has no say in. */
function stepOf(
  { machine, name }: LiveRun,
  { state, head }: Checkpoint,
  delivery: Delivery,
  at: number,
): Step {
  const options = { at, run: name.run };
  if (head.seq === 0) return start(machine.machine, delivery.event.data, options);
  if (delivery.event.type === "cancel" && delivery.event.kind === "platform")
    return cancel(machine.machine, state, options);
  return step(machine.machine, state, delivery.event, options);
}

/** The error a sender gets when its run went to another owner. */
export function fencedError({ run }: RunName): HoldfastError {
  return new HoldfastError(
    "STORE_OWNED",
    `Another process owns the runs of this store now; ${JSON.stringify(run)} goes on there`,
  );
}
