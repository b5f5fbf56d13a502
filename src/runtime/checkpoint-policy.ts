/**
 * Checkpoint policies: when the steps of a run are committed. Only steps without effects, on events that wait in the
 * inbox until their step is durable, may wait for a later commit: what a crash can cost is recomputation, never data.
 */
import { limits } from "../limits.ts";
import type { Turn } from "./turn.ts";

/** Steps that may wait at most, whatever the policy: they are all taken again after a crash. */
const waitingMax = 1_000;

/** Whether a turn may go on in the next one instead of being committed now. */
export function mayWait(turn: Turn): boolean {
  const { run, taken, repeats, forced } = turn;
  const { checkpoint = "step" } = run.machine.machine.definition;
  if (checkpoint === "step" || forced || repeats.length > 0 || taken.length >= waitingMax) return false;
  if (turn.bytes >= limits.commitBytesMax) return false;
  // What is still to be read comes after the commit.
  if (run.more) return false;
  if (checkpoint === "manual") return true;
  if ("every" in checkpoint) return taken.length < checkpoint.every;
  try {
    let before = taken[turn.asked - 1]?.step.state ?? run.state;
    for (const { step } of taken.slice(turn.asked)) {
      turn.asked++;
      if (checkpoint.when({ before, after: step.state })) return false;
      before = step.state;
    }
    return true;
  } catch {
    // Who cannot say whether a change is worth it gets every change kept.
    return false;
  }
}
