/**
 * Several servers of which one is the primary: a pool that goes to that one, and moves on by itself when it is another.
 *
 * H1. Statements go to a server only after it has said that it is the primary and can be written, and it is asked again
 *     after every lost connection and every refusal. A server never becomes a standby without losing its connections;
 *     where a pooler hides that, the statements themselves are refused (`onPrimary`).
 * H2. Of several that say so the one on the latest timeline is right: each promotion begins one. From a timeline that was
 *     seen there is no way back to an earlier one, so an old primary that was started again is not taken for the primary.
 * H3. A server that is not the primary any more loses all its connections at once. What was under way there has an unknown
 *     outcome, as with any lost connection, and its callers ask the new one (Q1).
 * H4. A server that says nothing while somebody waits for it may be gone without a word. Then all are asked, and if
 *     another one is the primary, H3 holds.
 */
import { Socket } from "node:net";
import type pg from "pg";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { type PostgresClient, type PostgresPool, type Query, types } from "./connect.ts";
import { isLost, isRefusedByStandby } from "./errors.ts";

type Driver = typeof pg;

/** The URL of each host of `postgres://user:password@host1:port1,host2:port2/database`, in order. */
export function hostsOf(url: string): readonly string[] {
  const parts = /^(\w+:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url);
  const [, start = "", hosts = "", rest = ""] = parts ?? [];
  if (!hosts.includes(",")) return [url];
  return hosts.split(",").map((host) => `${start}${host}${rest}`);
}

/** What a server says of itself: the timeline it writes, or why it is not the primary. */
type Standing = { readonly timeline: number } | { readonly reason: string; readonly error?: unknown };

/** One statement, so that a pooler cannot answer for two servers. The name of a log file begins with its timeline. */
const standingQuery = `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS sealed,
  CASE WHEN pg_is_in_recovery() THEN '0' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END AS timeline`;

class Host {
  readonly pool: pg.Pool;
  readonly #driver: Driver;
  readonly #url: string;
  readonly #sockets = new Set<Socket>();

  /** `lost` is told of every connection that died, `silent` when a connection has said nothing for a while. */
  constructor(driver: Driver, url: string, told: { lost(host: Host): void; silent(host: Host): void }) {
    this.#driver = driver;
    this.#url = url;
    this.pool = new driver.Pool({
      connectionString: url,
      connectionTimeoutMillis: limits.connectMsMax,
      keepAlive: true,
      allowExitOnIdle: true,
      stream: () => this.#connect(() => told.silent(this)),
    });
    this.pool.on("error", () => {});
    this.pool.on("connect", (client) => client.on("error", () => told.lost(this)));
  }

