/** Changes that tools make to what the memory store keeps. */
import type { Mending, RowKind } from "../upkeep.ts";
import { copy, inOrder, type Kept, lose, type StoredRun } from "./kept.ts";
import { cut, forget } from "./remove.ts";

export function mend(kept: Kept, mending: Mending): void {
  if (mending.change === "lease") {
    const { runs, lease } = kept;
    const epochs = [...runs.values()].flatMap(({ activities }) => [...activities.values()]);
    const epoch = Math.max(lease.epoch, ...epochs.map((activity) => activity.epoch)) + 1;
    kept.lease = { owner: undefined, epoch, from: lease.from, until: lease.from };
  } else if (mending.change === "remove") remove(kept, mending.kind, JSON.parse(mending.place));
  else if (mending.change === "content")
    kept.contents.set(
      JSON.stringify([mending.tenant, mending.subject, mending.content.digest]),
      copy(mending.content),
    );
  else if (mending.change === "document") {
    const place = JSON.stringify([mending.tenant, mending.name]);
    const version = (kept.documents.get(place)?.version ?? 0) + 1;
    kept.documents.set(place, copy({ version, bytes: mending.bytes }));
  } else {
    const run = kept.runs.get(mending.run);
    if (run !== undefined) mendRun(kept, run, mending);
  }
}

function mendRun(kept: Kept, run: StoredRun, mending: Extract<Mending, { readonly run: string }>): void {
  const { change } = mending;
  if (change === "set") {
    setBack(run, mending.head);
    run.pruned = mending.pruned ?? run.pruned;
  } else if (change === "prune") cut(kept, run, mending.seq);
  else if (change === "activity")
    run.activities.set(mending.activity.key, { row: copy(mending.activity), epoch: 0 });
  else if (change === "key") run.seen.set(mending.key.key, mending.key.seq);
  else if (change === "entry") run.entries = replaced(run.entries, copy(mending.entry));
  else if (change === "snapshot") run.snapshots = replaced(run.snapshots, copy(mending.snapshot));
  else if (change === "forget") {
    for (const row of inOrder(run.inbox.values())) lose(kept, row, "missing");
    forget(kept, run);
  }
}

function setBack(run: StoredRun, head: StoredRun["head"]): void {
  run.head = copy(head);
  run.entries = run.entries.filter(({ seq }) => seq <= head.seq);
  run.snapshots = run.snapshots.filter(({ seq }) => seq <= head.seq);
  for (const [key, seq] of run.seen) if (seq !== undefined && seq > head.seq) run.seen.delete(key);
}

function replaced<Row extends { readonly seq: number }>(rows: readonly Row[], row: Row): Row[] {
  return [...rows.filter(({ seq }) => seq !== row.seq), row].sort((one, other) => one.seq - other.seq);
}

/** Removes a row from where `scan` found it. */
function remove(kept: Kept, kind: RowKind, [first, part, piece]: readonly string[]): void {
  const run = kept.runs.get(first as string);
  if (kind === "content") kept.contents.delete(first as string);
  else if (kind === "document") kept.documents.delete(first as string);
  else if (kind === "letter") kept.deadLetters.delete(Number(first));
  else if (run === undefined) return;
  else if (kind === "entry") run.entries = run.entries.filter(({ seq }) => seq !== Number(part));
  else if (kind === "snapshot") run.snapshots = run.snapshots.filter(({ seq }) => seq !== Number(part));
  else if (kind === "inbox") run.inbox.delete(part as string);
  else if (kind === "key") run.seen.delete(part as string);
  else if (kind === "activity") run.activities.delete(part as string);
  else if (kind === "chunk") run.chunks.get(part as string)?.delete(Number(piece));
}
