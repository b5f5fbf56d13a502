/** What whoever looks on is told of a runtime, as data: commits, attempts, logs and problems. */
import type { LogEffect } from "../core/effect.ts";
import type { JsonObject } from "../core/json.ts";
import type { State } from "../core/state.ts";
import type { Entry } from "../store/journal.ts";
import type { RunHead, Spending } from "../store/records.ts";

/** One who is told of all that happens in a runtime, for logs and traces. Nothing it does, or fails to do, reaches a run. */
export interface Observer {
  /** A commit was made here, of whatever run, and is durable. */
  committed?(committed: Observed): void;
  /**
   * An attempt of an activity begins here. Whoever calls `go` at once stands around it, so that what the activity does is done in
   * their async context; it runs all the same if they do not. The promise tells how it ended, and is never rejected.
   */
  attempt?(attempt: AttemptBegun, go: () => Promise<AttemptOver>): unknown;
  /** A run has logged something, and it is durable. */
  logged?(log: LogEffect & { readonly run: string }): void;
  /** Something needs a person. */
  problem?(problem: Problem): void;
}

/** Which attempt of which activity. */
export interface AttemptBegun extends Pick<RunHead, "tenant" | "run" | "machine"> {
  readonly activity: string;
  /** What the activity hands to whatever it calls, so that a repeat is known. */
  readonly key: string;
  /** From 1 on. */
  readonly attempt: number;
}

/** How it ended, and what the activity has used up so far. */
export interface AttemptOver {
  readonly error?: JsonObject;
  readonly spent?: Spending;
}

/** What one commit did to a run. */
export interface Committed {
  readonly head: RunHead;
  readonly state: State;
  /** At least one, in order. */
  readonly steps: readonly CommittedStep[];
}

export interface CommittedStep extends Pick<Entry, "seq" | "at" | "event" | "outcome" | "effects"> {
  /** Why it was refused. */
  readonly error?: unknown;
}

/** What a commit that was made here did, and where the run was after each of its steps. */
export interface Observed extends Committed {
  readonly steps: readonly (CommittedStep & Pick<State, "configuration">)[];
}

/** Something that needs a person. */
export interface Problem {
  readonly tenant: string;
  readonly run: string;
  readonly error: unknown;
}
