/**
 * Scopes: state that belongs to the app, to a user, to a session, or to nothing that lasts. Each has keys with schemas and
 * is kept for as long as it should be; whoever asks for a key gets what the nearest scope has.
 *
 * What lasts is kept in runs, one for each app, user and session: so writes are checked, journaled and in order, a session
 * ends by a timer, and all of it works on every store. Documents of the store would be smaller, but have neither. What is
 * temporary is in memory, and never leaves the process.
 */
import { durationMs } from "../../core/duration.ts";
import type { Json } from "../../core/json.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import { nearest } from "../../core/nearest.ts";
import { show, someOf } from "../../core/problem.ts";
import { type Check, type OutputOf, type Schema, schemasOf } from "../../core/schema.ts";
import { HoldfastError } from "../../errors.ts";

/** The nearest first: what stands in one of them hides what stands in those after it. */
export const scopeNames = ["temporary", "session", "user", "app"] as const;
export type ScopeName = (typeof scopeNames)[number];
export type KeptScope = Exclude<ScopeName, "temporary">;

/** The keys of each scope, and what they may hold. */
export type ScopeSchemas = { readonly [Scope in ScopeName]?: Readonly<Record<string, Schema>> };

/** The keys of a scope. */
export type KeyIn<S, Scope extends ScopeName> = Scope extends keyof S ? keyof S[Scope] & string : never;
/** What a key of a scope holds. */
export type ValueIn<S, Scope extends ScopeName, Key> = Scope extends keyof S
  ? Key extends keyof S[Scope]
    ? OutputOf<S[Scope][Key]>
    : never
  : never;
/** The keys of all scopes, and what each may be found to hold. */
export type AnyKey<S> = { [Scope in ScopeName]: KeyIn<S, Scope> }[ScopeName];
export type AnyValue<S, Key> = { [Scope in ScopeName]: ValueIn<S, Scope, Key> }[ScopeName];

export interface ScopesOptions<S extends ScopeSchemas> {
  readonly id: string;
  /** 1 unless given. */
  readonly version?: number;
  readonly scopes: S;
  /** After how long without a write a scope is forgotten: a session after 30 minutes, the others never, unless given. */
  readonly retention?: { readonly [Scope in KeptScope]?: number | string };
}

/** The state of one app, user or session. */
export interface ScopeState {
  readonly scope: KeptScope;
  readonly values: Readonly<Record<string, Json>>;
}

/** Kinds of scopes, to be given to a runtime. */
export interface Scopes<S extends ScopeSchemas> {
  readonly machine: Machine<ScopeState>;
  /** The value for a key as its schema wants it; throws SCOPE_INVALID or EVENT_INVALID. */
  check(scope: ScopeName, key: string, value: Json): Json;
  /** The keys of a scope. */
  keys(scope: ScopeName): readonly string[];
  readonly scopes: S;
}

/** Scopes of these keys; throws SCOPE_INVALID if they cannot be meant. */
export function defineScopes<const S extends ScopeSchemas>(options: ScopesOptions<S>): Scopes<S> {
  const { id, version = 1, scopes, retention = {} } = options;
  for (const name of [...Object.keys(scopes), ...Object.keys(retention)])
    if (!(scopeNames as readonly string[]).includes(name))
      throw invalid(`There is no scope ${show(name)}; there are ${scopeNames.join(", ")}`);
  for (const time of Object.values(retention)) if (time !== undefined) durationMs(time);
  const events = Object.fromEntries(
    scopeNames.flatMap((scope) =>
      Object.entries<Schema>(scopes[scope] ?? {}).map(
        ([key, schema]) => [writeType(scope, key), schema] as const,
      ),
    ),
  );
  const checks = schemasOf({ events }, { problem: () => {} })?.events ?? new Map<string, Check>();
  const keys = (scope: ScopeName) => Object.keys(scopes[scope] ?? {});
  for (const scope of scopeNames) for (const key of keys(scope)) checkKey(scope, key);
  return {
    machine: scopeMachine({ id, version, events, ttl: { session: "30 min", ...retention } }),
    check: (scope, key, value) => {
      const check = checks.get(writeType(scope, key));
      if (check === undefined) throw unknownKey(scope, key, keys(scope));
      return check(value) as Json;
    },
    keys,
    scopes,
  };
}

/** The event that writes a key: each has one of its own, so that its data has the key's schema. */
export const writeType = (scope: ScopeName, key: string): string => `write.${scope}.${key}`;
const keyOf = (type: string): string => type.split(".").slice(2).join(".");

interface MachineParts {
  readonly id: string;
  readonly version: number;
  readonly events: Readonly<Record<string, Schema>>;
  readonly ttl: { readonly [Scope in KeptScope]?: number | string };
}

function scopeMachine({ id, version, events, ttl }: MachineParts): Machine<ScopeState> {
  const write = {
    guard: ({ context, event }: { context: ScopeState; event: { type: string } }) =>
      event.type.startsWith(writeType(context.scope, "")),
    update: (
      draft: { values: Record<string, Json> },
      { event }: { event: { type: string; data?: Json } },
    ) => {
      draft.values[keyOf(event.type)] = event.data as Json;
    },
  };
  const remove = {
    update: (draft: { values: Record<string, Json> }, { event }: { event: { data?: Json } }) => {
      delete draft.values[event.data as string];
    },
  };
  const handlers = (more: object) => ({
    ...Object.fromEntries(Object.keys(events).map((type) => [type, { ...write, ...more }])),
    remove: { ...remove, ...more },
  });
  return defineMachine<ScopeState>({
    ...{ id, version, initial: "open" },
    events: { ...events, remove: jsonSchema({ type: "string" }) },
    start: ({ input }) => ({ scope: input as KeptScope, values: {} }),
    states: {
      open: {
        always: [{ guard: ({ context }) => ttl[context.scope] !== undefined, target: "expiring" }, "kept"],
      },
      kept: { on: handlers({}) },
      expiring: {
        // A write enters the state again, so that its time begins anew.
        on: handlers({ target: "expiring", reenter: true }),
        after: [
          {
            delay: ({ context }) => ttl[context.scope] as number | string,
            target: "forgotten",
            update: (draft) => {
              draft.values = {};
            },
          },
        ],
      },
      forgotten: { type: "final" },
    },
  });
}

function checkKey(scope: ScopeName, key: string): void {
  if (/^[\p{L}_][\p{L}\p{N}_-]*$/u.test(key) && key !== "__proto__") return;
  throw invalid(`The key ${show(key)} of the scope ${scope} is no name; write letters, digits, _ and -`);
}

function unknownKey(scope: ScopeName, key: string, keys: readonly string[]): HoldfastError {
  const meant = nearest(key, keys);
  const fix = meant === undefined ? `there are ${someOf(keys)}` : `did you mean ${show(meant)}?`;
  return invalid(`The scope ${scope} has no key ${show(key)}; ${keys.length === 0 ? "it has none" : fix}`);
}

/** The error of whoever asks of scopes what they do not have. */
export function invalid(message: string): HoldfastError {
  return new HoldfastError("SCOPE_INVALID", message);
}
