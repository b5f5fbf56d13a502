/**
 * What the runtime is known not to survive yet. Worlds are spared these faults, so that they still find others; each line
 * goes when its cause has gone, and the worlds then show that it has.
 */
export interface Gaps {
  /** An inbox that could not be read, and had nothing in it, is not read again for what comes later. */
  readonly inboxReads: boolean;
  /** A run whose steps wait for their commit does not read on, so no kind of run with such a policy is drawn. */
  readonly waitingSteps: boolean;
  /** What was sent with a commit whose reply is lost is not found if its run is busy when it is looked for. */
  readonly lostSends: boolean;
  /** A run that ends while its keys are read tells the sender of a repeat that it came too late. */
  readonly slowKeys: boolean;
  /** An activity that a commit cancelled whose reply is lost begins its next attempt all the same. */
  readonly lostCancels: boolean;
  /** Pieces of a process that was replaced take the offsets of those that the new one is told are durable. */
  readonly latePieces: boolean;
  /** Whoever begins to wait for what becomes of an event when a process has just had to stop is not told so. */
  readonly lateWaits: boolean;
  /** Of two people who bring a run back at once, the second may give it what was refused before the last time. */
  readonly racingRetries: boolean;
}

/** True for what worlds are spared. */
export const gaps: Gaps = {
  inboxReads: false,
  waitingSteps: false,
  lostSends: false,
  slowKeys: false,
  lostCancels: false,
  latePieces: true,
  lateWaits: false,
  racingRetries: false,
};
