/**
 * What a definition tells whoever runs it: what a run may use up, when it must be durable, and how many of its activities
 * may run. A step knows none of it.
 */
import type { JsonObject } from "./json.ts";
import type { State } from "./state.ts";

/** Bounds of a run. One that is met ends it as failed, with the reason. */
export interface RunLimits {
  readonly steps?: number;
  /** From its start on: milliseconds, or text such as `2 days`. */
  readonly time?: number | string;
  readonly tokens?: number;
  readonly cost?: number;
}

/** When steps must be durable: each, only where they have to be, every so many, or when something worth it changed. */
export type CheckpointPolicy<Context = JsonObject> =
  | "step"
  | "manual"
  | { readonly every: number }
  | {
      readonly when: (change: { readonly before: State<Context>; readonly after: State<Context> }) => boolean;
    };

/** Whose activities share a key: those of one tenant, or of all. */
export type FlowScope = "tenant" | "all";

/** At most `limit` at a time of those that name the same key. */
export interface Concurrency<Key> {
  readonly limit: number;
  /** Shared by whoever names it. Without one, this activity of this machine. */
  readonly key?: Key;
  /** `tenant` unless given. */
  readonly scope?: FlowScope;
}

/** At most `limit` begin within any `per` of those that name the same key. */
export interface Rate<Key> extends Concurrency<Key> {
  /** Milliseconds, or text such as `1 min`. */
  readonly per: number | string;
}
