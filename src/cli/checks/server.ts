/** Whether a PostgreSQL server can keep what a store promises: judged from its settings and its statistics, as data. */
import { amount, bad, type Finding, good, seconds, warning } from "./finding.ts";

/** What the server says of itself, in one row of `serverQuery`. */
export interface ServerFacts {
  readonly version: number;
  readonly version_text: string;
  readonly encoding: string;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly full_page_writes: string;
  readonly isolation: string;
  readonly is_standby: boolean;
  readonly is_read_only: boolean;
  readonly autovacuum: string;
  readonly max_connections: number;
  readonly reserved_connections: number;
  readonly used_connections: number;
  /** How many the role, or the database, may have of them; null where that is not limited. */
  readonly allowed_connections: number | null;
  /** By the database's clock, in milliseconds since 1970. */
  readonly now: number;
  readonly prepared: number;
  /** The oldest transaction that holds back vacuum: its age in milliseconds, and whose it is. */
  readonly oldest_ms: number | null;
  readonly oldest_pid: number | null;
  readonly xid_age: number;
  readonly synchronous_standbys: string;
  readonly standbys: number;
  readonly synchronous: number;
  readonly lag_bytes: number | null;
}

/** The oldest major version whose functions and statements the store uses. */
const versionMin = 14;
const versionTried = 18;
/** A transaction of so long keeps rows that are gone from being cleared away. */
const oldTransactionMs = 5 * 60_000;
/** Timers are as wrong as the clocks of those who see to them. */
const clockOffMs = 1_000;
const clockFarOffMs = 60_000;
const lagBytesMax = 64 * 1024 * 1024;
/** At two thousand million a server stops to protect itself. */
const xidAgeMax = 1_000_000_000;

const setting = (name: string): string => `current_setting('${name}')`;

export const serverQuery = `SELECT
  ${setting("server_version_num")}::int AS version, ${setting("server_version")} AS version_text,
  ${setting("server_encoding")} AS encoding, ${setting("fsync")} AS fsync,
  ${setting("synchronous_commit")} AS synchronous_commit, ${setting("full_page_writes")} AS full_page_writes,
  ${setting("default_transaction_isolation")} AS isolation, pg_is_in_recovery() AS is_standby,
  ${setting("default_transaction_read_only")} = 'on' AS is_read_only, ${setting("autovacuum")} AS autovacuum,
  ${setting("max_connections")}::int AS max_connections,
  ${setting("superuser_reserved_connections")}::int
    + coalesce(current_setting('reserved_connections', true), '0')::int AS reserved_connections,
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used_connections,
  (SELECT least(nullif(rolconnlimit, -1), nullif(datconnlimit, -1)) FROM pg_roles, pg_database
    WHERE rolname = session_user AND NOT rolsuper AND datname = current_database()) AS allowed_connections,
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now,
  (SELECT count(*)::int FROM pg_prepared_xacts WHERE database = current_database()) AS prepared,
  oldest.ms AS oldest_ms, oldest.pid AS oldest_pid,
  (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS xid_age,
  ${setting("synchronous_standby_names")} AS synchronous_standbys,
  (SELECT count(*)::int FROM pg_stat_replication) AS standbys,
  (SELECT count(*)::int FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS synchronous,
  (SELECT max(CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) END)::float8
    FROM pg_stat_replication) AS lag_bytes
  FROM (SELECT 1) one LEFT JOIN LATERAL (
    SELECT extract(epoch FROM clock_timestamp() - xact_start)::float8 * 1000 AS ms, pid FROM pg_stat_activity
    WHERE backend_xmin IS NOT NULL AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
      AND backend_type = 'client backend' ORDER BY xact_start LIMIT 1
  ) oldest ON true`;

/** `here`: this machine's clock, between when the server was asked and when it answered. */
export function judgeServer(facts: ServerFacts, here: number): readonly Finding[] {
  return [
    version(facts),
    facts.encoding === "UTF8"
      ? good("encoding", "UTF8")
      : bad(
          "encoding",
          facts.encoding,
          "make another database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
        ),
    ...durability(facts),
    facts.isolation === "read committed"
      ? good("isolation", facts.isolation)
      : bad(
          "isolation",
          facts.isolation,
          "ALTER ROLE … SET default_transaction_isolation = 'read committed'",
        ),
    writable(facts),
    clock(facts, here),
    ...vacuum(facts),
    ...replication(facts),
  ];
}

function version({ version, version_text: text }: ServerFacts): Finding {
  const major = Math.floor(version / 10_000);
  if (major < versionMin) return bad("server version", text, `use PostgreSQL ${versionMin} or newer`);
  return major <= versionTried
    ? good("server version", text)
    : warning("server version", text, `it is newer than ${versionTried}, the newest this was tried with`);
}

