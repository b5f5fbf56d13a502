/** Backups: all that was acknowledged before one began is in it, and nothing that never was (invariant 30). */
import type { Store } from "../../../src/store/store.ts";
import type { Ledger } from "../ledger.ts";
import type { Model } from "../model.ts";
import type { Report } from "./report.ts";

/** More than any world has. */
const limit = 100_000;

/** What anybody was told is durable: of each run its newest checkpoint. */
export function durableIn({ durable }: Ledger): ReadonlyMap<string, number> {
  return new Map([...durable].map(([run, { seq }]) => [run, seq]));
}

/** Looks through a store that was restored from a backup; `least` is what was durable when that began. */
export async function checkBackup(
  copy: Store,
  least: ReadonlyMap<string, number>,
  model: Model,
  report: Report,
): Promise<void> {
  const found = new Set<string>();
  for (const { row } of await copy.scan("run", { limit })) {
    if (row === undefined) continue;
    found.add(row.run);
    const run = model.find(row) ?? model.removed.get(row.run);
    const entries = await copy.readJournal(row, 1, limit);
    for (const { seq, digest } of entries)
      if (run?.entries[seq - 1]?.digest !== digest)
        report(30, `the backup has a checkpoint ${seq} of ${row.run} that never was`);
    const seq = (await copy.readHead(row))?.seq ?? 0;
    if (seq < (least.get(row.run) ?? 0))
      report(30, `the backup has ${row.run} at ${seq}, and ${least.get(row.run)} was durable when it began`);
  }
  for (const run of least.keys())
    if (!found.has(run) && !model.removed.has(run)) report(30, `the backup lacks ${run}`);
}
