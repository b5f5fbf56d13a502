/**
 * Retention: runs that have ended and that nobody needs any more are removed, by age and by number.
 *
 * A rule speaks of runs of a machine, a status or attributes. It wants those gone that ended longer ago than `olderThan`
 * and are not among the `keep` newest it speaks of. Several rules add up. Beyond all rules stay: whatever is active or
 * parked, what is held, what a fork stands on, and what a run that has not ended has started.
 */
import { HoldfastError } from "../../errors.ts";
import { isFinal, type RunHead, type RunName, type RunStatus } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { SeenDocument } from "../../store/upkeep.ts";
import { type Clock, systemClock } from "../clock.ts";
import { defaultTenant, keyOf } from "../name.ts";
import { type Hold, holdOn, readHolds, type SeenHolds, seeHolds } from "./hold.ts";
import { type RightOptions, withRight } from "./right.ts";
import { ruleMs, type Selection, selectedRuns, type Tenants } from "./selection.ts";

export interface RetentionRule extends Selection {
  /** Since their end: milliseconds, or text such as `30d`. */
  readonly olderThan?: number | string;
  /** How many of the newest stay, however old they are. */
  readonly keep?: number;
}

export interface RetentionOptions extends RightOptions, Tenants {
  readonly rules: readonly RetentionRule[];
  /** Tells what would go, and leaves it. */
  readonly dryRun?: boolean;
}

/** Why a run stays that a rule wants gone. `changed`: it did not look so any more when its turn came. */
export type KeptReason = "held" | "forked" | "parent" | "changed";

export interface Retained {
  readonly removed: readonly RunName[];
  readonly kept: readonly (RunName & { readonly why: KeptReason; readonly hold?: Hold })[];
}

const ended: readonly RunStatus[] = ["done", "failed", "cancelled"];
/** Runs that are removed at a time: a few milliseconds, however large they are. */
const batchSize = 50;

/** Applies rules once. What is removed is gone at once; `sweep` deletes its rows. */
export async function retain(options: RetentionOptions): Promise<Retained> {
  const { rules, clock = systemClock } = options;
  for (const rule of rules) checkRule(rule);
  return withRight(options, async (epoch) => {
    const wanted = new Map<string, RunHead>();
    for (const rule of rules)
      for await (const head of unwanted(options, rule, clock)) wanted.set(keyOf(head), head);
    const work = new Retaining(options, epoch);
    // Forks are younger than what they stand on, so they go first.
    const youngest = [...wanted.values()].sort((one, other) => other.createdAt - one.createdAt);
    for (let from = 0; from < youngest.length; from += batchSize)
      await work.remove(youngest.slice(from, from + batchSize));
    return { removed: work.removed, kept: work.kept };
  });
}

function checkRule({ olderThan, keep }: RetentionRule): void {
  if (olderThan === undefined && keep === undefined)
    throw new HoldfastError("RULE_INVALID", "A rule for runs that go needs olderThan, keep or both");
  if (olderThan !== undefined) ruleMs("olderThan", olderThan);
  if (keep !== undefined && !(Number.isSafeInteger(keep) && keep >= 0))
    throw new HoldfastError("RULE_INVALID", `A rule cannot keep ${keep} runs; write a whole number`);
}

/** What a rule wants gone. */
async function* unwanted(
  { store, tenants }: RetentionOptions,
  rule: RetentionRule,
  clock: Clock,
): AsyncGenerator<RunHead> {
  const { olderThan, keep = 0 } = rule;
  const before =
    olderThan === undefined ? Number.POSITIVE_INFINITY : clock.now() - ruleMs("olderThan", olderThan);
  // A run ends after it began, so what began later cannot have ended long enough ago; it may count among the newest.
  const created = keep === 0 && olderThan !== undefined ? { createdBefore: before } : {};
  for (const tenant of tenants ?? [defaultTenant]) {
    let place = 0;
    const runs = selectedRuns(store, rule, ended, { tenants: [tenant], ...created });
    for (const head of await newestOf(runs, keep)) {
      if (place++ < keep) continue;
      if ((head.completedAt ?? head.updatedAt) < before) yield head;
    }
  }
}

