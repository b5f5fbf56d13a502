/**
 * Documents that nobody needs any more: those of singletons whose run has ended, and of rates whose periods are over.
 * Whoever made them removes them; what a process that died has left is found here. One that was written since it was
 * looked at stays.
 */
import { decode } from "../../store/codec.ts";
import { isFinal } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { StoredRows } from "../../store/upkeep.ts";
import type { Clock } from "../clock.ts";
import { isOver, type Reserved, ratePrefix } from "../flow/allowance.ts";
import { runIn, singletonPrefix } from "../platform/named-run.ts";

/** Documents that are read at a time. */
const pageSize = 100;

type Row = StoredRows["document"];

/** Removes them; says how many. Damaged ones are left to `verify`. */
export async function removeDocuments(world: {
  readonly store: Store;
  readonly clock: Pick<Clock, "now">;
}): Promise<number> {
  const { store, clock } = world;
  let removed = 0;
  for (let after: string | undefined; ; ) {
    const query = { limit: pageSize, ...(after === undefined ? {} : { after }) };
    const rows = await store.scan("document", query);
    for (const { row } of rows) {
      if (row === undefined || !(await isNeedless(store, row, clock.now()))) continue;
      if (await store.removeDocument(row.tenant, row.name, row.version)) removed++;
    }
    after = rows.at(-1)?.place;
    if (rows.length < pageSize) return removed;
  }
}

async function isNeedless(store: Store, { tenant, name, bytes }: Row, now: number): Promise<boolean> {
  if (name.startsWith(ratePrefix)) {
    const reserved = readable(() => decode(bytes, name) as unknown as Reserved);
    return reserved !== undefined && isOver(reserved, now);
  }
  if (!name.startsWith(singletonPrefix)) return false;
  const run = readable(() => runIn(bytes, name));
  // One that is not there may be about to begin.
  const head = run === undefined ? undefined : await store.readHead({ tenant, run });
  return head !== undefined && isFinal(head);
}

function readable<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