  #connect(silent: () => void): Socket {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
    socket.setTimeout(limits.silenceMsMax);
    socket.on("timeout", () => {
      // It is told once for each silence.
      socket.setTimeout(limits.silenceMsMax);
      silent();
    });
    return socket;
  }

  /** Whether somebody waits for an answer. */
  get isBusy(): boolean {
    return this.pool.totalCount > this.pool.idleCount;
  }

  /** What it says of itself, on a connection of its own: those of the pool may all be waiting. */
  async ask(): Promise<Standing> {
    const socket = new Socket();
    try {
      const client = new this.#driver.Client({
        connectionString: this.#url,
        connectionTimeoutMillis: limits.standingMsMax,
        query_timeout: limits.standingMsMax,
        stream: () => socket,
      });
      client.on("error", () => {});
      await client.connect();
      const { rows } = await client.query({ text: standingQuery, types });
      void client.end().catch(() => {});
      const { standby, sealed, timeline } = rows[0] as {
        standby: boolean;
        sealed: boolean;
        timeline: string;
      };
      if (standby) return { reason: "is a standby" };
      if (sealed) return { reason: "can only be read" };
      return { timeline: Number.parseInt(timeline, 16) };
    } catch (error) {
      socket.destroy();
      return { reason: "gives no answer", error };
    }
  }

  /** Ends every connection, whoever waits for it. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Its address as it may be shown. */
  get name(): string {
    return /^\w+:\/\/(?:[^@/?#]*@)?([^/?#]*)/.exec(this.#url)?.[1] ?? "";
  }
}

export class HostsPool implements PostgresPool {
  readonly #hosts: readonly Host[];
  readonly #moved: () => void;
  /** The primary; undefined while nobody is known to be it. */
  #primary: Host | undefined;
  /** The latest timeline that was seen, and who was on it. */
  #timeline = 0;
  #last: Host | undefined;
  #finding: Promise<Host> | undefined;
  #isDoubting = false;

  /** `moved` is told when another server is the primary, or the same one after a promotion. */
  constructor(driver: Driver, urls: readonly string[], moved: () => void) {
    const told = {
      lost: (host: Host) => this.#leave(host),
      silent: (host: Host) => void this.#doubt(host),
    };
    this.#hosts = urls.map((url) => new Host(driver, url, told));
    this.#moved = moved;
  }

  async query(query: Query): ReturnType<PostgresPool["query"]> {
    for (let attempt = 1; ; attempt++) {
      const host = await this.#find();
      try {
        return await host.pool.query(query as pg.QueryConfig);
      } catch (error) {
        const isRefused = isRefusedByStandby(error);
        if (isRefused || isLost(error)) this.#leave(host);
        // What a standby refused was not done, so whoever is the primary can be asked.
        if (!isRefused || attempt >= this.#hosts.length) throw error;
      }
    }
  }

  async connect(): Promise<PostgresClient> {
    const host = await this.#find();
    try {
      return (await host.pool.connect()) as unknown as PostgresClient;
    } catch (error) {
      this.#leave(host);
      throw error;
    }
  }

  async end(): Promise<void> {
    await Promise.all(this.#hosts.map(({ pool }) => pool.end()));
  }

  /** Before it is used again it has to say that it is the primary. */
  #leave(host: Host): void {
    if (this.#primary === host) this.#primary = undefined;
  }

  async #find(): Promise<Host> {
    if (this.#primary !== undefined) return this.#primary;
    this.#finding ??= this.#search().finally(() => {
      this.#finding = undefined;
    });
    return this.#finding;
  }

  /** Somebody waits for a server that says nothing. It stays the primary unless another one is (H4). */
  async #doubt(host: Host): Promise<void> {
    if (this.#isDoubting || this.#last !== host || !host.isBusy) return;
    this.#isDoubting = true;
    await this.#search().catch(() => {});
    this.#isDoubting = false;
  }

  /** Asks every host, and takes the one on the latest timeline (H2). */
  async #search(): Promise<Host> {
    const said = await Promise.all(
      this.#hosts.map(async (host) => ({ host, standing: await host.ask() }) as const),
    );
    const known = this.#timeline;
    let found: { readonly host: Host; readonly timeline: number } | undefined;
    for (const { host, standing } of said) {
      if (!("timeline" in standing) || standing.timeline < known) continue;
      const { timeline } = standing;
      const isBetter = found === undefined || timeline > found.timeline;
      if (isBetter || (timeline === found?.timeline && host === this.#last)) found = { host, timeline };
    }
    if (found === undefined) throw nobody(said);
    this.#take(found.host, found.timeline);
    return found.host;
  }

  #take(host: Host, timeline: number): void {
    const before = this.#last;
    const isElsewhere = before !== undefined && (before !== host || timeline > this.#timeline);
    this.#primary = host;
    this.#last = host;
    this.#timeline = timeline;
    if (before !== host) before?.cut();
    if (isElsewhere) this.#moved();
  }
}

/** Why nobody is the primary. If no server says so much as that it is none, the first error tells more. */
function nobody(said: readonly { readonly host: Host; readonly standing: Standing }[]): unknown {
  const errors = said.flatMap(({ standing }) => ("error" in standing ? [standing.error] : []));
  const answered = errors.find((error) => !isLost(error));
  if (answered !== undefined) return answered;
  if (errors.length === said.length) return errors[0];
  const standings = said.map(({ host, standing }) =>
    "timeline" in standing
      ? `${host.name} is on an earlier timeline than was seen`
      : `${host.name} ${standing.reason}`,
  );
  return new HoldfastError(
    "STORE_UNAVAILABLE",
    `None of the store's servers is the primary: ${standings.join(", ")}; promote one, or wait until somebody has`,
  );
}
