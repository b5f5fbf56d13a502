/** Lists of runs: which fit, in pages, each found by an index. */
import { limits } from "../limits.ts";
import { checkAttributes } from "../runtime/attributes.ts";
import { isStorable } from "../runtime/name.ts";
import { personAttribute } from "../runtime/registry.ts";
import { overdueMs } from "../runtime/waiting.ts";
import type { RunHead } from "../store/records.ts";
import type { RunQuery } from "../store/store.ts";
import type { InputOf } from "./contract.ts";
import { dueRuns } from "./due.ts";
import { requestError } from "./problem-answer.ts";
import type { World } from "./world.ts";

export type RunFilter = Omit<InputOf<"runs.list">, "limit" | "cursor">;
type Place = Pick<RunHead, "createdAt" | "run">;

export interface RunRows {
  readonly heads: readonly RunHead[];
  readonly next: string | undefined;
}

/** A page of the runs that fit, the newest first. */
export async function listRuns(
  world: World,
  tenant: string,
  { limit = 50, cursor, ...filter }: InputOf<"runs.list">,
): Promise<RunRows> {
  const after = cursor === undefined ? undefined : placeOf(cursor);
  if (filter.stuck === true) return stuckRuns(world, tenant, filter, { limit, after });
  const query = queryOf(tenant, filter);
  const heads: RunHead[] = [];
  let from = after;
  // What has no index of its own is looked at run by run, and no further than a bound: the next page goes on from there.
  for (let looked = 0; looked < limits.scannedRunsMax; ) {
    const size = limit + 1 - heads.length;
    const page = await world.store.findRuns({ ...query, limit: size, ...(from && { after: from }) });
    for (const head of page) if (fits(head, filter)) heads.push(head);
    looked += page.length;
    from = page.at(-1) ?? from;
    if (page.length < size) return { heads, next: undefined };
    if (heads.length > limit)
      return { heads: heads.slice(0, limit), next: cursorOf(heads[limit - 1] as RunHead) };
  }
  return { heads, next: from === undefined ? undefined : cursorOf(from) };
}

function queryOf(tenant: string, filter: RunFilter): Omit<RunQuery, "limit" | "after"> {
  const { status, machine, subject, createdFrom, createdBefore, waiting } = filter;
  const attributes = {
    ...filter.attributes,
    ...(waiting === "person" ? { [personAttribute]: true } : {}),
  };
  checkAttributes(attributes);
  return {
    tenant,
    ...(status === undefined ? {} : { status }),
    ...(machine === undefined ? {} : { machine }),
    ...(subject === undefined ? {} : { subject }),
    ...(createdFrom === undefined ? {} : { createdFrom }),
    ...(createdBefore === undefined ? {} : { createdBefore }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
  };
}

const fits = ({ version }: RunHead, filter: RunFilter): boolean =>
  filter.version === undefined || filter.version === version;

/** Runs that are parked, and those with something to do that nobody took up for a minute; both by index. */
async function stuckRuns(
  world: World,
  tenant: string,
  filter: RunFilter,
  { limit, after }: { readonly limit: number; readonly after: Place | undefined },
): Promise<RunRows> {
  const query = queryOf(tenant, filter);
  const parked =
    filter.status === undefined || filter.status === "parked"
      ? await world.store.findRuns({
          ...{ ...query, status: "parked", limit: limits.scannedRunsMax },
          ...(after && { after }),
        })
      : [];
  const overdue = await overdueRuns(world, tenant);
  const isOlder = ({ createdAt, run }: RunHead) =>
    after === undefined || createdAt < after.createdAt || (createdAt === after.createdAt && run < after.run);
  const heads = [...parked, ...overdue.filter((head) => isAmong(head, query))]
    .filter((head) => fits(head, filter) && isOlder(head))
    .sort((one, other) => other.createdAt - one.createdAt || (one.run < other.run ? 1 : -1));
  const page = heads.slice(0, limit);
  return { heads: page, next: heads.length > limit ? cursorOf(page[limit - 1] as RunHead) : undefined };
}

/** Those of a tenant that have had something to do for a minute, by the index of what is due. */
export async function overdueRuns({ store, clock }: World, tenant: string): Promise<RunHead[]> {
  const now = clock.now();
  const names = await dueRuns(store, now, { tenant, since: now - overdueMs });
  const heads = await Promise.all(names.map((name) => store.readHead(name)));
  return heads.filter((head) => head !== undefined && head.status === "active") as RunHead[];
}

function isAmong(head: RunHead, query: Omit<RunQuery, "limit" | "after">): boolean {
  const {
    machine,
    subject,
    status,
    createdFrom = 0,
    createdBefore = Number.POSITIVE_INFINITY,
    attributes = {},
  } = query;
  return (
    (machine === undefined || machine === head.machine) &&
    (subject === undefined || subject === head.subject) &&
    (status === undefined || status === head.status) &&
    head.createdAt >= createdFrom &&
    head.createdAt < createdBefore &&
    Object.entries(attributes).every(([name, value]) => head.attributes[name] === value)
  );
}

/** The names of all that fit, up to a bound. */
export async function matchingRuns(
  world: World,
  tenant: string,
  filter: { readonly [Key in keyof RunFilter]?: RunFilter[Key] | undefined },
  most: number,
): Promise<{ readonly runs: readonly string[]; readonly isMore: boolean }> {
  const given = Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== undefined),
  ) as RunFilter;
  const runs: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await listRuns(world, tenant, {
      ...given,
      limit: limits.pageMax,
      ...(cursor && { cursor }),
    });
    for (const { run } of page.heads) runs.push(run);
    cursor = page.next;
  } while (cursor !== undefined && runs.length <= most);
  return { runs: runs.slice(0, most), isMore: runs.length > most || cursor !== undefined };
}

const cursorOf = ({ createdAt, run }: Place): string =>
  Buffer.from(JSON.stringify([createdAt, run])).toString("base64url");

export function placeOf(cursor: string): Place {
  try {
    const [createdAt, run] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as unknown[];
    if (typeof createdAt === "number" && typeof run === "string" && isStorable(run))
      return { createdAt, run };
  } catch {
    // Told below.
  }
  throw requestError([{ path: "query.cursor", message: "is none that a page ended with" }]);
}
