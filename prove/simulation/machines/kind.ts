/** A kind of run in the simulated world: its machine, what may be sent to it, and where it may wait for the outside. */
import type { Json, JsonObject, Machine, Migration } from "holdfast";
import type { Breakpoint } from "../../../src/store/records.ts";
import type { Random } from "../../../test/generate/random.ts";

/** What a user sends. `n` is the sender's number for it, by which the event is found again wherever it went. */
export interface Order {
  readonly type: string;
  readonly data: JsonObject & { readonly n: number };
}

/** The version that comes after the first one, and how runs get there. */
export interface Later {
  readonly machine: Machine;
  readonly migration: Migration;
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
  /** Whether users take such runs back: not where somebody counts on what they have done. */
  readonly goesBack?: boolean;
  /** Whether users fork them, and what they change in the context when they do. */
  readonly forks?: (context: JsonObject) => void;
  readonly later?: Later;
  /** States and events that users set breakpoints at. */
  readonly stops?: readonly Breakpoint[];
  /** Whether users cancel such runs. */
  readonly cancellable: boolean;
  input(random: Random): Json;
  /** Something to send; `peers` are the runs of the same kind that have begun. */
  order(n: number, random: Random, peers: readonly string[]): Order;
}
