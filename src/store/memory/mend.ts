/** Changes that tools make to what the memory store keeps. */
import { unowned } from "../lease.ts";
import type { Mending, RowKind } from "../upkeep.ts";
import { copy, inOrder, lose } from "./kept.ts";
import { cut, forget } from "./remove.ts";
import { replaced, type StoredRun, type Tables } from "./tables.ts";

export function mend(tables: Tables, mending: Mending): void {
  if (mending.change === "lease") {
    const { runs, lease } = tables;
    const epochs = [...runs.values()].flatMap(({ activities }) => [...activities.values()]);
    const epoch = Math.max(lease.epoch, ...epochs.map((activity) => activity.epoch)) + 1;
    tables.lease = { ...unowned, epoch };
    // Whoever was a member is none any more, as an owner is none.
    tables.members = [];
  } else if (mending.change === "remove") remove(tables, mending.kind, JSON.parse(mending.place));
  else if (mending.change === "content")
    tables.contents.set(
      JSON.stringify([mending.tenant, mending.subject, mending.content.digest]),
      copy(mending.content),
    );
  else if (mending.change === "document") {
    const place = JSON.stringify([mending.tenant, mending.name]);
    const version = (tables.documents.get(place)?.version ?? 0) + 1;
    tables.documents.set(place, copy({ version, bytes: mending.bytes }));
  } else {
    tables.damaged?.heal(mending.run);
    const run = tables.runs.get(mending.run);
    if (run !== undefined) mendRun(tables, run, mending);
  }
}

function mendRun(tables: Tables, run: StoredRun, mending: Extract<Mending, { readonly run: string }>): void {
  const { change } = mending;
  if (change === "set") {
    setBack(run, mending.head);
    run.pruned = mending.pruned ?? run.pruned;
  } else if (change === "prune") cut(tables, run, mending.seq);
  else if (change === "activity")
    run.activities.set(mending.activity.key, { row: copy(mending.activity), epoch: 0 });
  else if (change === "key") run.seen.set(mending.key.key, mending.key.seq);
  else if (change === "entry") run.entries.put(copy(mending.entry));
  else if (change === "snapshot") run.snapshots = replaced(run.snapshots, copy(mending.snapshot));
  else if (change === "forget") {
    for (const row of inOrder(run.inbox.values())) lose(tables, row, "missing");
    forget(tables, run);
  }
}

function setBack(run: StoredRun, head: StoredRun["head"]): void {
  run.head = copy(head);
  run.entries.drop(head.seq + 1, Number.POSITIVE_INFINITY);
  run.snapshots = run.snapshots.filter(({ seq }) => seq <= head.seq);
  for (const [key, seq] of run.seen) if (seq !== undefined && seq > head.seq) run.seen.delete(key);
}

/** Removes a row from where `scan` found it. */
function remove(tables: Tables, kind: RowKind, [first, part, piece]: readonly string[]): void {
  tables.damaged?.heal(first as string);
  const run = tables.runs.get(first as string);
  if (kind === "content") tables.contents.delete(first as string);
  else if (kind === "document") tables.documents.delete(first as string);
  else if (kind === "letter") tables.deadLetters.delete(Number(first));
  else if (run === undefined) return;
  else if (kind === "entry") run.entries.drop(Number(part), Number(part));
  else if (kind === "snapshot") run.snapshots = run.snapshots.filter(({ seq }) => seq !== Number(part));
  else if (kind === "inbox") run.inbox.delete(part as string);
  else if (kind === "key") run.seen.delete(part as string);
  else if (kind === "activity") run.activities.delete(part as string);
  else if (kind === "chunk") run.chunks.get(part as string)?.delete(Number(piece));
}
