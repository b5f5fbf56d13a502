/** Documents: each has a version, which whoever writes or removes it must know; the versions of one name only grow. */
import type { DocumentRow } from "../records.ts";
import type { SeenDocument } from "../upkeep.ts";
import type { Statements } from "./queries.ts";

export function readDocument(statements: Statements, tenant: string, name: string): DocumentRow | undefined {
  const row = statements.readDocument.get(tenant, name);
  return row && { version: row.version as number, bytes: row.bytes as Uint8Array };
}

/** Writes one as the next version of what was seen; a new one above all that were removed. */
export function writeDocument(
  statements: Statements,
  { tenant, name, version }: SeenDocument,
  bytes: Uint8Array,
): boolean {
  const { changes } =
    version === 0
      ? statements.insertDocument.run(tenant, name, bytes)
      : statements.updateDocument.run(bytes, tenant, name, version);
  return changes === 1;
}

/** Removes one as it was seen, in the caller's transaction. */
export function removeDocument(statements: Statements, { tenant, name, version }: SeenDocument): boolean {
  if (statements.deleteDocument.run(tenant, name, version).changes !== 1) return false;
  statements.noteDocument.run(version);
  return true;
}

/** Whether documents have the versions they had when something was decided by them. */
export function isAsSeen(statements: Statements, seen: readonly SeenDocument[]): boolean {
  return seen.every(
    ({ tenant, name, version }) => (readDocument(statements, tenant, name)?.version ?? 0) === version,
  );
}
