/** The lease in SQLite: one row, read and written within one transaction. */
import { type LeaseOwner, type LeaseRow, takeLease } from "../lease.ts";
import { leaseOf } from "../rows.ts";
import type { Lease } from "../store.ts";
import { corrupt } from "./errors.ts";
import type { Statements } from "./queries.ts";

/** Who has it. Its outages may be many, and who writes needs none of them. */
export function readOwner(statements: Statements, path: string): LeaseOwner {
  const { owner, epoch } = statements.readOwner.get() ?? missing(path);
  return { owner: (owner as string | null) ?? undefined, epoch: epoch as number };
}

function readLease(statements: Statements, path: string): LeaseRow {
  return leaseOf(statements.readLease.get() ?? missing(path));
}

function missing(path: string): never {
  throw corrupt(path, "there is no lease");
}

export function own(
  statements: Statements,
  path: string,
  worker: string,
  leaseMs: number,
  now: number,
): Lease {
  const lease = readLease(statements, path);
  const taken = takeLease(lease, worker, leaseMs, now);
  if (taken === undefined)
    return { outcome: "taken", owner: lease.owner as string, epoch: lease.epoch, until: lease.until };
  const { epoch, from, until, outages } = taken;
  statements.writeLease.run(worker, epoch, from, until, JSON.stringify(outages));
  return { outcome: "owned", epoch, until, outages };
}
