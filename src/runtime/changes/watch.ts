/** The way in: from rules to triggers on tables, and whoever delivers what they note. */
import { HoldfastError } from "../../errors.ts";
import { installRules, removeRules } from "../../store/postgres/changes/install.ts";
import { type NotedChange, Outbox } from "../../store/postgres/changes/outbox.ts";
import type { PostgresPool } from "../../store/postgres/connect.ts";
import { createPool } from "../../store/postgres/pool.ts";
import { type Clock, systemClock } from "../clock.ts";
import { type Ids, systemIds } from "../ids.ts";
import type { Runtime } from "../run.ts";
import { workerName } from "../worker.ts";
import { Consumer } from "./consumer.ts";
import { addressed, type Parcel } from "./deliver.ts";
import { type FailedChange, FailedChanges } from "./failed.ts";
import { Listener } from "./listen.ts";
import { type Change, type ChangeRule, changeOf, checkRule, type Operation } from "./rule.ts";

/** Where the tables are. */
interface Place {
  /** The URL of the database, or a pool of `pg`, which then stays open. */
  readonly database: string | PostgresPool;
  /** The schema of the outbox: `holdfast`, the store's, unless given. */
  readonly schema?: string;
}

export interface WatchOptions<Ons extends Readonly<Record<string, Operation>> = Record<string, Operation>>
  extends Place {
  /** Whatever its store is; only that it takes a key once is counted on. */
  readonly runtime: Pick<Runtime, "run" | "start" | "stopped">;
  /** By their names, which stay with what waits in the outbox. Programs that share an outbox choose different ones. */
  readonly rules: { readonly [Name in keyof Ons]: ChangeRule<Ons[Name]> };
  /** Whether triggers wake whoever sleeps; yes unless given. Without, a change waits up to a second for the next look. */
  readonly notify?: boolean;
  readonly clock?: Clock;
  readonly ids?: Ids;
  /** Told of a change that could not be delivered. */
  readonly onFailed?: (failed: FailedChange) => void;
}

/** How the outbox stands. */
export interface ChangesStatus {
  /** Changes that are not delivered yet, of the rules known here. */
  readonly waiting: number;
  readonly failed: number;
  /** Rules of which changes wait and that are not known here: another program's, or to be removed with `unwatchTables`. */
  readonly unknown: readonly string[];
  /** Whether the database can wake us; if not, we look every second or more often. */
  readonly listening: boolean;
  /** What keeps us from delivering. */
  readonly problem: unknown;
}

/** Watched tables, as their users hold them. */
export interface TableChanges {
  /** Changes that nobody could be given. */
  readonly failed: FailedChanges;
  status(): Promise<ChangesStatus>;
  /** Delivers no more from here. Triggers stay, and what they note waits for the next one who watches. */
  close(): Promise<void>;
}

/**
 * Puts triggers on tables and delivers what they note: each change that is committed once, in the order of the commits for
 * one row and for one run. Resolves when the triggers are there. Throws RULE_INVALID, and then nothing has changed.
 */
export async function watchTables<const Ons extends Readonly<Record<string, Operation>>>(
  options: WatchOptions<Ons>,
): Promise<TableChanges> {
  const { database, schema = "holdfast", notify = true } = options;
  const rules = new Map(Object.entries(options.rules as unknown as Readonly<Record<string, ChangeRule>>));
  const checked = [...rules].map(([name, rule]) => checkRule(name, rule, notify));
  const pool = typeof database === "string" ? await createPool(database) : database;
  try {
    const tables = await installRules(pool, schema, checked);
    const outbox = new Outbox({ pool, schema, tables });
    const end = async () => (typeof database === "string" ? pool.end() : undefined);
    return new Watch({ ...options, pool, outbox, rules, end });
  } catch (error) {
    if (typeof database === "string") await pool.end();
    throw error;
  }
}

/**
 * Takes the triggers of these rules away, or of all. What waits or failed stays, unless it is to be discarded; an outbox
 * that nothing uses any more goes.
 */
export async function unwatchTables(
  options: Place & { readonly rules?: readonly string[]; readonly discard?: boolean },
): Promise<void> {
  const { database, schema = "holdfast" } = options;
  const pool = typeof database === "string" ? await createPool(database) : database;
  try {
    await removeRules(pool, schema, options);
  } finally {
    if (typeof database === "string") await pool.end();
  }
}

interface WatchWorld extends Omit<WatchOptions, "rules"> {
  readonly pool: PostgresPool;
  readonly outbox: Outbox;
  readonly rules: ReadonlyMap<string, ChangeRule>;
  end(): Promise<void>;
}

class Watch implements TableChanges {
  readonly failed: FailedChanges;
  readonly #world: WatchWorld;
  readonly #consumer: Consumer;
  readonly #listener: Listener;
  #closing: Promise<void> | undefined;

  constructor(world: WatchWorld) {
    const { outbox, pool, runtime: receiver, clock = systemClock, ids = systemIds } = world;
    this.#world = world;
    const describe = (noted: NotedChange) => this.#describe(noted);
    const address = (noted: NotedChange) => this.#address(noted);
    this.failed = new FailedChanges({ outbox, receiver, describe, address });
    this.#consumer = new Consumer({
      ...{ outbox, receiver, clock, address, holder: workerName(ids.next()) },
      isListening: () => this.#listener.isListening,
      failed: ({ change }, { reason }) => world.onFailed?.({ change, reason, failedAt: clock.now() }),
    });
    this.#listener = new Listener({
      ...{ pool, clock, channel: outbox.channel, trial: ids.next() },
      say: (word) => outbox.notify(word),
      wake: () => this.#consumer.wake(),
    });
    if (world.notify !== false) void this.#listener.open();
    this.#consumer.wake();
    void world.runtime.stopped.then(() => this.close());
  }

  async status(): Promise<ChangesStatus> {
    const counted = await this.#world.outbox.count();
    const known = counted.filter(({ rule }) => this.#world.rules.has(rule));
    const sum = (of: "waiting" | "failed") => known.reduce((total, one) => total + one[of], 0);
    return {
      waiting: sum("waiting"),
      failed: sum("failed"),
      unknown: counted.filter((one) => !known.includes(one)).map(({ rule }) => rule),
      listening: this.#listener.isListening,
      problem: this.#consumer.problem,
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#listener.close();
    await this.#consumer.close();
    await this.#world.end();
  }

  #describe(noted: NotedChange): Change {
    return changeOf(noted, this.#world.rules.get(noted.rule)?.table ?? "");
  }

  #address(noted: NotedChange): Parcel {
    const rule = this.#world.rules.get(noted.rule);
    if (rule !== undefined) return addressed(changeOf(noted, rule.table), rule);
    throw new HoldfastError(
      "RULE_INVALID",
      `The change ${noted.number} is of the rule ${JSON.stringify(noted.rule)}, which is not known here`,
    );
  }
}
