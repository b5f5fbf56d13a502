/** Asks a PostgreSQL store everything that can be judged. It changes nothing: a store that is older is not migrated. */
import { limits } from "../../limits.ts";
import { quote } from "../../store/postgres/migrate.ts";
import { createClient } from "../../store/postgres/pool.ts";
import { migrations } from "../../store/postgres/schema.ts";
import { PostgresSignals } from "../../store/postgres/signals.ts";
import type { StoreArguments } from "../arguments.ts";
import { Census } from "../census.ts";
import { describe } from "../terminal.ts";
import { type BackupsFacts, backupsQuery, judgeBackups } from "./backups.ts";
import { checkDisk, folderQuery } from "./disk.ts";
import { bad, type Finding } from "./finding.ts";
import { judgeFleet, judgeSignals, judgeSpace, judgeVersion, leftAfterMs, type SpaceFacts } from "./fleet.ts";
import { judgeRights, type RightsFacts, rightsQuery } from "./rights.ts";
import { judgeConnections, judgeServer, type ServerFacts, serverQuery } from "./server.ts";

/** How many connections a worker opens at most: a pool, as `pg` has it unless told otherwise, and one for its signs of life. */
const connectionsEach = 11;

/** What is looked at. */
export interface Subject extends StoreArguments {
  /** How many workers are meant to run. */
  readonly workers: number | undefined;
}

export async function checkPostgres(args: Subject): Promise<readonly Finding[]> {
  const census = await Census.open(args.store, args.schema);
  const findings: Finding[] = [];
  try {
    for await (const some of check(args, census)) findings.push(...some);
  } catch (error) {
    findings.push(bad("server", describe(error), "mend that first; nothing else could be checked"));
  } finally {
    await census.close();
  }
  return findings;
}

/** What is found, as it is found: a server that stops answering takes nothing from what it said before. */
async function* check(args: Subject, census: Census): AsyncIterable<readonly Finding[]> {
  const asked = Date.now();
  const [row] = await census.query(serverQuery);
  const facts = row as unknown as ServerFacts;
  yield judgeServer(facts, (asked + Date.now()) / 2);
  yield await checkStorage(census);
  const version = await census.version().catch((error: unknown) => error);
  yield [await checkRights(census, version !== 0)];
  yield [judgeVersion(version, migrations.length), judgeSignals(await unheard(args, census))];
  const isReady = version === migrations.length;
  const counted = isReady ? await census.members() : undefined;
  const workers = args.workers ?? Math.max(counted?.members.length ?? 0, 1);
  yield [judgeConnections(facts, workers, connectionsEach)];
  if (counted === undefined) return;
  yield judgeFleet({ ...counted, left: await census.due(leftAfterMs), ...(await countTroubles(census)) });
  yield judgeSpace(await readSpace(census));
}

/** What is kept beside the store's own tables: the archive of the log, and the disk. */
async function checkStorage(census: Census): Promise<readonly Finding[]> {
  const [backups] = await census.query(backupsQuery);
  const [data] = await census.query(folderQuery);
  return [
    ...judgeBackups(backups as unknown as BackupsFacts),
    await checkDisk(data?.folder as string | undefined),
  ];
}

async function checkRights(census: Census, hasStore: boolean): Promise<Finding> {
  const [facts] = await census.query(rightsQuery, [census.schema]);
  return judgeRights(facts as unknown as RightsFacts, hasStore);
}

/** Why nothing is heard of what is notified; undefined if it is. */
async function unheard(args: Subject, census: Census): Promise<unknown> {
  const signals = new PostgresSignals(census.schema, {
    ask: (query, values) => census.ask(query, values),
    connect: () => (typeof args.signals === "string" ? createClient(args.signals) : census.connect()),
  });
  if (args.signals === false) return undefined;
  try {
    const stop = await signals.listen(
      () => {},
      () => {},
    );
    await stop();
    return undefined;
  } catch (error) {
    return error;
  }
}

async function countTroubles(census: Census): Promise<{ parked: number; deadLetters: number }> {
  const schema = quote(census.schema);
  const first = (from: string) =>
    `(SELECT count(*)::int FROM (SELECT 1 FROM ${schema}.${from} LIMIT $1) counted)`;
  const text = `SELECT ${first("run WHERE status = 'parked'")} AS parked, ${first("dead_letter")} AS dead`;
  const [row] = await census.query(text, [limits.dueCountedMax]);
  return { parked: row?.parked as number, deadLetters: row?.dead as number };
}

async function readSpace(census: Census): Promise<SpaceFacts> {
  const tables = await census.query(
    "SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead FROM pg_stat_user_tables WHERE schemaname = $1",
    [census.schema],
  );
  const [sizes] = await census.query(
    `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 AS bytes,
        pg_database_size(current_database())::float8 AS database_bytes,
        count(*) FILTER (WHERE c.relispartition AND c.relkind = 'r')::int AS partitions
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = $1 AND c.relkind IN ('r', 'm')`,
    [census.schema],
  );
  return { ...sizes, tables } as unknown as SpaceFacts;
}
