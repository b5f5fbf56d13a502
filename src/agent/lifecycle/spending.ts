/** What a turn uses up besides the thoughts of its model: whoever plans, looks back, sums up or resolves may be a model, too. */
import type { ActivityScope } from "../../core/activity.ts";
import type { JsonObject } from "../../core/json.ts";

/** What an activity of a turn used up, as it said. */
export interface Spent extends JsonObject {
  readonly tokens: number;
  readonly cost: number;
}

/** What an activity gives back, with what it used up. */
export interface Spending {
  readonly spent?: Spent;
}

/** A scope that adds up what is spent in it, for the turn; the limits of the run count it as they do without. */
export function counting<Scope extends ActivityScope>(
  scope: Scope,
): { readonly scope: Scope; spent(): { spent?: Spent } } {
  const sum = { tokens: 0, cost: 0 };
  return {
    scope: {
      ...scope,
      spend: (spending) => {
        scope.spend(spending);
        sum.tokens += spending.tokens ?? 0;
        sum.cost += spending.cost ?? 0;
      },
    },
    spent: () => (sum.tokens === 0 && sum.cost === 0 ? {} : { spent: { ...sum } }),
  };
}

/** Where it is counted: in a context, as far as that matters here. */
interface Counted {
  readonly turn: { tokens: number; cost: number };
  readonly used: { besides?: number | undefined; cost: number };
}

/** Counts towards the turn, and all turns, what an activity used up. */
export function charge({ turn, used }: Counted, { spent }: Spending): void {
  if (spent === undefined) return;
  const { tokens, cost } = spent;
  turn.tokens += tokens;
  turn.cost += cost;
  used.besides = (used.besides ?? 0) + tokens;
  used.cost += cost;
}
