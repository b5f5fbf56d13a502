/** Activities, as their authors write them: user code that runs outside the step. */
import type { Json, JsonObject } from "./json.ts";
import type { State } from "./state.ts";

/** What activities used up: for agents, mostly models. */
export interface Spending {
  readonly tokens?: number;
  readonly cost?: number;
}

/** What an activity is given besides its input. */
export interface ActivityScope {
  /** The same for every attempt: hand it to tools as their idempotency key. */
  readonly key: string;
  readonly run: string;
  readonly tenant: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the activity is cancelled or takes too long. */
  readonly signal: AbortSignal;
  /** Its run as it was when it began, the same for every attempt: for what is too long to be copied into the input. */
  state<Context = JsonObject>(): Promise<State<Context>>;
  /** The runtime's clock, in milliseconds since 1970: what tests set is what it tells. */
  now(): number;
  /** What an earlier attempt left with `checkpoint`. */
  readonly progress: Json | undefined;
  /**
   * Keeps progress for the next attempt; resolves when it is durable. Rejected, with the signal aborted, if the activity is not
   * this process's any more.
   */
  checkpoint(progress: Json): Promise<void>;
  /** Says that it is still alive, where `heartbeat` is asked of it. Checkpoints and chunks say so too. */
  heartbeat(): void;
  /** Adds a piece to the activity's stream; resolves when it is durable. */
  write(chunk: Json): Promise<void>;
  /** Counts what it used up towards the limits of its run, whether or not this attempt succeeds. */
  spend(spending: Spending): void;
}

/** The code of an activity. */
export type ActivityCode = (input: never, scope: ActivityScope) => unknown;
