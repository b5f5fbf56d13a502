/** Removing runs and entries from the memory store: gone at once, and counted until they are swept. */
import { forksStanding, type StoredFork } from "../forks.ts";
import { isFinal, type RunName } from "../records.ts";
import type { Fork, SeenDocument } from "../upkeep.ts";
import { compareText, nameOf } from "./kept.ts";
import type { Removal, StoredRun, Tables } from "./tables.ts";

export function forksOf(tables: Tables, name: RunName): Fork[] {
  return forksStanding(name, (one) => storedForks(tables, one));
}

function storedForks({ runs }: Tables, { tenant, run }: RunName): StoredFork[] {
  return [...runs.values()]
    .filter(({ head }) => head.tenant === tenant && head.fork?.run === run)
    .map(({ head, snapshots }) => ({
      ...{ tenant, run: head.run, seq: head.fork?.seq as number },
      kept: snapshots.find(({ kept }) => kept)?.seq,
    }))
    .sort((one, other) => compareText(one.run, other.run));
}

/** Whether documents have the versions they had when something was decided by them. */
export function isAsSeen({ documents }: Tables, seen: readonly SeenDocument[]): boolean {
  return seen.every(
    ({ tenant, name, version }) => (documents.get(JSON.stringify([tenant, name]))?.version ?? 0) === version,
  );
}

/** Whether a run of the tenant is damaged: nobody knows what that stands on, so it may be on anything. */
function hasDamaged({ damaged }: Tables, { tenant }: Pick<RunName, "tenant">): boolean {
  for (const { run } of damaged?.values() ?? []) if (run.head.tenant === tenant) return true;
  return false;
}

export function removeRun(tables: Tables, name: RunName): boolean {
  const run = tables.runs.get(nameOf(name));
  if (run === undefined || !isFinal(run.head) || hasDamaged(tables, name)) return false;
  if (forksOf(tables, name).some(({ stands }) => stands)) return false;
  forget(tables, run);
  return true;
}

/** Takes a run out, whatever it is. */
export function forget(tables: Tables, run: StoredRun): void {
  const { head, pruned, snapshots, seen, activities } = run;
  tables.runs.delete(nameOf(head));
  const rows = head.seq - pruned + snapshots.length + seen.size + activities.size;
  note(tables, { tenant: head.tenant, subject: head.subject, rows });
}

function note(tables: Tables, removal: Removal): void {
  tables.removals = [...tables.removals, removal];
}

export function prune(tables: Tables, name: RunName, seq: number): boolean {
  const run = tables.runs.get(nameOf(name));
  if (run === undefined || seq <= run.pruned || seq >= run.head.seq || hasDamaged(tables, name)) return false;
  if (!run.snapshots.some((snapshot) => snapshot.seq === seq)) return false;
  if (forksOf(tables, name).some((fork) => fork.stands && fork.seq < seq)) return false;
  cut(tables, run, seq);
  return true;
}

/** Takes out what lies before a snapshot, which stays for good. */
export function cut(tables: Tables, run: StoredRun, seq: number): void {
  const before = run.snapshots.length;
  run.entries.drop(0, seq);
  run.snapshots = run.snapshots
    .filter((snapshot) => snapshot.seq >= seq)
    .map((snapshot) => (snapshot.seq === seq ? { ...snapshot, kept: true } : snapshot));
  const rows = seq - run.pruned + before - run.snapshots.length;
  run.pruned = seq;
  note(tables, { tenant: run.head.tenant, subject: undefined, rows });
}

export function sweep(tables: Tables, limit: number): number {
  let left = limit;
  const removals = [...tables.removals];
  for (let [removal] = removals; removal !== undefined && left > 0; [removal] = removals) {
    const rows = Math.min(left, removal.rows);
    removals[0] = { ...removal, rows: removal.rows - rows };
    left -= rows;
    if (left > 0) left -= sweepContents(tables, removal, left);
    if (left === 0) break;
    removals.shift();
    left--;
  }
  if (left < limit) tables.removals = removals;
  return limit - left;
}

function sweepContents(tables: Tables, { tenant, subject }: Removal, limit: number): number {
  const isLast = ![...tables.runs.values()].some(
    ({ head }) => head.tenant === tenant && head.subject === subject,
  );
  if (subject === undefined || !isLast) return 0;
  if (hasDamaged(tables, { tenant })) return 0;
  const gone = tables.contents.of(tenant, subject).slice(0, limit);
  for (const place of gone) tables.contents.delete(place);
  return gone.length;
}
