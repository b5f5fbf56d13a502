/** Who takes part, by name. Only the one that is measured is loaded: what others bring along must not count. */
import type { Contestant } from "./workload.ts";

export const contestants: Readonly<Record<string, () => Promise<Contestant>>> = {
  "bare rows": async () => (await import("./bare.ts")).bare,
  raw: async () => (await import("./raw.ts")).raw,
  "raw long log": async () => (await import("./raw.ts")).rawLongLog,
  holdfast: async () => (await import("./holdfast.ts")).holdfast,
  xstate: async () => (await import("./xstate.ts")).xstate,
  langgraph: async () => (await import("./langgraph.ts")).langgraph,
  "langgraph chat": async () => (await import("./langgraph.ts")).langgraphChat,
};

/** Loads a contestant; throws for a name that is none. */
export async function loadContestant(name: string): Promise<Contestant> {
  const load = contestants[name];
  if (load === undefined) throw new Error(`There is no contestant ${name}`);
  return load();
}
