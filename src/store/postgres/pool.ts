/** A pool for whoever gave an address: of one server, or of several of which one is the primary. */
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { PostgresClient, PostgresPool } from "./connect.ts";
import { HostsPool, hostsOf } from "./hosts.ts";

/**
 * A pool of our own; `pg` is loaded only here, since whoever brings a pool, or uses another store, has no need of it. Of
 * several hosts it goes to the primary, and `moved` is told when that is another one.
 */
export async function createPool(url: string, moved: () => void = () => {}): Promise<PostgresPool> {
  const { default: pg } = await import("pg").catch((cause: unknown) => {
    throw new HoldfastError("STORE_UNAVAILABLE", "A PostgreSQL store needs the package pg: npm install pg", {
      cause,
    });
  });
  const hosts = hostsOf(url);
  if (hosts.length > 1) return new HostsPool(pg, hosts, moved);
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: limits.connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: limits.keepAliveMs,
    // Its connections must not keep a process from ending.
    allowExitOnIdle: true,
  });
  // A connection that dies while nobody uses it is replaced when somebody does.
  pool.on("error", () => {});
  return pool;
}

/** A connection that is nobody else's; releasing it ends it. */
export async function createClient(url: string): Promise<PostgresClient> {
  const pool = await createPool(url);
  const client = await pool.connect();
  return {
    query: (query) => client.query(query),
    on: (event: never, told: never) => client.on?.(event, told),
    release: () => {
      client.release(true);
      void pool.end().catch(() => {});
    },
  };
}
