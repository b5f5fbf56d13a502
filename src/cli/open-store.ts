/** The store that an address means. */
import { existsSync } from "node:fs";
import { postgres } from "../store/postgres/store.ts";
import { withRedis } from "../store/redis/index.ts";
import { sqlite } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { misused, type StoreArguments } from "./arguments.ts";

/** Whether an address leads to a PostgreSQL server; throws COMMAND_INVALID for one that leads nowhere we know. */
export function isServer(address: string): boolean {
  if (/^postgres(ql)?:\/\//.test(address)) return true;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(address))
    throw misused(
      `${address.slice(0, address.indexOf("://"))} is no store; write postgres://… or the path of a SQLite file`,
    );
  return false;
}

/** It is not opened yet. Stores of one Redis are told apart by their schemas. */
export function storeAt(args: StoreArguments): Store {
  const { redis, schema: prefix } = args;
  const store = isServer(args.store) ? serverStore(args) : sqlite(args.store);
  if (redis === undefined) return store;
  return withRedis(store, { url: redis, ...(prefix === undefined ? {} : { prefix }) });
}

function serverStore({ store, schema, signals }: StoreArguments): Store {
  return postgres(store, {
    ...(schema === undefined ? {} : { schema }),
    ...(signals === undefined ? {} : { listen: signals }),
  });
}

/** What it is given, where there is such a store: a path that was mistyped is not to become an empty one. */
export function storeThere(args: StoreArguments): StoreArguments {
  const { store } = args;
  if (isServer(store) || existsSync(store)) return args;
  throw misused(
    `There is no store ${store}: check the path, or make one with holdfast db migrate --store ${store}`,
  );
}
