/** Finding runs by what is known of them without reading their states. */
import { isFinal, type RunHead } from "../store/records.ts";
import type { RunQuery, Store } from "../store/store.ts";
import { checkAttributes } from "./attributes.ts";
import { rowsOf } from "./housekeeping/finding.ts";
import { defaultTenant } from "./name.ts";
import { checkNumber, checkOptions, optionsError } from "./options.ts";

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
  const usage = "find({ tenant, subject, machine, status, createdFrom, createdBefore, attributes })";
  checkOptions(usage, query);
  checkQuery(usage, query);
  for (let after: RunHead | undefined; ; ) {
    const page = { ...query, tenant: query.tenant ?? defaultTenant, limit: pageSize };
    const heads = await store.findRuns(after === undefined ? page : { ...page, after });
    yield* heads;
    after = heads.at(-1);
    if (heads.length < pageSize) return;
  }
}

/** What a filter that is not known would leave out would be found: it is refused, as is one that no run can fit. */
function checkQuery(usage: string, query: FindQuery): void {
  for (const [name, given] of Object.entries(query)) {
    const kind = Object.hasOwn(filters, name) ? filters[name as keyof FindQuery] : "none";
    if (given !== undefined && kind !== typeof given) throw optionsError(usage, given, name);
    if (kind === "number" && given !== undefined) checkNumber(usage, given);
  }
  checkAttributes(query.attributes ?? {});
}

const filters: Readonly<Record<keyof FindQuery, "string" | "number" | "object">> = {
  ...{ tenant: "string", subject: "string", machine: "string", status: "string" },
  ...{ createdFrom: "number", createdBefore: "number", attributes: "object" },
};
