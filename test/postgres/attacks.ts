/**
 * Everything that users, workers and owners of a secured store try, as a list of what came of it that should not have. A
 * store that is whole has an empty list. The same attacks are made on stores with a planted mistake, to see that they are
 * able to find one.
 */
import {
  activityOf,
  bytesOf,
  committed,
  eventOf,
  firstCommit,
  noon,
  owned,
} from "../../src/store/conformance/sample.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import type { Secured } from "./secured.ts";

export interface Person {
  readonly tenant: string;
  readonly subject: string;
  readonly run: string;
}

/** The same name in two tenants, and the same tenant with two names. */
export const ada: Person = { tenant: "acme", subject: "ada", run: "trip-of-ada" };
export const bob: Person = { tenant: "acme", subject: "bob", run: "trip-of-bob" };
export const otherAda: Person = { tenant: "globex", subject: "ada", run: "trip-elsewhere" };
const people = [ada, bob, otherAda];

export const claimsOf = ({ tenant, subject }: Person): object => ({
  sub: subject,
  role: "authenticated",
  app_metadata: { tenant },
});

/** Puts rows of every person into every table, as a worker. */
export async function populate(secured: Secured): Promise<void> {
  const store = postgres(secured.urlOf(secured.roles.workerLogin), { clock: "caller" });
  await store.open();
  const epoch = await owned(store);
  for (const { tenant, subject, run } of people) {
    const name = { tenant, run };
    const head = { tenant, subject, attributes: { team: subject } };
    await committed(
      store,
      firstCommit(run, epoch, {
        ...{ head, withSnapshot: true, contents: [{ digest: "d", bytes: bytesOf("secret") }] },
        ...{ begun: [activityOf("tool", name)], keys: ["k0"] },
        sends: [eventOf("lost", { tenant, subject, run: "nowhere" })],
      }),
    );
    await store.enqueue([eventOf("e1", { ...name, subject, key: "k1" })]);
    await store.appendChunks(name, "tool", [{ offset: 0, attempt: 1, bytes: bytesOf("piece") }], epoch);
    const words = { expect: undefined, mark: 1, put: [{ id: "f1", words: ["secret"] }], remove: [] };
    await store.search.writeWords(name, words);
    await store.writeDocument(tenant, `board of ${subject}`, 0, bytesOf("board"));
    const gone = `gone-${subject}`;
    await committed(
      store,
      firstCommit(gone, epoch, { head: { ...head, status: "done", completedAt: noon } }),
    );
    await store.removeRuns([{ tenant, run: gone }], epoch);
  }
  await store.close();
}

/** What users may read of the store's own tables, where they can name them at all. */
const readable: Readonly<Record<string, readonly string[]>> = {
  run: ["id", "tenant", "run", "subject", "machine", "status", "created_at", "pruned", "about"],
  entry: ["run_id", "seq", "at"],
  snapshot: ["run_id", "seq"],
  activity: ["run_id"],
};

/** What is wrong with a store that `populate` has filled. */
export async function problemsOf(secured: Secured): Promise<string[]> {
  const found: string[] = [];
  for (const part of parts) found.push(...(await part(secured)));
  return found;
}

