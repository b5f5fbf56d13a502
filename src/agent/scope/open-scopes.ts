/** Scopes in use: one handle that reads through all of them, the nearest first, and writes to the one that is named. */
import type { Json, JsonObject } from "../../core/json.ts";
import { nearest } from "../../core/nearest.ts";
import { show } from "../../core/problem.ts";
import { checkName } from "../../runtime/name.ts";
import type { Run, Runtime } from "../../runtime/runtime.ts";
import { whileLive } from "../while-live.ts";
import {
  type AnyKey,
  type AnyValue,
  invalid,
  type KeptScope,
  type KeyIn,
  type ScopeName,
  type ScopeSchemas,
  type ScopeState,
  type Scopes,
  scopeNames,
  type ValueIn,
  writeType,
} from "./scopes.ts";

export interface OpenScopesOptions {
  /** Whose `user` scope it is; without one there is none. */
  readonly user?: string;
  /** Which `session` scope it is; without one there is none. */
  readonly session?: string;
  readonly tenant?: string;
}

/** State in its scopes, as whoever works for a user in a session holds it. */
export interface OpenScopes<S extends ScopeSchemas> {
  /** What the nearest scope has for a key: temporary, then session, user and app; undefined if none has it. */
  read<Key extends AnyKey<S>>(key: Key): Promise<AnyValue<S, Key> | undefined>;
  /** The scope that `read` would answer from. */
  where(key: AnyKey<S>): Promise<ScopeName | undefined>;
  /** All keys that have a value, as `read` gives them. */
  readAll(): Promise<JsonObject>;
  /** Writes to one scope; resolves when it is durable, except for what is temporary. A value that does not fit changes nothing. */
  write<Scope extends ScopeName, Key extends KeyIn<S, Scope>>(
    scope: Scope,
    key: Key,
    value: ValueIn<S, Scope, Key>,
  ): Promise<void>;
  /** Takes a key out of one scope: what it hid shows again. */
  remove<Scope extends ScopeName>(scope: Scope, key: KeyIn<S, Scope>): Promise<void>;
}

/** State in its scopes, for a user and a session. What is temporary lives as long as this handle. */
export function openScopes<S extends ScopeSchemas>(
  runtime: Pick<Runtime, "start">,
  scopes: Scopes<S>,
  { user, session, tenant }: OpenScopesOptions = {},
): OpenScopes<S> {
  if (user !== undefined) checkName("user", user);
  if (session !== undefined) checkName("session", session);
  const owners: Readonly<Record<KeptScope, string | undefined>> = { app: "app", user, session };
  const temporary: Record<string, Json> = {};
  const run = (scope: KeptScope) => (): Promise<Run<ScopeState>> => {
    const owner = owners[scope];
    if (owner === undefined) throw invalid(`There is no ${scope} here; open the scopes with one`);
    // A session of a user is that user's data.
    const subject = scope === "app" ? {} : { subject: user ?? owner };
    const place = { singleton: JSON.stringify([scope, owner]), input: scope, ...subject };
    return runtime.start(scopes.machine, tenant === undefined ? place : { ...place, tenant });
  };
  const valuesOf = async (scope: ScopeName): Promise<Readonly<Record<string, Json>>> => {
    if (scope === "temporary") return temporary;
    if (owners[scope] === undefined || scopes.keys(scope).length === 0) return {};
    return (await (await run(scope)()).state()).context.values;
  };
  const find = async (key: string): Promise<readonly [ScopeName, Json] | undefined> => {
    checkKnown(scopes, key);
    for (const scope of scopeNames.filter((name) => scopes.keys(name).includes(key))) {
      const value = (await valuesOf(scope))[key];
      if (value !== undefined) return [scope, value];
    }
    return undefined;
  };
  const tell = async (scope: KeptScope, type: string, data: Json): Promise<void> => {
    const receipt = await whileLive(run(scope), (live) => live.send(type, data));
    const { error } = await receipt.handled();
    if (error !== undefined) throw error;
  };
  return {
    read: async (key) => (await find(key))?.[1] as never,
    where: async (key) => (await find(key))?.[0],
    readAll: async () => {
      const farthestFirst = scopeNames.toReversed();
      return Object.assign({}, ...(await Promise.all(farthestFirst.map(valuesOf))));
    },
    write: async (scope, key, value) => {
      const checked = scopes.check(scope, key, value as Json);
      if (scope === "temporary") temporary[key] = checked;
      else await tell(scope, writeType(scope, key), checked);
    },
    remove: async (scope, key) => {
      checkKnown(scopes, key);
      if (scope === "temporary") delete temporary[key];
      else await tell(scope, "remove", key);
    },
  };
}

function checkKnown(scopes: Scopes<ScopeSchemas>, key: string): void {
  const keys = scopeNames.flatMap((scope) => scopes.keys(scope));
  if (keys.includes(key)) return;
  const meant = nearest(key, keys);
  throw invalid(
    `No scope has the key ${show(key)}${meant === undefined ? "" : `; did you mean ${show(meant)}?`}`,
  );
}
