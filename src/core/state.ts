/**
 * A run's whole condition as one immutable JSON value: what it is in, what it knows, and everything it waits for.
 * Whoever holds it holds the run; there is nothing else to keep.
 */
import type { Address } from "./effect.ts";
import type { Event } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Collect } from "./shorthand/definition.ts";
import type { Due } from "./timer.ts";

export interface State<Context = JsonObject> {
  readonly machine: string;
  readonly version: number;
  readonly status: "active" | "done" | "cancelled" | "failed";
  /** How many steps made this state; with an index it names everything the next step starts. */
  readonly seq: number;
  /** The paths of the active leaves, in document order. */
  readonly configuration: readonly string[];
  readonly context: Context;
  /** What each history state remembers, by its path: paths of states. */
  readonly history: Readonly<Record<string, readonly string[]>>;
  readonly timers: readonly Timer[];
  readonly activities: readonly Activity[];
  readonly children: readonly Child[];
  readonly deferred: readonly Event[];
  /** What undoes the activities that are done, oldest first; absent while there is nothing to undo. */
  readonly compensations?: readonly Compensation[];
  /** The lists that workers are going through, by the name of the map; absent while there are none. */
  readonly maps?: Readonly<Record<string, MapProgress>>;
  /** The final state's output, once the run is done. */
  readonly output?: Json;
  /** Why the run failed, once it has. */
  readonly reason?: JsonObject;
}

/** How far the workers of a map have come with its list. */
export interface MapProgress {
  readonly items: readonly Json[];
  /** The index of the first item that nobody has taken. */
  readonly next: number;
  /** The index of the item that each worker has, by the worker's number. */
  readonly taken: Readonly<Record<string, number>>;
  /** In the order of the items; null where there is none. */
  readonly results: readonly Json[];
  readonly failures: readonly { readonly index: number; readonly item: Json; readonly error: Json }[];
  /** How many may fail. */
  readonly tolerate: number;
  /** The fields of the context they end in. */
  readonly collect?: Collect;
}

/** What undoes one activity: another activity, and what it is to be given. */
export interface Compensation {
  /** The key of the invocation it undoes. */
  readonly key: string;
  readonly activity: string;
  readonly input?: Json;
}

export interface Timer extends Due {
  readonly key: string;
  /** The author's name for it, by which it can be cancelled. */
  readonly id?: string;
  readonly event: Event;
  /** The state that owns it and takes it along when it exits. */
  readonly state?: string;
  /** Where the event goes when it is not for this run itself. */
  readonly to?: Exclude<Address, "internal" | "self">;
  readonly via?: string;
}

/** An invocation that is under way: activities of user code and child machines share this shape. */
interface Invocation {
  readonly key: string;
  readonly id: string;
  /** The state that owns it and cancels it when it exits; a spawned child has none. */
  readonly state?: string;
  /** Which of that state's invocations it is. */
  readonly index?: number;
}

export interface Activity extends Invocation {
  readonly activity: string;
}

export interface Child extends Invocation {
  readonly machine: string;
  readonly autoforward?: true;
}
