/** Putting one event into a run's inbox, for `enqueue` and for the sends of a commit alike. */
import type { InboxRow, RunStatus } from "../records.ts";
import type { EnqueueOutcome } from "../store.ts";
import type { Statements } from "./queries.ts";

/** Delivers inside the caller's transaction; everything is checked before anything is written. */
export function deliver(statements: Statements, row: InboxRow): EnqueueOutcome {
  const { tenant, run, id, key, priority, at, bytes } = row;
  const found = statements.readRunStatus.get(tenant, run);
  if (found === undefined) return "missing";
  const runId = found.id as number;
  const status = found.status as RunStatus;
  if (key !== undefined && statements.hasKey.get(runId, key) !== undefined) return "duplicate";
  if (status !== "active" && status !== "parked")
    return statements.hasEvent.get(runId, id) === undefined ? "ended" : "duplicate";
  const open = status === "active" ? 1 : 0;
  const { changes } = statements.insertEvent.run(runId, id, key ?? null, priority, at, open, bytes);
  if (changes === 0) return "duplicate";
  if (key !== undefined) statements.insertKey.run(runId, key);
  return "accepted";
}
