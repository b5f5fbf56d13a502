/** A run's inbox: putting an event into it, for `enqueue` and for the sends of a commit alike, what becomes of it if the run is gone, and reading. */
import { type DeadLetterRow, type InboxRow, isFinal, type RunName, type RunStatus } from "../records.ts";
import { eventOf } from "../rows.ts";
import type { EnqueueOutcome } from "../store.ts";
import type { Statements } from "./queries.ts";

/** Delivers inside the caller's transaction; everything is checked before anything is written. */
export function deliver(statements: Statements, row: InboxRow): EnqueueOutcome {
  const { tenant, run, id, subject, key, expendable, priority, at, bytes } = row;
  const found = statements.readRunStatus.get(tenant, run);
  if (found === undefined) return "missing";
  const runId = found.id as number;
  const status = found.status as RunStatus;
  if (key !== undefined && statements.readKey.get(runId, key) !== undefined) return "duplicate";
  if (isFinal({ status })) return "ended";
  const open = status === "active" ? 1 : 0;
  const { changes } = statements.insertEvent.run(
    ...[runId, id, subject, key ?? null, expendable ? 1 : 0],
    ...[priority, at, open, bytes],
  );
  if (changes === 0) return "duplicate";
  if (key !== undefined) statements.insertKey.run(runId, key, null);
  return "accepted";
}

/** Delivers what nobody waits for an answer to: unless it is expendable, it is kept even if its run is gone. */
export function send(statements: Statements, row: InboxRow): void {
  const outcome = deliver(statements, row);
  if (!row.expendable && (outcome === "missing" || outcome === "ended")) lose(statements, row, outcome);
}

function lose(statements: Statements, row: InboxRow, reason: DeadLetterRow["reason"]): void {
  const { tenant, run, id, subject, key, priority, at, bytes } = row;
  statements.insertDeadLetter.run(tenant, run, id, subject, key ?? null, priority, at, reason, bytes);
}

/** Empties the inbox of a run that ends; the keys of what waited are as if they had never been seen. */
export function bury(statements: Statements, runId: number): void {
  statements.buryInbox.run(runId);
  statements.deleteWaitingKeys.run(runId);
  statements.clearInbox.run(runId);
}

/** The events that are next, as many as one wants. */
export function readInbox(statements: Statements, name: RunName, runId: number, limit: number): InboxRow[] {
  return statements.readInbox.all(runId, limit).map((row) => eventOf(name, row));
}
