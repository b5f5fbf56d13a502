/** What handlers see of the step they run in. */
import type { Event } from "./event.ts";
import type { JsonObject } from "./json.ts";

/** `context` is the committed value, never a draft. */
export interface Scope<Context = JsonObject, Ev = Event> {
  readonly context: Context;
  readonly event: Ev;
  /** The step's time in milliseconds since 1970: the only clock a handler has. */
  readonly at: number;
  /** Whether a state is active right now: a path such as `a.b`, or `#id`. */
  in(state: string): boolean;
}

/** What an `ensure` contract sees besides: the context as it was before the work it judges. */
export interface EnsureScope<Context = JsonObject, Ev = Event> extends Scope<Context, Ev> {
  readonly old: Context;
}
