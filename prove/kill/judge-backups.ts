/**
 * The judgement over backups.
 *
 * K14. Whatever is called a backup can be restored and passes `verify`, acknowledged or not. One that was acknowledged is
 * there. It has all that was acknowledged before it began, and nothing that never was.
 */
import { existsSync, rmSync } from "node:fs";
import { createRuntime, type MachineEntry } from "holdfast";
import { listBackups, restore } from "holdfast/housekeeping";
import { sqlite } from "holdfast/sqlite";
import { backupsKept } from "./changes.ts";
import type { Chronicle, Copying } from "./chronicle.ts";
import { eventName, type Found, type FoundRuns, findRuns, readDigests } from "./judge-changes.ts";

export interface BackupScene {
  readonly directory: string;
  readonly chronicle: Chronicle;
  /** What the store itself has now. */
  readonly runs: FoundRuns;
  /** Every machine, with tools that nobody hears of. */
  readonly machines: () => MachineEntry[];
  /** Resolves when nothing is under way in a store. */
  readonly settle: (path: string) => Promise<unknown>;
}

export async function backupProblems(scene: BackupScene): Promise<{ problems: string[]; backups: number }> {
  const { directory, chronicle } = scene;
  const found = listBackups(directory);
  const problems: string[] = [];
  const acked = [...chronicle.copies].filter(([, copy]) => copy.acked).map(([at]) => at);
  // Older ones are removed by those who make newer ones.
  for (const at of acked.slice(-backupsKept))
    if (!found.some((one) => one.at === at) && !hasNewer(chronicle, at))
      problems.push(`K14: the backup of ${at} was acknowledged and is not there`);
  for (const { path, at } of found) {
    const copying = chronicle.copies.get(at);
    if (copying === undefined) problems.push(`K14: nobody made the backup of ${at}`);
    else
      problems.push(
        ...(await copyProblems(path, copying, scene)).map((one) => `K14: the backup of ${at} ${one}`),
      );
  }
  return { problems, backups: acked.length };
}

/** Whether so many were begun after it that it may have gone. */
function hasNewer({ copies }: Chronicle, at: number): boolean {
  return [...copies.keys()].filter((other) => other > at).length >= backupsKept;
}

async function copyProblems(from: string, copying: Copying, scene: BackupScene): Promise<string[]> {
  const to = `${from}.restored`;
  try {
    await restore({ from, to, open: sqlite });
    const before = await readAll(to);
    const runtime = await createRuntime({ store: sqlite(to), machines: scene.machines() });
    const observer = sqlite(to);
    await observer.open();
    try {
      await scene.settle(to);
      const { runs, unreadable } = await findRuns(runtime, observer);
      return [...unreadable, ...contentProblems(runs, copying), ...inventedIn(before, scene.runs)];
    } finally {
      await observer.close();
      await runtime.close();
    }
  } catch (error) {
    return [`cannot be used: ${(error as Error).stack ?? error}`];
  } finally {
    for (const end of ["", "-wal", "-shm"]) if (existsSync(to + end)) rmSync(to + end);
  }
}

/** The digests in a copy, before anything goes on in it. */
async function readAll(path: string): Promise<ReadonlyMap<string, ReadonlyMap<number, string>>> {
  const store = sqlite(path);
  await store.open();
  try {
    const all = new Map<string, ReadonlyMap<number, string>>();
    for (const { run } of await store.findRuns({ tenant: "default", limit: 1_000_000 }))
      all.set(run, await readDigests(store, run));
    return all;
  } finally {
    await store.close();
  }
}

function contentProblems(runs: FoundRuns, { sent, reached, ending }: Copying): string[] {
  const problems: string[] = [];
  for (const [run, seq] of reached) {
    const head = runs.get(run)?.head;
    if (head === undefined && ending.has(run)) continue;
    if ((head?.seq ?? 0) < seq) problems.push(`has ${run} at ${head?.seq ?? "nothing"} of ${seq}`);
  }
  for (const [run, events] of sent) {
    const found = runs.get(run);
    if (found === undefined && ending.has(run)) continue;
    if (found !== undefined && isPruned(found)) continue;
    const taken = new Set(found?.entries.map(({ event }) => eventName(event)));
    for (const event of events) if (!taken.has(event)) problems.push(`lacks ${event} of ${run}`);
  }
  return problems;
}

const isPruned = ({ entries }: Found): boolean => (entries[0]?.seq ?? 1) > 1;

/** Steps of a copy that the store itself has otherwise. */
function inventedIn(copied: ReadonlyMap<string, ReadonlyMap<number, string>>, runs: FoundRuns): string[] {
  const problems: string[] = [];
  for (const [run, digests] of copied) {
    const found = runs.get(run);
    if (found === undefined) continue;
    for (const [seq, digest] of digests) {
      const known = found.digests.get(seq);
      if (seq > found.head.seq || (known !== undefined && known !== digest))
        problems.push(`has a step ${seq} of ${run} that never was`);
    }
  }
  return problems;
}
