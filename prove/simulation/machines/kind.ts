/** A kind of run in the simulated world: its machine, what may be sent to it, and where it may wait for the outside. */
import type { Json, JsonObject, Machine } from "holdfast";
import type { Random } from "../../../test/generate/random.ts";

/** What a user sends. `n` is the sender's number for it, by which the event is found again wherever it went. */
export interface Order {
  readonly type: string;
  readonly data: JsonObject & { readonly n: number };
}

export interface Kind {
  readonly machine: Machine;
  /** How many runs of it a world has: at least so many, one unless given, and at most. */
  readonly runsMin?: number;
  readonly runsMax: number;
  /** States in which a run with nothing pending may stay for good: it waits for the outside. */
  readonly rests: readonly string[];
  /** Whether users ask, and wait for the reply, where they would send. */
  readonly asks?: boolean;
  /** The tool that speaks while it runs, if one does. */
  readonly speaks?: string;
  /** What is sent to a run that is parked before it is brought back, if such runs are ever parked. */
  readonly mends?: string;
  /** Whether users cancel such runs. */
  readonly cancellable: boolean;
  input(random: Random): Json;
  /** Something to send; `peers` are the runs of the same kind that have begun. */
  order(n: number, random: Random, peers: readonly string[]): Order;
}
