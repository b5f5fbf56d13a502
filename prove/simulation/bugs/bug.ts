/** A bug that can be planted: one change to a production source, and the invariant that catches it. */
import type { Invariant } from "../invariants/report.ts";
import type { Change } from "../plant.ts";

export interface Bug extends Change {
  readonly name: string;
  /** The invariants of which one no longer holds. */
  readonly catches: readonly Invariant[];
  /** A seed from which on it is soon caught; 1 for most. */
  readonly from?: number;
  /** What else must change, where a second check would make up for the first. */
  readonly also?: readonly Change[];
}