/** Something that is wrong with it. */
export async function problemOf(secured: Secured): Promise<string | undefined> {
  for (const part of parts) {
    const [found] = await part(secured);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What the views show of a run that `populate` has made, besides whose it is. */
const seen: Readonly<Record<string, readonly [columns: string, values: readonly unknown[]]>> = {
  agent_runs: ["id, status, attributes IS NOT NULL", ["active", true]],
  agent_snapshots: ["run_id, status, whole", ["running", true]],
};

async function views({ as, attempt }: Secured): Promise<string[]> {
  const problems: string[] = [];
  for (const person of [...people, undefined]) {
    const claims = person && claimsOf(person);
    const own = person && [person.tenant, person.subject, person.run];
    for (const [view, [columns, more]] of Object.entries(seen)) {
      const query = `SELECT tenant, user_id, ${columns} FROM holdfast_views.${view} ORDER BY created_at`;
      const rows = await as(claims, query).catch(({ code }) => [{ code }]);
      const shown = JSON.stringify(rows.map((row) => Object.values(row)));
      const right = JSON.stringify(own === undefined ? [] : [[...own, ...more]]);
      if (shown !== right) problems.push(`${view} shows ${shown} instead of ${right}`);
    }
  }
  for (const view of ["agent_runs", "agent_snapshots"])
    for (const write of writesOf(`holdfast_views.${view}`, "tenant")) {
      const answer = await attempt(claimsOf(ada), write);
      // A view of several tables takes no writes, whoever asks.
      if (!("state" in answer && /^(42501|42809|55000)$/.test(answer.state)))
        problems.push(`${write} by a user gives ${JSON.stringify(answer)}`);
    }
  return problems;
}

const writesOf = (table: string, column: string): string[] => [
  `INSERT INTO ${table} DEFAULT VALUES`,
  `WITH done AS (UPDATE ${table} SET ${column} = ${column} RETURNING 1) SELECT 1 FROM done`,
  `WITH done AS (UPDATE ${table} SET ${column} = NULL RETURNING 1) SELECT 1 FROM done`,
  `WITH done AS (DELETE FROM ${table} RETURNING 1) SELECT 1 FROM done`,
  `TRUNCATE ${table}`,
  `LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`,
];

async function tables(secured: Secured): Promise<string[]> {
  const { attempt, database } = secured;
  const columns = (await database.query(
    `SELECT c.relname AS table, array_agg(quote_ident(a.attname)) AS columns,
        min(quote_ident(a.attname)) FILTER (WHERE a.attidentity = '' AND a.attgenerated = '') AS given
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = 'holdfast'::regnamespace AND c.relkind IN ('r', 'p') GROUP BY c.relname`,
  )) as { table: string; columns: string[]; given: string }[];
  const problems: string[] = [];
  for (const { table, columns: all, given } of columns) {
    const ownRows = `SELECT count(*)::int AS count FROM holdfast.${table} WHERE
      ${table === "run" ? "id" : "run_id"} = (SELECT id FROM holdfast.run WHERE run = '${ada.run}')`;
    const own = table in readable ? (await database.query(ownRows))[0]?.count : 0;
    const check = async (statement: string, isGood: (rows: number) => boolean): Promise<void> => {
      const answer = await attempt(claimsOf(ada), statement);
      const good = "state" in answer ? answer.state === "42501" : isGood(answer.rows.length);
      if (!good) problems.push(`${statement} by a user gives ${JSON.stringify(answer)}`);
    };
    for (const column of all) {
      const isReadable = readable[table]?.includes(column) ?? false;
      await check(`SELECT ${column} FROM holdfast.${table}`, (rows) => isReadable && rows === own);
    }
    // Users read; also of what is theirs they write nothing.
    for (const write of writesOf(`holdfast.${table}`, given)) await check(write, () => false);
  }
  return problems;
}

async function functions({ attempt, database, roles }: Secured): Promise<string[]> {
  const problems: string[] = [];
  const all = (await database.query(
    `SELECT p.oid::regprocedure::text AS name, has_function_privilege('${roles.user}', p.oid, 'EXECUTE') AS may,
        'holdfast.' || quote_ident(p.proname) || '(' || coalesce((SELECT string_agg(CASE t WHEN 'text'::regtype THEN '''''' ELSE 'NULL' END || '::' || t::regtype, ', ')
          FROM unnest(p.proargtypes) t), '') || ')' AS call
      FROM pg_proc p WHERE p.pronamespace = 'holdfast'::regnamespace`,
  )) as { name: string; may: boolean; call: string }[];
  for (const { name, may, call } of all) {
    const answer = await attempt(claimsOf(ada), `SELECT ${call}`);
    if (may || !("state" in answer && answer.state === "42501"))
      problems.push(`${name} can be called by a user`);
  }
  for (const { run, tenant } of [bob, otherAda]) {
    const [row] = await database.query("SELECT id FROM holdfast.run WHERE run = $1", [run]);
    const looked = await attempt(claimsOf(ada), `SELECT * FROM holdfast_views.look(${row?.id}, 1)`);
    if (!("rows" in looked) || looked.rows.length > 0) problems.push(`look tells of ${run}`);
    const send = `SELECT holdfast_views.send_event('${run}', 'add', '1', NULL, '${tenant}') AS outcome`;
    const sent = await attempt(claimsOf(ada), send);
    if (!("rows" in sent) || sent.rows[0]?.outcome !== "missing") problems.push(`ada can send to ${run}`);
  }
  return problems;
}

async function protection({ database }: Secured): Promise<string[]> {
  const rows = await database.query(
    `SELECT relname FROM pg_class c WHERE relnamespace = 'holdfast'::regnamespace AND relkind IN ('r', 'p')
      AND NOT (relrowsecurity AND (relforcerowsecurity OR relname = 'store_version')
        AND (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname IN ('holdfast_worker', 'holdfast_owner'))
          = CASE relname WHEN 'store_version' THEN 1 ELSE 2 END)`,
  );
  return rows.map(({ relname }) => `${relname} is not under row-level security as it should be`);
}

/** Workers and the owner must see every row: what a policy hides from them would be taken for lost. */
async function insiders({ database, login, roles }: Secured): Promise<string[]> {
  const problems: string[] = [];
  const all = await database.query("SELECT tablename FROM pg_tables WHERE schemaname = 'holdfast'");
  const counts = all
    .map(({ tablename }) => `SELECT '${tablename}' AS name, count(*)::int FROM holdfast.${tablename}`)
    .join(" UNION ALL ");
  const there = await database.query(counts);
  for (const role of [roles.workerLogin, roles.owner]) {
    const found = await login(role, counts);
    for (const [index, { name, count }] of there.entries())
      if (found[index]?.count !== count)
        problems.push(`${role} sees ${found[index]?.count} of ${count} rows of ${name}`);
  }
  return problems;
}

/** What is seen comes before what is set: a mistake is found by what it lets happen, where it lets anything. */
const parts = [views, insiders, functions, tables, protection];
