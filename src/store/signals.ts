/**
 * Signals between the processes that share a store: hints that something became of runs, so that whoever is concerned
 * looks now and not later. They may be lost, doubled and late, and nothing is ever decided by one: whoever is told looks
 * into the store, and looks by itself from time to time.
 */
import type { RunName } from "./records.ts";

/** A run that something became of. `since`: the checkpoint before the steps that are told of; none where it is something else. */
export interface Hint extends RunName {
  readonly since?: number;
}

/** `undefined` instead of names: anything may have been missed, as after a lost connection, so all is looked at. */
export type Heard = (names: readonly Hint[] | undefined, from: number | undefined) => void;

export interface Signals {
  /**
   * Something became of these runs, through the member of this epoch. Resolves when it has been sent, or could not be: whether
   * anybody is reached is not known. Whoever has more to tell by then tells it together.
   */
  send(names: readonly Hint[], from: number): Promise<void>;
  /**
   * Hears what is sent, also by itself. Resolves when it does, with what ends it; rejects if it cannot hear. `deaf` is told if
   * that changes later: then somebody listens again.
   */
  listen(heard: Heard, deaf: () => void): Promise<() => Promise<void>>;
}
