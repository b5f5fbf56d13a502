/**
 * What every contestant does on PostgreSQL, durably: one run step after step, and many runs at once. What it wrote is read
 * back through new connections before its figures count.
 */
import { pad } from "../durable/workload.ts";

/** Where a contestant may write: an empty database, and an empty folder for one that brings a server of its own. */
export interface Place {
  readonly url: string;
  readonly folder: string;
}

export interface Contestant {
  open(place: Place): Promise<Opened>;
}

/** Hears how many milliseconds a step took, from when it was asked for until it was durable. */
export type Lap = (ms: number) => void;

export interface Opened {
  /** Makes what a run needs before its first step; not timed. */
  begin(runs: readonly string[], steps: number): Promise<void>;
  /** Takes steps of one run, each begun when the one before is durable. */
  take(run: string, steps: number, lap: Lap): Promise<void>;
  /** Takes the steps of many runs at once, if there is a better way than to take them of each at the same time. */
  takeAll?(runs: readonly string[], steps: number, lap: Lap): Promise<void>;
  /** How many steps each run has taken, from what was stored. */
  read(runs: readonly string[], steps: number): Promise<readonly number[]>;
  close(): Promise<void>;
  /** The process of a server of its own. */
  readonly server?: number;
}

export interface State {
  readonly n: number;
  readonly pad: string;
}

/** The state after a number of steps: about 1 KB. */
export const stateAfter = (n: number): State => ({ n, pad });

export type WorkloadName = "sequential" | "many";

export interface Size {
  readonly runs: number;
  readonly steps: number;
}

export const sizes: Readonly<Record<WorkloadName, Size>> = {
  sequential: { runs: 1, steps: 1_000 },
  many: { runs: 1_000, steps: 10 },
};
export const quickSizes: Readonly<Record<WorkloadName, Size>> = {
  sequential: { runs: 1, steps: 200 },
  many: { runs: 100, steps: 10 },
};

export const namesOf = ({ runs }: Size, prefix: string): string[] =>
  Array.from({ length: runs }, (_, index) => `${prefix}-${index}`);

/** Does a workload on runs that have begun. */
export async function work(on: Opened, names: readonly string[], steps: number, lap: Lap): Promise<void> {
  if (on.takeAll !== undefined && names.length > 1) return on.takeAll(names, steps, lap);
  await Promise.all(names.map((name) => on.take(name, steps, lap)));
}

/** Steps one after the other, each told of. */
export async function eachAfterTheOther(
  steps: number,
  lap: Lap,
  step: (index: number) => Promise<unknown>,
): Promise<void> {
  for (let index = 0; index < steps; index++) {
    const begun = performance.now();
    await step(index);
    lap(performance.now() - begun);
  }
}
