/** What happened, in numbers. */
import type { Counts } from "./model.ts";

export interface Tally extends Counts {
  lives: number;
  crashes: number;
  jumps: number;
  setBack: number;
  outages: number;
  schedules: number;
  scheduled: number;
  steps: number;
}

export function emptyTally(): Tally {
  return {
    ...{ set: 0, fired: 0, cancelled: 0, sent: 0, moved: 0, lives: 0, crashes: 0, jumps: 0, setBack: 0 },
    ...{ outages: 0, schedules: 0, scheduled: 0, steps: 0 },
  };
}

/** Adds what happened in one world to what happened in all. */
export function addTally(total: Tally, more: Tally): void {
  for (const name of Object.keys(more) as (keyof Tally)[]) total[name] += more[name];
}
