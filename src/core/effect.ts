/** Effects: what a step asks the world to do, as data. The core never does any of it. */
import type { Event } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";

/** Where a send goes. `internal` is this run's own internal queue, `self` its inbox. */
export type Address =
  | "self"
  | "internal"
  | "parent"
  | { readonly child: string }
  | { readonly run: string }
  | { readonly url: string };

/** Run user code outside the step; its end comes back as an event made by `settledEvent`. */
export interface ActivityEffect {
  readonly type: "activity";
  readonly key: string;
  readonly id: string;
  readonly activity: string;
  readonly input?: Json;
  /** Whatever else the author wrote on the invocation: retry, timeout, heartbeat, once, reconcile, and what flow control needs. */
  readonly options: JsonObject;
}

/** Start a child machine; its output comes back as an event made by `settledEvent`. */
export interface SpawnEffect {
  readonly type: "spawn";
  readonly key: string;
  readonly id: string;
  readonly machine: string;
  readonly input?: Json;
}

/** Wake the run at `due` with the timer of this key, instead of any earlier due time it had; the state holds the rest. */
export interface TimerEffect {
  readonly type: "timer";
  readonly key: string;
  readonly due: number;
}

export interface SendEffect {
  readonly type: "send";
  readonly key: string;
  readonly to: Exclude<Address, "internal">;
  /** The way it is sent, when it is not from run to run. */
  readonly via?: string;
  readonly event: Event;
}

/** Tell whoever listens to this run. */
export interface EmitEffect {
  readonly type: "emit";
  readonly event: Event;
}

export interface LogEffect {
  readonly type: "log";
  readonly label?: string;
  readonly data?: Json;
}

/** Answer whoever asked with an event; `to` is the `replyTo` of that event. */
export interface ReplyEffect {
  readonly type: "reply";
  readonly to: string;
  readonly data: Json;
}

/** What was started or scheduled under this key is no longer wanted. */
export interface CancelEffect {
  readonly type: "cancel";
  readonly of: "timer" | "activity" | "child";
  readonly key: string;
  readonly id?: string;
}

export type Effect =
  | ActivityEffect
  | SpawnEffect
  | TimerEffect
  | SendEffect
  | EmitEffect
  | LogEffect
  | ReplyEffect
  | CancelEffect;
