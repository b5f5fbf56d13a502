/** What an activity asks of the queue: read from what its invocation declares, as the step that began it made it. */
import { durationMs } from "../../core/duration.ts";
import type { ActivityEffect } from "../../core/effect.ts";
import type { Json } from "../../core/json.ts";
import { systemTenant } from "../name.ts";

/** At most `limit` at a time of those that name the same key. */
export interface ConcurrencyUse {
  readonly key: string;
  readonly limit: number;
}

/** At most `limit` begin within any `perMs` of those that name the same key. */
export interface RateUse extends ConcurrencyUse {
  readonly perMs: number;
  /** Whose document remembers it. */
  readonly tenant: string;
}

export interface Request {
  readonly tenant: string;
  readonly priority: number;
  readonly concurrency?: ConcurrencyUse;
  readonly rate?: RateUse;
}

/** As `core/flow.ts` leaves it in the options of an activity. */
interface Declared {
  readonly key?: string;
  readonly scope?: "all";
  readonly limit: number;
  readonly per?: number | string;
}

/** The request of an activity of this tenant and machine. */
export function requestOf(
  { activity, options }: Pick<ActivityEffect, "activity" | "options">,
  { tenant, machine }: { readonly tenant: string; readonly machine: string },
): Request {
  const { concurrency, rate, priority } = options as Readonly<Record<string, Json | undefined>>;
  const nameOf = ({ key, scope }: Declared): string => {
    // What is named is shared by all who name it; what is not belongs to one activity of one machine.
    const name = key === undefined ? [machine, activity] : [key];
    return JSON.stringify(scope === "all" ? ["all", ...name] : ["tenant", tenant, ...name]);
  };
  const limitOf = (declared: Declared) => ({ key: nameOf(declared), limit: declared.limit });
  return {
    ...{ tenant, priority: (priority as number | undefined) ?? 0 },
    ...(concurrency === undefined ? undefined : { concurrency: limitOf(concurrency as unknown as Declared) }),
    ...(rate === undefined ? undefined : { rate: rateOf(rate as unknown as Declared) }),
  };

  function rateOf(declared: Declared): RateUse {
    const owner = declared.scope === "all" ? systemTenant : tenant;
    return { ...limitOf(declared), perMs: durationMs(declared.per), tenant: owner };
  }
}
