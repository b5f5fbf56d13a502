/** Recovery: what becomes of deliveries when their commit was refused, or nobody knows whether it was made. */
import type { Event } from "../core/event.ts";
import { HoldfastError, isUnavailable, isUnstorable } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import type { CommitOutcome } from "../store/store.ts";
import { isControl } from "./control.ts";
import { type Delivery, hasEnded, type LiveRun } from "./live/live-run.ts";
import { TakenError } from "./live/runs.ts";
import { fencedError } from "./ownership.ts";
import { ParkedError } from "./park.ts";
import type { Receipt } from "./run.ts";
import type { Turn } from "./turn.ts";

export interface RecoveryWorld {
  /** The run as the store has it. */
  read(name: RunName): Promise<LiveRun>;
  /** Drops a run from memory. */
  forget(run: LiveRun): void;
  /** Nobody knows what became of a run's newest step: nothing of it begins until it was read. */
  doubt(name: RunName): void;
  deliver(run: LiveRun, delivery: Delivery): void;
  /** Reads on in the run's inbox, unless it has something to take first. */
  refill(run: LiveRun): void;
  readReceipt(name: RunName, key: string): Promise<Receipt | undefined>;
  park(run: LiveRun, error: unknown): void;
  /** These runs, and what is due, are looked for again in a while. */
  wakeLater(names: readonly RunName[]): void;
  /** The runtime cannot go on. */
  fail(error: unknown): void;
}

export class Recovery {
  readonly #world: RecoveryWorld;

  constructor(world: RecoveryWorld) {
    this.#world = world;
  }

  /** The store has another idea of the run than memory, or has had one of the keys before. */
  refused(run: LiveRun, deliveries: readonly Delivery[], outcome: CommitOutcome): void {
    if (outcome.outcome === "fenced") {
      const error = fencedError(run.name);
      for (const { failed } of deliveries) failed(error);
      this.#world.fail(error);
    } else if (outcome.outcome === "duplicate") {
      // Nothing was written, so memory is right: all but the repeat are taken again. The first one of its key may be
      // among them, if that has waited in the inbox.
      for (const delivery of deliveries)
        if (delivery.key !== outcome.key || delivery.row !== undefined) this.#world.deliver(run, delivery);
        else this.#answerRepeat(run, delivery);
      if (run.more) this.#world.refill(run);
    } else if (outcome.outcome === "conflict") {
      this.#drop(run);
      const isOwn = outcome.run === run.name.run;
      // Whoever asks for it waits for what is told here, so there is nothing to read.
      if (isOwn && run.head.seq === 0) {
        const error = outcome.seq > 0 ? new TakenError(run.name) : rootlessError(run.name);
        for (const { failed } of deliveries) failed(error);
        return;
      }
      const told = isOwn ? this.#takeAgain(run, deliveries) : this.#refuseChild(run, deliveries, outcome.run);
      told.catch((error: unknown) => this.#giveUp([run.name], deliveries, error));
    }
  }

  /** What became of the first one of its key; one that waited has left nothing if its run has ended meanwhile. */
  #answerRepeat({ name }: LiveRun, delivery: Delivery): void {
    this.#answerByKey(name, delivery, () => untakenError(name));
  }

  /** An event that comes after the end of its run; a repeat of what it took is answered as that. */
  #answerLate(run: LiveRun, delivery: Delivery): void {
    this.#answerByKey(run.name, delivery, () => endedError(run, delivery.event));
  }

  #answerByKey(name: RunName, { key, handled, failed }: Delivery, otherwise: () => HoldfastError): void {
    const before = key === undefined ? Promise.resolve(undefined) : this.#world.readReceipt(name, key);
    before
      .then(async (receipt) => {
        if (receipt === undefined) failed(otherwise());
        else handled?.(await receipt.handled());
      })
      .catch(failed);
  }

  /** The store is ahead of memory: what is not in its inbox is taken again by the run as it is there. */
  async #takeAgain(run: LiveRun, deliveries: readonly Delivery[]): Promise<void> {
    this.left(await this.#world.read(run.name), deliveries);
  }

  /** A child cannot begin under a name that is taken: senders are told; what is in the inbox would fail for ever. */
  async #refuseChild({ name }: LiveRun, deliveries: readonly Delivery[], child: string): Promise<void> {
    const taken = `A child of ${JSON.stringify(name.run)} cannot begin: there is a run ${JSON.stringify(child)} already`;
    const error = new HoldfastError("RUN_DIFFERS", taken);
    for (const { failed, row } of deliveries) if (row === undefined) failed(error);
    if (deliveries.some(({ row }) => row !== undefined))
      this.#world.park(await this.#world.read(name), error);
  }

  /**
   * Senders are told that they do not know; everything else is found again in the store. A run whose step cannot be kept
   * is parked: what waits for it would fail for ever.
   */
  unknown(turn: Turn, deliveries: readonly Delivery[], error: unknown): void {
    this.#drop(turn.run);
    this.#giveUp(withStarts(turn), deliveries, error);
    if (isUnstorable(error)) this.#world.park(turn.run, error);
    else if (!isUnavailable(error)) this.#world.fail(error);
  }

  #drop(run: LiveRun): void {
    this.#world.forget(run);
    // One that was to begin has nothing under way: what there is of that name is another's, and not in doubt.
    if (run.head.seq > 0) this.#world.doubt(run.name);
  }

  #giveUp(names: readonly RunName[], deliveries: readonly Delivery[], error: unknown): void {
    for (const { failed, row } of deliveries) if (row === undefined || isUnavailable(error)) failed(error);
    if (isUnavailable(error)) this.#world.wakeLater(names);
  }

  /** Deliveries that their run has not taken: those in the store's inbox are seen to by whoever reads it. */
  left(run: LiveRun, deliveries: readonly Delivery[]): void {
    for (const delivery of deliveries) {
      if (delivery.row !== undefined) continue;
      if (run.head.status === "active") this.#world.deliver(run, delivery);
      else if (hasEnded(run)) this.#answerLate(run, delivery);
      else this.#putAside(run, delivery);
    }
  }

  /** What comes for a run that is parked: the rest is for whoever sent it to keep. */
  #putAside(run: LiveRun, delivery: Delivery): void {
    const { event, handled, failed } = delivery;
    if (!isControl(event)) failed(new ParkedError(run.name));
    else if (whileParked.has(event.type)) this.#world.deliver(run, delivery);
    else handled?.({ seq: run.head.seq, outcome: "ignored", error: undefined });
  }
}

/** What is done with a run also while it is parked: it is ended, taken elsewhere, or told where to stop. */
const whileParked: ReadonlySet<string> = new Set(["cancel", "rollback", "migrate", "debug"]);

function rootlessError({ run }: RunName): HoldfastError {
  return new HoldfastError(
    "JOURNAL_PRUNED",
    `The run ${JSON.stringify(run)} did not begin: what it was to be forked from was removed meanwhile`,
  );
}

/** The run of a turn, and all that were to begin with it. */
function withStarts({ run, outbox }: Turn): RunName[] {
  return [run.name, ...outbox.starts.flatMap(withStarts)];
}

function endedError({ head }: LiveRun, { type }: Event): HoldfastError {
  return new HoldfastError(
    "RUN_ENDED",
    `The run ${JSON.stringify(head.run)} is ${head.status} and takes no ${JSON.stringify(type)}`,
  );
}

/** Says that a run did not take what waited for it. */
export function untakenError({ run }: RunName): HoldfastError {
  return new HoldfastError(
    "RUN_ENDED",
    `The run ${JSON.stringify(run)} has ended and did not take what waited for it; see its dead letters`,
  );
}
