/** All that the memory store keeps, row by row. Nothing in it can be damaged, so nothing is ever wrong with a row. */
import type { RowKind, ScanQuery, Stored, StoredHead, StoredRows } from "../upkeep.ts";
import { compareText, type Kept, type StoredRun } from "./kept.ts";

type Rows = readonly (readonly [place: unknown, row: StoredRows[RowKind]])[];

/** What there is of each kind, by what a place is made of. */
const rowsOf: Readonly<Record<RowKind, (kept: Kept, run: StoredRun | undefined) => Rows>> = {
  run: ({ runs }) => [...runs.values()].map((run) => [[run.head.tenant, run.head.run], headOf(run)]),
  entry: (_, run) => run?.entries.map((entry) => [entry.seq, entry]) ?? [],
  snapshot: (_, run) => run?.snapshots.map((snapshot) => [snapshot.seq, snapshot]) ?? [],
  inbox: (_, run) =>
    [...(run?.inbox.values() ?? [])].map(({ tenant: _tenant, run: _run, ...row }) => [row.id, row]),
  key: (_, run) =>
    [...(run?.seen ?? [])].map(([key, seq]) => [key, seq === undefined ? { key } : { key, seq }]),
  activity: (_, run) =>
    [...(run?.activities.values() ?? [])].map(({ row: { tenant: _tenant, run: _run, ...row } }) => [
      row.key,
      row,
    ]),
  attribute: (_, run) =>
    Object.entries(run?.head.attributes ?? {}).map(([name, value]) => [name, { name, value }]),
  chunk: (_, run) =>
    [...(run?.chunks ?? [])].flatMap(([key, stream]) =>
      [...stream.values()].map((chunk): Rows[number] => [[key, chunk.offset], { key, ...chunk }]),
    ),
  content: ({ contents }) =>
    [...contents].map(([place, row]) => {
      const [tenant, subject] = JSON.parse(place) as [string, string];
      return [place, { tenant, subject, ...row }];
    }),
  document: ({ documents }) =>
    [...documents].map(([place, row]) => {
      const [tenant, name] = JSON.parse(place) as [string, string];
      return [place, { tenant, name, ...row }];
    }),
  letter: ({ deadLetters }) => [...deadLetters],
  lease: ({ lease }) => [[1, lease]],
};

export function scan<Kind extends RowKind>(
  kept: Kept,
  kind: Kind,
  { of, after, limit }: ScanQuery,
): Stored<Kind>[] {
  const run = typeof of === "string" ? kept.runs.get(of) : undefined;
  const rows = rowsOf[kind](kept, run).map(([part, row]) => ({
    // A run's own place is its name in the map; what belongs to it stands below that.
    place: kind === "run" ? JSON.stringify(part) : placeOf(run === undefined ? [part] : [of, part].flat()),
    row: row as StoredRows[Kind],
  }));
  return rows
    .sort((one, other) => compareText(one.place, other.place))
    .filter(({ place }) => after === undefined || compareText(place, after) > 0)
    .slice(0, limit);
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
