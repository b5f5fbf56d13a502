/** A bound on what is kept of what was read, for what there is too much of to keep. */
import type { QueryKey } from "@tanstack/react-query";
import { queryClient } from "./query-client.ts";

/** Forgets what nobody shows and was read longest ago, until no more than so many are left. */
export function forgetBeyond(max: number, queryKey: QueryKey): void {
  const cache = queryClient.getQueryCache();
  const unseen = cache.findAll({ queryKey, type: "inactive", fetchStatus: "idle" });
  if (unseen.length <= max) return;
  const oldestFirst = unseen.toSorted((one, other) => one.state.dataUpdatedAt - other.state.dataUpdatedAt);
  for (const query of oldestFirst.slice(0, unseen.length - max)) cache.remove(query);
}
