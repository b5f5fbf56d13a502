/** Which runs a rule speaks of. */
import { durationMs } from "../../core/duration.ts";
import { HoldfastError } from "../../errors.ts";
import type { Attribute, RunHead, RunStatus } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { type FindQuery, findRuns } from "../find.ts";
import { defaultTenant } from "../name.ts";

/** What all rules have: each part narrows the runs they speak of. */
export interface Selection {
  readonly machine?: string;
  readonly status?: RunStatus | readonly RunStatus[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
}

/** Whose runs they are; those of the default tenant unless given. */
export interface Tenants {
  readonly tenants?: readonly string[];
}

/** The runs of these tenants that a rule speaks of, each tenant's newest first. */
export async function* selectedRuns(
  store: Store,
  { machine, status, attributes }: Selection,
  statuses: readonly RunStatus[],
  { tenants = [defaultTenant], createdBefore }: Tenants & { readonly createdBefore?: number },
): AsyncGenerator<RunHead> {
  const asked = status === undefined ? statuses : [status].flat();
  const unfit = asked.find((one) => !statuses.includes(one));
  if (unfit !== undefined)
    throw new HoldfastError(
      "RULE_INVALID",
      `A rule cannot be for runs that are ${unfit}; name one of: ${statuses.join(", ")}`,
    );
  const query: FindQuery = {
    ...(machine === undefined ? {} : { machine }),
    ...(attributes === undefined ? {} : { attributes }),
    ...(createdBefore === undefined ? {} : { createdBefore }),
  };
  for (const tenant of tenants)
    for (const one of asked) yield* findRuns(store, { ...query, tenant, status: one });
}

/** Milliseconds of a rule's duration; throws RULE_INVALID if it is none. */
export function ruleMs(what: string, duration: number | string): number {
  try {
    return durationMs(duration);
  } catch (cause) {
    throw new HoldfastError("RULE_INVALID", `A rule's ${what} cannot be read: ${(cause as Error).message}`, {
      cause,
    });
  }
}
