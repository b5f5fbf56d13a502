/** Who works: those who share the store, or this process where it owns the store alone. */
import { limits } from "../limits.ts";
import { isThisProcess } from "../runtime/worker.ts";
import type { Worker } from "./contract/operations.ts";
import type { World } from "./world.ts";

export function workersOf({ runtime }: World): Worker[] {
  const members = runtime.members();
  if (members.length === 0)
    return [
      {
        ...{ worker: "this process", epoch: 0, isLeaving: false, isThis: true },
        ...{ slots: limits.slots, running: 0, waiting: 0 },
      },
    ];
  return members.map(({ worker, epoch, isLeaving, slots, running, waiting }) => ({
    ...{ worker, epoch, isLeaving, isThis: isThisProcess(worker), slots, running, waiting },
  }));
}
