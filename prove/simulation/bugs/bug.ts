/** A bug that can be planted: one change to a production source, and the invariant that catches it. */
import type { Invariant } from "../invariants/report.ts";
import type { Change } from "../plant.ts";

export interface Bug extends Change {
  readonly name: string;
  /** The invariants of which one no longer holds. */
  readonly catches: readonly Invariant[];
  /** A seed from which on it is soon caught; 1 for most. */
  readonly from?: number;
  /** How many processes share the store of the worlds that catch it; none for those of one process at a time. */
  readonly members?: number;
  /** What else must change, where a second check would make up for the first. */
  readonly also?: readonly Change[];
}

/** What another process may have sent is not looked for: that would make up for much that is not looked at in time. */
export const noLook: Change = {
  file: "src/runtime/waker.ts",
  find: "      this.#lookInAWhile();\n      void this.#wake();",
  replace: "      this.#lookInAWhile();",
};

/** The step loop does not look at whom an event is for. */
export const noGuard: Change = {
  file: "src/runtime/step-loop.ts",
  find: 'if (hasEnded(run) || (run.head.status !== "active" && !isControl(delivery.event))) {',
  replace: "if (run.head.seq < 0 && !isControl(delivery.event)) {",
};
