/**
 * What forks stand on. A fork's journal goes on from a state of its source, until it has a snapshot of its own that is kept
 * for good. A fork of the fork from before that snapshot stands on the first source as well: its state is worked out
 * from there. So a run is free of its source once it has such a snapshot and nobody stands on what lies before it.
 */
import type { RunName } from "./records.ts";
import type { Fork } from "./upkeep.ts";

/** A fork as it is stored, with the first of its own snapshots that is kept for good. */
export interface StoredFork extends RunName {
  readonly seq: number;
  readonly kept: number | undefined;
}

/** The forks of a run, and whether each stands on it; `find` gives those of any run. */
export function forksStanding(name: RunName, find: (name: RunName) => readonly StoredFork[]): Fork[] {
  return find(name).map((fork) => {
    const { tenant, run, seq } = fork;
    return { tenant, run, seq, stands: isStanding(fork, find, new Set()) };
  });
}

/** A name may be that of another run by now, so names can lead in circles. */
function isStanding(
  fork: StoredFork,
  find: (name: RunName) => readonly StoredFork[],
  passed: Set<string>,
): boolean {
  const { run, kept } = fork;
  if (kept === undefined) return true;
  if (passed.has(run)) return false;
  passed.add(run);
  return find(fork).some((one) => one.seq < kept && isStanding(one, find, passed));
}

/** What there is of a run that a fork is to stand on. */
export interface Ground {
  readonly seq: number;
  readonly pruned: number;
  readonly fork: { readonly run: string; readonly seq: number } | undefined;
  /** Whether it has a snapshot that is kept for good, at this checkpoint or before. */
  isKept(seq: number): boolean;
}

/** A checkpoint of a run. */
export interface Footing extends RunName {
  readonly seq: number;
}

/** Whether a checkpoint is there, and all that its state is worked out from. */
export function isThere(footing: Footing, find: (name: RunName) => Ground | undefined): boolean {
  const passed = new Set<string>();
  for (let { tenant, run, seq } = footing; !passed.has(run); ) {
    const ground = find({ tenant, run });
    if (ground === undefined || seq < ground.pruned || seq > ground.seq) return false;
    if (ground.fork === undefined || ground.isKept(seq)) return true;
    passed.add(run);
    ({ run, seq } = ground.fork);
  }
  return false;
}
