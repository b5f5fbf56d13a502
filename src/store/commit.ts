/** What makes a commit well formed, for every store. A commit that is not is a bug of its maker, never an outcome. */
import type { RunName } from "./records.ts";
import type { Commit } from "./store.ts";

/**
 * Throws if a commit would leave a gap in the checkpoints (I3), or a head that is not that of its newest entry, or tells
 * of an event that none of its steps can have taken.
 */
export function checkCommit(commit: Commit): void {
  const { expect, head, entries, snapshot, consumed, keys, starts } = commit;
  for (let index = 0; index < entries.length; index++)
    if (entries[index]!.seq !== expect + index + 1) fail(commit, "has a gap in its entries");
  const newest = entries.at(-1) ?? fail(commit, "has no entry");
  if (head.seq !== newest.seq || head.digest !== newest.digest || head.updatedAt !== newest.at)
    fail(commit, "has a head that is not that of its newest entry");
  if (
    snapshot !== undefined &&
    (snapshot.seq !== head.snapshotSeq || snapshot.seq <= expect || snapshot.seq > head.seq)
  )
    fail(commit, "has a snapshot that is not the one its head tells of");
  // A second event of one key must not be stepped at all, so that only the first one is.
  if (keys.length > 1 && hasTwice(keys, ({ key }) => key)) fail(commit, "has a key twice");
  if (consumed.length > 1 && hasTwice(consumed, ({ id }) => id)) fail(commit, "consumes an event twice");
  if (!keys.every(isOfCommit, commit) || !consumed.every(isOfCommit, commit))
    fail(commit, "takes an event with a step it does not have");
  for (const start of starts) {
    if (start.expect !== 0) fail(start, "is to begin a run that has begun");
    if (start.consumed.length > 0) fail(start, "consumes events of a run that has none");
    checkCommit(start);
  }
}

/** Commits and all that begin with them, however deep. */
export function withStarts(commits: readonly Commit[]): readonly Commit[] {
  return commits.flatMap((commit) => [commit, ...withStarts(commit.starts)]);
}

/** The checkpoint a new run stands on: that it was forked from, unless it brings a snapshot that is kept for good. */
export function sourceOf({
  expect,
  head,
  snapshot,
}: Commit): (RunName & { readonly seq: number }) | undefined {
  if (expect > 0 || head.fork === undefined || snapshot?.kept) return undefined;
  return { tenant: head.tenant, ...head.fork };
}

function isOfCommit(this: Commit, { seq }: { readonly seq: number }): boolean {
  return seq > this.expect && seq <= this.head.seq;
}

function hasTwice<Item>(items: readonly Item[], nameOf: (item: Item) => string): boolean {
  return new Set(items.map(nameOf)).size < items.length;
}

function fail({ head, expect }: Commit, problem: string): never {
  throw new Error(`The commit of run ${head.run} from checkpoint ${expect} ${problem}`);
}