/** All of them, across statuses the newest first, where it matters which they are. */
async function newestOf(runs: AsyncIterable<RunHead>, keep: number): Promise<RunHead[]> {
  const list: RunHead[] = [];
  for await (const head of runs) list.push(head);
  return keep === 0 ? list : list.sort((one, other) => other.createdAt - one.createdAt);
}

class Retaining {
  readonly removed: RunName[] = [];
  readonly kept: (RunName & { why: KeptReason; hold?: Hold })[] = [];
  readonly #options: RetentionOptions;
  readonly #epoch: () => number;
  readonly #going = new Set<string>();

  constructor(options: RetentionOptions, epoch: () => number) {
    this.#options = options;
    this.#epoch = epoch;
  }

  async remove(heads: readonly RunHead[]): Promise<void> {
    const { dryRun = false } = this.#options;
    const free: RunName[] = [];
    for (const head of heads) if (await this.#isFree(head)) free.push({ tenant: head.tenant, run: head.run });
    if (dryRun) {
      this.removed.push(...free);
      return;
    }
    for (let left = free; left.length > 0; ) left = await this.#removeAsSeen(left);
  }

  /** Removes what is not held; whatever is left once the holds have changed on the way must be looked at again. */
  async #removeAsSeen(names: readonly RunName[]): Promise<RunName[]> {
    const { store } = this.#options;
    const looked = new Map<string, SeenHolds>();
    const going: RunName[] = [];
    for (const name of names) {
      const { tenant } = name;
      const { holds } = looked.get(tenant) ?? (await look(store, tenant, looked));
      const head = await store.readHead(name);
      const hold = head && holdOn(holds, head);
      if (hold === undefined) going.push(name);
      else this.kept.push({ ...name, why: "held", hold });
    }
    const seen = Array.from(looked.values(), (one) => one.seen);
    const outcomes = await store.removeRuns(going, this.#epoch(), seen);
    const left = going.filter((_, index) => !outcomes[index]);
    this.removed.push(...going.filter((_, index) => outcomes[index]));
    if (left.length === going.length && (await haveChanged(store, seen))) return left;
    for (const name of left) this.kept.push({ ...name, why: "changed" });
    return [];
  }

  async #isFree(head: RunHead): Promise<boolean> {
    const { store } = this.#options;
    const name = { tenant: head.tenant, run: head.run };
    const hold = holdOn(await readHolds({ store, tenant: head.tenant }), head);
    const forks = await store.readForks(name);
    if (hold !== undefined) this.kept.push({ ...name, why: "held", hold });
    else if (forks.some((fork) => fork.stands && !this.#going.has(keyOf(fork))))
      this.kept.push({ ...name, why: "forked" });
    else if (await this.#hasLivingParent(store, head)) this.kept.push({ ...name, why: "parent" });
    else {
      this.#going.add(keyOf(name));
      return true;
    }
    return false;
  }

  /** Whoever started it may still ask for it, or be taken back to when it had not. */
  async #hasLivingParent(store: Store, { tenant, parent }: RunHead): Promise<boolean> {
    if (parent === undefined) return false;
    const found = await store.readHead({ tenant, run: parent.run });
    return found !== undefined && !isFinal(found);
  }
}

async function look(store: Store, tenant: string, looked: Map<string, SeenHolds>): Promise<SeenHolds> {
  const holds = await seeHolds({ store, tenant });
  looked.set(tenant, holds);
  return holds;
}

async function haveChanged(store: Store, seen: readonly SeenDocument[]): Promise<boolean> {
  for (const { tenant, version } of seen)
    if ((await seeHolds({ store, tenant })).seen.version !== version) return true;
  return false;
}
