/** Checkpoint policies: what may wait for a later commit, and that nothing else does (invariant 27). */
import { countOf, tallyByHand, tallyByMark, tallyByNumber, tallyEvery } from "../machines/tally.ts";
import type { ModelRun } from "../model.ts";

type Policy = (run: ModelRun) => boolean;

/** By machine: whether all that is in the inbox of a run at rest may stay there, its steps taken and not committed. */
const policies: Readonly<Record<string, Policy>> = {
  [tallyByHand.machine.id]: () => true,
  [tallyByNumber.machine.id]: ({ inbox }) => inbox.size < tallyEvery,
  [tallyByMark.machine.id]: ({ inbox }) => [...inbox.values()].every(({ event }) => !countOf(event).mark),
};

/** Whether a run has a policy by which steps may wait. */
export function hasPolicy({ machine }: ModelRun): boolean {
  return machine.id in policies;
}

export function mayStay(run: ModelRun): boolean {
  return policies[run.machine.id]?.(run) === true;
}
