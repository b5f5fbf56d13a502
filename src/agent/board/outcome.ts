/** What a board answers. What an agent must expect is an outcome and not an error: it looks, thinks again and goes on. */

/** What stands under a key. `version` is 0 where nothing does. */
export type Reading<Value> =
  | { readonly value: Value; readonly version: number; readonly by: string; readonly at: number }
  | { readonly value: undefined; readonly version: 0; readonly by: undefined; readonly at: undefined };

/** Somebody was faster: what stands there now, at which version, by whom; and what you wanted. */
export interface Conflict<Value> {
  readonly outcome: "conflict";
  /** Undefined if nothing stands there; then the version is 0. */
  readonly current: Value | undefined;
  readonly version: number;
  readonly by: string | undefined;
  readonly at: number | undefined;
  readonly yours: Value;
}

/** A write came with a token that is no longer, or not, what it needs. */
export interface Fenced {
  readonly outcome: "fenced";
  readonly why: string;
}

export type Written<Value> =
  /** `value` is what stands there now, which a merge may have made of yours. */
  | { readonly outcome: "written"; readonly version: number; readonly value: Value }
  | { readonly outcome: "in review"; readonly id: string }
  | Conflict<Value>
  | Fenced;

export type Removed<Value> =
  | { readonly outcome: "removed"; readonly version: number }
  | Omit<Conflict<Value>, "yours">
  | Fenced;

export type Reviewed<Value> =
  | { readonly outcome: "written"; readonly version: number; readonly value: Value }
  | { readonly outcome: "rejected" }
  /** Something was written since the write came; it waits on. Look, and decide for the version that you see. */
  | Conflict<Value>
  | Fenced
  /** Whoever wrote it does not take it. */
  | { readonly outcome: "refused"; readonly why: string };

/** Leases that somebody has, until when. */
export interface Held {
  readonly by: string;
  readonly names: readonly string[];
  readonly until: number;
}

/** Leases that were given, and what can be done with them. */
export interface Leased {
  readonly outcome: "granted";
  readonly names: readonly string[];
  /** Higher than all before: hand it to whatever you write to, which refuses smaller ones. */
  readonly token: number;
  /** When it is over, in milliseconds since 1970, by the clock of whoever steps the board. */
  readonly until: number;
  /** Makes it last so long from now on; `lost` if it is over. */
  renew(ms: number | string): Promise<{ readonly outcome: "renewed"; readonly until: number } | Lost>;
  /** Gives it back; `lost` if it was over before. */
  release(): Promise<{ readonly outcome: "released" } | Lost>;
}

export interface Lost {
  readonly outcome: "lost";
}

/** Somebody has it, and you did not want to wait, or waited as long as you wanted. */
export interface Busy {
  readonly outcome: "busy";
  readonly held: readonly Held[];
}

export type Voted =
  | { readonly outcome: "counted" }
  /** Too late, no voter, or voted before. */
  | { readonly outcome: "refused"; readonly why: string };
