/** Finding runs by what is known of them without reading their states. */
import { isFinal, type RunHead } from "../store/records.ts";
import type { RunQuery, Store } from "../store/store.ts";
import { checkAttributes } from "./attributes.ts";
import { rowsOf } from "./housekeeping/finding.ts";
import { defaultTenant } from "./name.ts";
import { checkOptions } from "./options.ts";

/** Which runs to find; all of a tenant's unless something is said. */
export type FindQuery = Partial<Omit<RunQuery, "limit" | "after">>;

/** Heads that are read at a time. */
const pageSize = 100;

/** The heads of runs that have not ended, whoever's they are: of a machine, or of all. */
export async function* findAlive(store: Store, machine?: string): AsyncGenerator<RunHead> {
  for await (const { row } of rowsOf(store, "run")) {
    if (row === undefined || (machine !== undefined && row.machine !== machine)) continue;
    const head = isFinal(row) ? undefined : await store.readHead(row);
    if (head !== undefined && !isFinal(head)) yield head;
  }
}

/** The runs that fit, the newest first; throws OPTIONS_INVALID, NAME_INVALID or ATTRIBUTE_INVALID for what no run can fit. */
export async function* findRuns(store: Store, query: FindQuery): AsyncGenerator<RunHead> {
  checkOptions("find({ machine, status, attributes })", query);
  checkAttributes(query.attributes ?? {});
  for (let after: RunHead | undefined; ; ) {
    const page = { tenant: defaultTenant, ...query, limit: pageSize };
    const heads = await store.findRuns(after === undefined ? page : { ...page, after });
    yield* heads;
    after = heads.at(-1);
    if (heads.length < pageSize) return;
  }
}
