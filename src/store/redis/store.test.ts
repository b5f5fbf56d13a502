import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database, openStore } from "../../../test/postgres/database.ts";
import { findRedis, type RedisServer, startRedis } from "../../../test/redis/server.ts";
import { conformance, type OpenStore } from "../conformance/index.ts";
import { memory } from "../memory/store.ts";
import type { Store } from "../store.ts";
import { withRedis } from "./index.ts";

describe.skipIf(findRedis() === undefined)("with Redis", () => {
  let server: RedisServer;
  let database: Database;

  beforeAll(async () => {
    server = await startRedis();
    database = await createDatabase();
  });

  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  const kit = { describe, test, expect };

  async function over({ store, reopen, dispose }: OpenStore): Promise<OpenStore> {
    const prefix = randomUUID();
    const warm = async (cold: Store): Promise<Store> => {
      const one = withRedis(cold, { url: server.url, prefix, bytesMin: 0 });
      await one.open();
      return one;
    };
    let opened = await warm(store);
    return {
      store: opened,
      reopen: async () => {
        await opened.close();
        opened = await warm(await reopen());
        return opened;
      },
      dispose: async () => {
        await opened.close();
        await dispose();
      },
    };
  }

  const inMemory = (): OpenStore => {
    const store = memory();
    return { store, reopen: async () => store, dispose: async () => {} };
  };

  conformance({ name: "a memory store with a warm tier", test: kit, open: () => over(inMemory()) });
  conformance({
    name: "a PostgreSQL store with a warm tier",
    test: kit,
    open: async () => over(await openStore(database)),
    random: { seeds: 10, length: 250 },
  });
});
