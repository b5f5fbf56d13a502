/** What names and values of the random sequences are drawn from. There are few of each, so that they meet again and again. */
import type { RunStatus } from "../records.ts";

export const pools = {
  tenant: ["acme", "globex"],
  run: ["r1", "r2", "r3", "r4"],
  child: ["c1", "c2", "c3", "c4", "c5"],
  subject: ["ada", "bob"],
  key: ["k1", "k2", "k3", "k4", "k5", "k6"],
  activity: ["1.0", "1.1", "2.0"],
  digest: ["d1", "d2", "d3"],
  document: ["board", "profile"],
  worker: ["w1", "w2"],
  status: ["active", "active", "active", "active", "active", "parked", "done", "failed"] as RunStatus[],
} as const;
