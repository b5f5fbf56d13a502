/** All that a store holds, as it is read by whoever steps runs and as tools see it row by row, in a form that can be compared. */
import { HoldfastError } from "../../errors.ts";
import type { RunHead } from "../records.ts";
import type { Store } from "../store.ts";
import { type RowKind, runKinds, type Stored, type StoredRows } from "../upkeep.ts";
import { pools } from "./pools.ts";

/** More than there is of anything. */
const many = 10_000;

/** Everything that can be read. */
export async function contentsOf(store: Store): Promise<unknown> {
  const contents: unknown[] = [await store.nextDue(Number.NEGATIVE_INFINITY)];
  for (const tenant of pools.tenant) {
    for (const head of await store.findRuns({ tenant, limit: many }))
      contents.push(head, ...(await contentsOfRun(store, head)));
    for (const subject of pools.subject)
      contents.push(await store.readContents(tenant, subject, pools.digest));
    for (const name of pools.document) contents.push(await store.readDocument(tenant, name));
    const letters = await store.readDeadLetters(tenant, 0, many);
    contents.push(letters.map(({ number: _number, ...letter }) => letter));
  }
  return contents;
}

async function contentsOfRun(store: Store, head: RunHead): Promise<readonly unknown[]> {
  return Promise.all([
    store.load(head),
    store.readJournal(head, 1, many),
    store.readKeys(head, pools.key),
    store.readForks(head),
    ...Array.from({ length: head.seq }, (_, index) => store.readAt(head, index + 1)),
    ...pools.activity.map((key) => store.readChunks(head, key, 0, many)),
  ]);
}

/** Everything that tools see, by kind and run. Places and numbers are each store's own, so rows stand in an order of their own. */
export async function rowsOf(store: Store): Promise<unknown> {
  const runs = await scanAll(store, "run");
  const rows: Record<string, unknown> = { run: runs.map(({ row }) => row) };
  for (const kind of ["content", "document", "letter", "lease"] as const)
    rows[kind] = (await scanAll(store, kind)).map(({ row }) => row);
  for (const { place, row } of runs)
    for (const kind of runKinds)
      rows[`${kind} of ${row.tenant}/${row.run}`] = (await scanAll(store, kind, place)).map(
        (stored) => stored.row,
      );
  return rows;
}

export interface Seen<Kind extends RowKind> {
  readonly place: string;
  readonly row: StoredRows[Kind];
}

/** All rows of a kind, of a run where they belong to one, a few at a time, as tools read them. */
export async function scanAll<Kind extends RowKind>(
  store: Store,
  kind: Kind,
  of?: string,
): Promise<Seen<Kind>[]> {
  const found: Stored<Kind>[] = [];
  const limit = 7;
  for (let page: readonly Stored<Kind>[] = []; ; ) {
    const last = found.at(-1);
    page = await store.scan(kind, {
      limit,
      ...(of === undefined ? {} : { of }),
      ...(last === undefined ? {} : { after: last.place }),
    });
    found.push(...page);
    if (page.length < limit) break;
  }
  const seen = found.map(({ place, row, problem }) => {
    if (row === undefined || problem !== undefined)
      throw new HoldfastError("STORE_CORRUPT", `There is something wrong with ${kind} ${place}: ${problem}`);
    return { place, row: kind === "letter" ? withoutNumber(row) : row };
  });
  return inOrder(seen as Seen<Kind>[]);
}

function withoutNumber(row: object): object {
  const { number: _number, ...rest } = row as { readonly number?: number };
  return rest;
}

function inOrder<Kind extends RowKind>(rows: readonly Seen<Kind>[]): Seen<Kind>[] {
  const named = rows.map((seen) => [JSON.stringify(Object.entries(seen.row).sort()), seen] as const);
  return named.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, seen]) => seen);
}
