/** All that the memory store keeps, row by row. What it keeps itself is never damaged; what others lend it may be. */
import { isHoldfastError } from "../../errors.ts";
import type { ContentRow, DocumentRow } from "../records.ts";
import type { RowKind, ScanQuery, Stored, StoredHead, StoredRows } from "../upkeep.ts";
import { compareText } from "./kept.ts";
import type { StoredRun, Tables } from "./tables.ts";

/** A row is read when it is its turn, and whoever reads it hears of its damage. */
type Rows = readonly (readonly [place: unknown, read: () => StoredRows[RowKind]])[];

/** What there is of each kind, by what a place is made of. */
const rowsOf: Readonly<Record<RowKind, (tables: Tables, run: StoredRun | undefined) => Rows>> = {
  run: ({ runs, damaged }) =>
    [...runs.values(), ...Array.from(damaged?.values() ?? [], ({ run }) => run)].map((run) => [
      [run.head.tenant, run.head.run],
      () => headOf(run),
    ]),
  entry: (_, run) => run?.entries.scan().map(({ seq, read }) => [seq, read]) ?? [],
  snapshot: (_, run) => run?.snapshots.map((snapshot) => [snapshot.seq, () => snapshot]) ?? [],
  inbox: (_, run) =>
    [...(run?.inbox.values() ?? [])].map(({ tenant: _tenant, run: _run, ...row }) => [row.id, () => row]),
  key: (_, run) =>
    [...(run?.seen ?? [])].map(([key, seq]) => [key, () => (seq === undefined ? { key } : { key, seq })]),
  activity: (_, run) =>
    [...(run?.activities.values() ?? [])].map(({ row: { tenant: _tenant, run: _run, ...row } }) => [
      row.key,
      () => row,
    ]),
  attribute: (_, run) =>
    Object.entries(run?.head.attributes ?? {}).map(([name, value]) => [name, () => ({ name, value })]),
  chunk: (_, run) =>
    [...(run?.chunks ?? [])].flatMap(([key, stream]) =>
      [...stream.values()].map((chunk): Rows[number] => [[key, chunk.offset], () => ({ key, ...chunk })]),
    ),
  content: ({ contents }) =>
    [...contents.keys()].map((place) => {
      const [tenant, subject] = JSON.parse(place) as [string, string];
      return [place, () => ({ tenant, subject, ...(contents.get(place) as ContentRow) })];
    }),
  document: ({ documents }) =>
    [...documents.keys()].map((place) => {
      const [tenant, name] = JSON.parse(place) as [string, string];
      return [place, () => ({ tenant, name, ...(documents.get(place) as DocumentRow) })];
    }),
  letter: ({ deadLetters }) => [...deadLetters].map(([number, row]) => [number, () => row]),
  lease: ({ lease }) => [[1, () => lease]],
};

export function scan<Kind extends RowKind>(
  tables: Tables,
  kind: Kind,
  { of, after, limit }: ScanQuery,
): Stored<Kind>[] {
  const run = typeof of === "string" ? (tables.damaged?.get(of)?.run ?? tables.runs.get(of)) : undefined;
  const rows = rowsOf[kind](tables, run).map(([part, read]) => ({
    // A run's own place is its name in the map; what belongs to it stands below that.
    place: kind === "run" ? JSON.stringify(part) : placeOf(run === undefined ? [part] : [of, part].flat()),
    read: read as () => StoredRows[Kind],
  }));
  return rows
    .filter(({ place }) => after === undefined || compareText(place, after) > 0)
    .sort((one, other) => compareText(one.place, other.place))
    .slice(0, limit)
    .map(({ place, read }) => stored(place, read))
    .map((row) => (kind === "run" ? { ...row, ...problemAt(tables, row.place) } : row));
}

function problemAt({ damaged }: Tables, place: string): { readonly problem?: string } {
  const problem = damaged?.get(place)?.problem;
  return problem === undefined ? {} : { problem };
}

function stored<Kind extends RowKind>(place: string, read: () => StoredRows[Kind]): Stored<Kind> {
  try {
    // Some of a row may be read only now.
    return { place, row: { ...read() } };
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "STORE_CORRUPT") throw error;
    return { place, row: undefined, problem: error.message };
  }
}

/** Numbers all have the same length, so that they stand in their order as texts do. */
function placeOf(place: readonly unknown[]): string {
  return JSON.stringify(place, (_, part) =>
    typeof part === "number" ? String(part).padStart(16, "0") : part,
  );
}

function headOf({ head, pruned }: StoredRun): StoredHead {
  const { seq: _seq, digest: _digest, updatedAt: _updatedAt, ...rest } = head;
  return { ...rest, pruned };
}
