/**
 * A machine of somebody's own, as it is put beside the image: its activity says that it has begun, goes on for as long as
 * there is a file `hold` beside it, and says that it has ended.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { defineMachine } from "holdfast";

export const slow = defineMachine({
  id: "slow",
  initial: "working",
  states: {
    working: { invoke: { activity: "work", onDone: "done", onError: "failed" } },
    done: { type: "final" },
    failed: { type: "final" },
  },
});

const hold = join(import.meta.dirname, "hold");

async function work() {
  console.error("begun");
  while (existsSync(hold)) await pause(20);
  console.error("ended");
}

export default [{ machine: slow, activities: { work } }];
