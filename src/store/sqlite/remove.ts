/**
 * Removing runs and entries: noted in the caller's transaction, whatever their size, and deleted later, a few rows at a
 * time. Each of a run's tables is emptied through an index that begins with its number.
 */
import { forksStanding } from "../forks.ts";
import { isFinal, type RunName } from "../records.ts";
import { headOf } from "../rows.ts";
import type { Fork } from "../upkeep.ts";
import { attributesOf } from "./commit.ts";
import type { Statements } from "./queries.ts";

export function forksOf(statements: Statements, name: RunName): Fork[] {
  return forksStanding(name, ({ tenant, run }) =>
    statements.readForks.all(tenant, run).map((row) => ({
      ...{ tenant, run: row.run as string, seq: row.fork_seq as number },
      kept: (row.kept as number | null) ?? undefined,
    })),
  );
}

export function removeRun(statements: Statements, name: RunName): boolean {
  const row = statements.readRun.get(name.tenant, name.run);
  const head = row && headOf(row);
  if (head === undefined || !isFinal(head)) return false;
  if (forksOf(statements, name).some(({ stands }) => stands)) return false;
  // Attributes name their run instead of having its number, so they cannot wait.
  for (const attribute of attributesOf(head)) statements.deleteAttribute.run(...attribute);
  const id = row?.id as number;
  statements.deleteRun.run(id);
  statements.insertRemoval.run(id, head.tenant, head.subject, null);
  return true;
}

export function prune(statements: Statements, name: RunName, seq: number): boolean {
  const row = statements.readRun.get(name.tenant, name.run);
  if (row === undefined || seq <= (row.pruned as number) || seq >= (row.seq as number)) return false;
  const id = row.id as number;
  if (statements.hasSnapshot.get(id, seq) === undefined) return false;
  if (forksOf(statements, name).some((fork) => fork.stands && fork.seq < seq)) return false;
  cut(statements, id, row as unknown as Owned, seq);
  return true;
}

type Owned = { readonly tenant: string; readonly subject: string };

/** Puts the entries up to a checkpoint away; its snapshot stays for good. */
export function cut(statements: Statements, id: number, { tenant, subject }: Owned, seq: number): void {
  statements.pruneRun.run(seq, id);
  statements.keepSnapshot.run(id, seq);
  statements.insertRemoval.run(id, tenant, subject, seq);
}

/** Deletes rows of what was removed, the oldest removal first. */
export function sweep(statements: Statements, limit: number): number {
  let left = limit;
  const spend = (swept: { readonly changes: number | bigint }): void => {
    left -= Number(swept.changes);
  };
  while (left > 0) {
    const removal = statements.readRemoval.get();
    if (removal === undefined) break;
    const id = removal.run_id as number;
    const until = (removal.until as number | null) ?? Number.MAX_SAFE_INTEGER;
    spend(statements.sweepEntries.run(id, until, left));
    spend(statements.sweepSnapshots.run(id, until, left));
    if (removal.until === null) {
      for (const table of ["Inbox", "Keys", "Activities", "Chunks", "Words", "Texts", "Mark"] as const)
        spend(statements[`sweep${table}`].run(id, left));
      spend(statements.sweepContents.run(removal.tenant as string, removal.subject as string, left));
    }
    if (left === 0) break;
    statements.deleteRemoval.run(removal.id as number);
    left--;
  }
  return limit - left;
}
