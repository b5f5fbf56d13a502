/** The tables that hold what the port speaks of, under the names they have in every database, and how their rows are read. */
import type { RunName } from "./records.ts";
import {
  activityOf,
  chunkOf,
  deadLetterOf,
  entryOf,
  eventOf,
  headOf,
  leaseOf,
  type Row,
  seenKeyOf,
  snapshotOf,
} from "./rows.ts";
import type { RowKind, Stored, StoredHead, StoredRows } from "./upkeep.ts";

/** How the rows of a kind are found and read. */
export interface Table<Kind extends RowKind> {
  readonly name: string;
  /** What tells its rows apart; those of a run begin with its number. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  read(row: Row): StoredRows[Kind];
}

const nobody: RunName = { tenant: "", run: "" };
/** Rows of a run do not have its name. */
function nameless<Named extends RunName>({
  tenant: _tenant,
  run: _run,
  ...row
}: Named): Omit<Named, keyof RunName> {
  return row;
}
const event = ["id", "subject", "key", "priority", "at", "bytes"];

export type Tables = { readonly [Kind in RowKind]: Table<Kind> };

/** `whole` reads a whole number as a floating one: a damaged one may be beyond what can be counted to. */
export const tablesWith = (whole: (column: string) => string): Tables => ({
  run: {
    ...{ name: "run", key: ["id"] },
    columns: [
      ...["tenant", "run", "subject", "machine", "status", "created_at", "wake_at", "about", "fork_run"],
      ...["snapshot_seq", "pruned", "fork_seq"].map(whole),
    ],
    read: storedHeadOf,
  },
  entry: {
    ...{ name: "entry", key: ["run_id", "seq"], columns: [whole("seq"), "at", "digest", "bytes"] },
    read: entryOf,
  },
  snapshot: {
    ...{ name: "snapshot", key: ["run_id", "seq"], columns: [whole("seq"), "kept", "bytes"] },
    read: snapshotOf,
  },
  inbox: {
    ...{ name: "inbox", key: ["run_id", "id"], columns: [...event, "expendable"] },
    read: (row) => nameless(eventOf(nobody, row)),
  },
  key: { name: "seen_key", key: ["run_id", "key"], columns: ["key", whole("seq")], read: seenKeyOf },
  activity: {
    ...{ name: "activity", key: ["run_id", "key"] },
    columns: ["key", "activity", whole("attempt"), "status", "due_at", "bytes", "report"],
    read: (row) => nameless(activityOf(nobody, row)),
  },
  attribute: {
    ...{ name: "attribute", key: ["tenant", "name", "value", "created_at", "run"] },
    columns: ["tenant", "name", "value", "created_at", "run"],
    read: ({ name, value }) => ({ name: name as string, value: JSON.parse(value as string) }),
  },
  chunk: {
    ...{ name: "chunk", key: ["run_id", "key", '"offset"'] },
    columns: ["key", whole('"offset"'), whole("attempt"), "bytes"],
    read: (row) => ({ key: row.key as string, ...chunkOf(row) }),
  },
  content: {
    ...{ name: "content", key: ["tenant", "subject", "digest"] },
    columns: ["tenant", "subject", "digest", "bytes"],
    read: (row) => ({ ...row }) as unknown as StoredRows["content"],
  },
  document: {
    ...{ name: "document", key: ["tenant", "name"], columns: ["tenant", "name", whole("version"), "bytes"] },
    read: (row) => ({ ...row }) as unknown as StoredRows["document"],
  },
  letter: {
    ...{ name: "dead_letter", key: ["number"] },
    columns: [whole("number"), "tenant", "run", "reason", ...event],
    read: deadLetterOf,
  },
  lease: {
    ...{ name: "lease", key: ["id"], columns: ["owner", whole("epoch"), "taken_at", "until", "outages"] },
    read: leaseOf,
  },
});

/** Where the description is damaged, the columns still tell whose run it is. */
function storedHeadOf(row: Row): StoredHead {
  const about = isDescribed(row) ? row.about : emptyAbout;
  const { seq: _seq, digest: _digest, updatedAt: _updatedAt, ...head } = headOf({ ...row, about });
  return { ...head, pruned: row.pruned as number };
}

const emptyAbout = JSON.stringify({ version: 0, hash: "", attributes: {} });

/** Whether a run's description can be read. */
export function isDescribed({ about }: Row): boolean {
  try {
    const { version, hash, attributes } = JSON.parse(about as string) as Partial<StoredHead>;
    return typeof version === "number" && typeof hash === "string" && typeof attributes === "object";
  } catch {
    return false;
  }
}

/** A row as `scan` gives it. */
export function storedOf<Kind extends RowKind>(
  { read }: Table<Kind>,
  row: Row,
  problemOf: () => string | undefined = () => undefined,
): Stored<Kind> {
  const { place, ...rest } = row as Row & { readonly place: string };
  try {
    const record = read(rest);
    const problem = problemOf();
    return { place, row: record, ...(problem === undefined ? {} : { problem }) };
  } catch (error) {
    return { place, row: undefined, problem: `it cannot be read: ${(error as Error).message}` };
  }
}

/** The values of a place, in the order of its table's key. */
export function keyIn(place: string): (string | number)[] {
  return JSON.parse(place) as (string | number)[];
}

/** The number of the run at a place. */
export function numberIn(place: string): number {
  return Number(keyIn(place)[0]);
}

/** Whether what a run was forked from is noted beside its description as it stands in it. */
export function isForkNoted(row: Row): boolean {
  const { fork } = headOf(row);
  return (fork?.run ?? null) === row.fork_run && (fork?.seq ?? null) === row.fork_seq;
}
