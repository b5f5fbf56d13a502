/** Removing runs and entries from the memory store: gone at once, and counted until they are swept. */
import { isFinal, type RunName } from "../records.ts";
import type { Fork } from "../upkeep.ts";
import { compareText, type Kept, nameOf, type StoredRun } from "./kept.ts";

export function forksOf({ runs }: Kept, { tenant, run }: RunName): Fork[] {
  return [...runs.values()]
    .filter(({ head }) => head.tenant === tenant && head.fork?.run === run)
    .map(({ head, snapshots }) => ({
      ...{ tenant, run: head.run, seq: head.fork?.seq as number },
      stands: !snapshots.some(({ kept }) => kept),
    }))
    .sort((one, other) => compareText(one.run, other.run));
}

export function removeRun(kept: Kept, name: RunName): boolean {
  const run = kept.runs.get(nameOf(name));
  if (run === undefined || !isFinal(run.head) || forksOf(kept, name).some(({ stands }) => stands))
    return false;
  forget(kept, run);
  return true;
}

/** Takes a run out, whatever it is. */
export function forget(kept: Kept, run: StoredRun): void {
  const { head, entries, snapshots, seen, activities, chunks } = run;
  kept.runs.delete(nameOf(head));
  const pieces = [...chunks.values()].reduce((sum, { size }) => sum + size, 0);
  const rows = entries.length + snapshots.length + seen.size + activities.size + pieces;
  kept.removals.push({ tenant: head.tenant, subject: head.subject, rows });
}

export function prune(kept: Kept, name: RunName, seq: number): boolean {
  const run = kept.runs.get(nameOf(name));
  if (run === undefined || seq <= run.pruned || seq >= run.head.seq) return false;
  if (!run.snapshots.some((snapshot) => snapshot.seq === seq)) return false;
  if (forksOf(kept, name).some((fork) => fork.stands && fork.seq < seq)) return false;
  cut(kept, run, seq);
  return true;
}

/** Takes out what lies before a snapshot, which stays for good. */
export function cut(kept: Kept, run: StoredRun, seq: number): void {
  const before = run.entries.length + run.snapshots.length;
  run.entries = run.entries.filter((entry) => entry.seq > seq);
  run.snapshots = run.snapshots
    .filter((snapshot) => snapshot.seq >= seq)
    .map((snapshot) => (snapshot.seq === seq ? { ...snapshot, kept: true } : snapshot));
  run.pruned = seq;
  const rows = before - run.entries.length - run.snapshots.length;
  kept.removals.push({ tenant: run.head.tenant, subject: undefined, rows });
}

export function sweep(kept: Kept, limit: number): number {
  let left = limit;
  for (let [removal] = kept.removals; removal !== undefined && left > 0; [removal] = kept.removals) {
    const rows = Math.min(left, removal.rows);
    removal.rows -= rows;
    left -= rows;
    if (left > 0) left -= sweepContents(kept, removal.tenant, removal.subject, left);
    if (left === 0) break;
    kept.removals.shift();
    left--;
  }
  return limit - left;
}

function sweepContents(kept: Kept, tenant: string, subject: string | undefined, limit: number): number {
  const isLast = ![...kept.runs.values()].some(
    ({ head }) => head.tenant === tenant && head.subject === subject,
  );
  if (subject === undefined || !isLast) return 0;
  const places = [...kept.contents.keys()].filter((place) => {
    const [owner, whose] = JSON.parse(place) as [string, string];
    return owner === tenant && whose === subject;
  });
  const gone = places.slice(0, limit);
  for (const place of gone) kept.contents.delete(place);
  return gone.length;
}
