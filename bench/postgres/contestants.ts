/** Who takes part, by name. Only the one that is measured is loaded: what others bring along must not count. */
import type { Contestant } from "./workload.ts";

interface Entrant {
  readonly load: () => Promise<Contestant>;
  /** Whether it comes from `bench/peers`. */
  readonly isPeer?: true;
}

export const contestants: Readonly<Record<string, Entrant>> = {
  "bare rows, grouped": { load: async () => (await import("./raw.ts")).bareGrouped },
  "raw, single": { load: async () => (await import("./raw.ts")).rawSingle },
  "raw, grouped": { load: async () => (await import("./raw.ts")).rawGrouped },
  holdfast: { load: async () => (await import("./holdfast.ts")).holdfast },
  langgraph: { load: async () => (await import("./langgraph.ts")).langgraph, isPeer: true },
  dbos: { load: async () => (await import("./dbos.ts")).dbos, isPeer: true },
  restate: { load: async () => (await import("./restate.ts")).restate, isPeer: true },
  graphile: { load: async () => (await import("./queues.ts")).graphileDefault, isPeer: true },
  "graphile, batched": { load: async () => (await import("./queues.ts")).graphileBatched, isPeer: true },
  "pg-boss": { load: async () => (await import("./queues.ts")).bossDefault, isPeer: true },
  "pg-boss, batched": { load: async () => (await import("./queues.ts")).bossBatched, isPeer: true },
};