function durability({ fsync, full_page_writes, synchronous_commit }: ServerFacts): readonly Finding[] {
  return [
    fsync === "on"
      ? good("fsync", "on")
      : bad(
          "fsync",
          fsync,
          "turn it on: without it a power cut loses what was acknowledged, and the store refuses to open",
        ),
    full_page_writes === "on"
      ? good("full_page_writes", "on")
      : bad("full_page_writes", full_page_writes, "turn it on: without it a power cut can tear pages"),
    synchronous_commit === "off"
      ? warning(
          "synchronous_commit",
          "off",
          'workers turn it on for what they write, unless told synchronous: "server"; turn it on',
        )
      : good("synchronous_commit", synchronous_commit),
  ];
}

function writable({ is_standby, is_read_only }: ServerFacts): Finding {
  if (is_standby) return bad("writable", "this server is a standby", "give the URL of the primary server");
  return is_read_only
    ? bad("writable", "transactions are read-only", "ALTER ROLE … SET default_transaction_read_only = off")
    : good("writable", "this is the primary server");
}

function clock({ now }: ServerFacts, here: number): Finding {
  const off = Math.abs(now - here);
  const found = `${seconds(off)} from this machine's`;
  const remedy = "set both by NTP: leases go by the database's clock, and timers by the workers'";
  if (off > clockFarOffMs) return bad("clock", found, remedy);
  return off > clockOffMs ? warning("clock", found, remedy) : good("clock", found);
}

function vacuum({ autovacuum, prepared, oldest_ms, oldest_pid, xid_age }: ServerFacts): readonly Finding[] {
  const old = oldest_ms ?? 0;
  return [
    autovacuum === "on"
      ? good("autovacuum", "on")
      : bad("autovacuum", autovacuum, "turn it on: rows change all the time, and the tables grow without it"),
    prepared === 0
      ? good("prepared transactions", "none")
      : warning(
          "prepared transactions",
          `${prepared}`,
          "end them with COMMIT PREPARED or ROLLBACK PREPARED: see pg_prepared_xacts",
        ),
    old > oldTransactionMs
      ? warning(
          "long transactions",
          `one of ${seconds(old)}, process ${oldest_pid}`,
          `end it, or SELECT pg_terminate_backend(${oldest_pid}): nothing is cleared away meanwhile`,
        )
      : good("long transactions", "none"),
    xid_age > xidAgeMax
      ? bad(
          "transaction ids",
          `the oldest is ${xid_age} back`,
          "find out what holds vacuum back, then VACUUM FREEZE",
        )
      : good("transaction ids", `the oldest is ${xid_age} back`),
  ];
}

function replication(facts: ServerFacts): readonly Finding[] {
  const { is_standby, synchronous_standbys: names, standbys, synchronous, lag_bytes } = facts;
  if (is_standby) return [];
  const lag =
    lag_bytes !== null && lag_bytes > lagBytesMax
      ? [
          warning(
            "replication lag",
            `${Math.round(lag_bytes / 2 ** 20)} MiB`,
            "find out what slows the standby down: a failover would wait for it",
          ),
        ]
      : [];
  if (names !== "" && synchronous === 0)
    return [
      bad(
        "replication",
        `no standby of “${names}” is there`,
        "commits wait for one without end: bring it back, or empty synchronous_standby_names",
      ),
    ];
  if (standbys === 0)
    return [good("replication", "no standby: what is acknowledged is on this server's disk alone")];
  if (synchronous === 0)
    return [
      warning(
        "replication",
        `${amount(standbys, "standby")}, none synchronous`,
        "set synchronous_standby_names: a failover can lose what was acknowledged",
      ),
      ...lag,
    ];
  return [good("replication", `${synchronous} of ${standbys} synchronous`), ...lag];
}

/** Whether all workers find connections. */
export function judgeConnections(facts: ServerFacts, workers: number, eachMax: number): Finding {
  const { max_connections, reserved_connections, used_connections, allowed_connections } = facts;
  const free = max_connections - reserved_connections;
  const allowed = allowed_connections ?? free;
  const needed = workers * eachMax;
  const limit = allowed < free ? `, ${allowed} allowed to this role or database` : "";
  const found = `${used_connections} of ${free} used${limit}; ${amount(workers, "worker")} may use ${needed}`;
  if (needed <= Math.min(free, allowed)) return good("connections", found);
  const room = needed > free ? "raise max_connections" : "ALTER ROLE or DATABASE … CONNECTION LIMIT";
  return bad(
    "connections",
    found,
    `${room}, run fewer workers, or put PgBouncer in between and give --signals`,
  );
}
