/** What the server did meanwhile: statements, write-ahead log, flushes and processor time, seen from outside. */
import { readdirSync, readFileSync } from "node:fs";
import pg from "pg";

export interface Sighting {
  /** Statements that clients of the database sent; undefined where the server cannot count them. */
  readonly statements: number | undefined;
  readonly walBytes: number;
  readonly flushes: number | undefined;
  readonly serverCpuMs: number;
}

/** Backends report what they flushed when they have been idle for this long, or end. */
export const reportedAfterMs = 10_500;

export class Witness {
  readonly #client: pg.Client;
  readonly #database: string;
  readonly #pid: number;

  private constructor(client: pg.Client, database: string, pid: number) {
    this.#client = client;
    this.#database = database;
    this.#pid = pid;
  }

  /** Looks on from another database; `pid` is the server's. */
  static async of(url: string, pid = 0): Promise<Witness> {
    const { pathname } = new URL(url);
    const client = new pg.Client({ connectionString: url.replace(pathname, "/postgres") });
    await client.connect();
    return new Witness(client, pathname.slice(1), pid);
  }

  async look(): Promise<Sighting> {
    return {
      statements: await this.statements(),
      walBytes: (await this.#number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn")) as number,
      flushes:
        (await this.#number("SELECT wal_sync FROM pg_stat_wal")) ??
        (await this.#number("SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'")),
      serverCpuMs: cpuMsOf(this.#pid),
    };
  }

  /** Statements that clients of the database have sent; undefined where the server cannot count them. */
  statements(): Promise<number | undefined> {
    return this.#number(
      `SELECT coalesce(sum(calls), 0) FROM pg_stat_statements
        WHERE dbid = (SELECT oid FROM pg_database WHERE datname = '${this.#database}')`,
    );
  }

  /** The only number of an answer; undefined if the server does not know what is asked about. */
  async #number(text: string): Promise<number | undefined> {
    try {
      const { rows } = await this.#client.query({ text, rowMode: "array" });
      return Number(rows[0]?.[0]);
    } catch {
      return undefined;
    }
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}

/** Processor time of a process and all that come from it, those that ended included; 0 where there is no /proc. */
export function cpuMsOf(pid: number): number {
  let parents: Map<number, number[]>;
  try {
    parents = childrenByParent();
  } catch {
    return 0;
  }
  const ticksOf = (process: number): number => {
    const own = statOf(process);
    const children = parents.get(process) ?? [];
    return (own?.ticks ?? 0) + children.reduce((sum, child) => sum + ticksOf(child), 0);
  };
  // A hundred ticks a second, on every Linux there is.
  return ticksOf(pid) * 10;
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? statOf(pid) : undefined;
    if (stat !== undefined) children.set(stat.parent, [...(children.get(stat.parent) ?? []), pid]);
  }
  return children;
}

/** The parent, and the ticks of the process and of children it waited for. */
function statOf(pid: number): { readonly parent: number; readonly ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [, parent = 0] = fields;
    const ticks = fields.slice(11, 15).reduce((sum, value) => sum + value, 0);
    return { parent, ticks };
  } catch {
    return undefined;
  }
}
