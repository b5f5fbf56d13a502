/**
 * What some worlds have and others do not: a mill and few slots, somebody who keeps house, a policy for new versions. All
 * of it is drawn from a stream of its own, so that a world without them is what it would be if there were none.
 */
import type { DeployOptions } from "../../src/runtime/evolution/deploy.ts";
import type { ExpiryRule, PruneRule, RetentionRule } from "../../src/runtime/housekeeping/index.ts";
import type { EvolutionPolicy } from "../../src/runtime/registry.ts";
import type { Random } from "../../test/generate/random.ts";

/** The rules of the house, and how often they are applied in a storm. */
export interface House {
  readonly expire: readonly ExpiryRule[];
  readonly retain: readonly RetentionRule[];
  readonly prune: readonly PruneRule[];
  readonly tidies: number;
  /** How often somebody puts a hold on something, or takes one back. */
  readonly holds: number;
}

/** What becomes of runs when a new version comes, and how often somebody brings it. */
export interface Deploying {
  readonly policy: EvolutionPolicy;
  readonly options: DeployOptions;
}

export interface Traits {
  readonly house: House | undefined;
  readonly deploying: Deploying | undefined;
  /** Whether there are mills, and how often they are flooded. */
  readonly floods: number;
  readonly slots: number | undefined;
  /** How often somebody makes a backup, where a store has them. */
  readonly backups: number;
}

/** Where several share a store, what waits in a queue may be left to others: that takes mills, and few slots. */
const oftenIn = { own: { floods: 0.12, slots: 0.05 }, shared: { floods: 0.25, slots: 0.3 } };

export function drawTraits(random: Random, kinds: readonly string[], isShared: boolean): Traits {
  const often = isShared ? oftenIn.shared : oftenIn.own;
  const house = random.chance(0.28) ? drawHouse(random, kinds) : undefined;
  const deploying = random.chance(0.2) ? drawDeploying(random) : undefined;
  const floods = random.chance(often.floods) ? random.between(1, 3) : 0;
  const slots = floods > 0 || random.chance(often.slots) ? random.pick([2, 3, 5, undefined]) : undefined;
  return { house, deploying, floods, slots, backups: random.between(1, 3) };
}

function drawDeploying(random: Random): Deploying {
  return {
    policy: random.chance(0.8) ? "upgrade" : "pin",
    options: random.pick<DeployOptions>([{}, {}, { leave: true }, { leave: true, drop: true }]),
  };
}

function drawHouse(random: Random, kinds: readonly string[]): House {
  const retain: RetentionRule[] = [{ olderThan: random.pick(["1s", "4s", "15s"]) }];
  if (random.chance(0.4)) retain[0] = { ...retain[0], keep: random.between(1, 2) };
  if (random.chance(0.3)) retain[0] = { ...retain[0], status: random.pick(["done", "cancelled"]) };
  if (random.chance(0.3)) retain.push({ machine: random.pick(kinds), keep: random.between(0, 2) });
  return {
    expire: random.chance(0.4) ? [{ machine: random.pick(kinds), idleFor: random.pick(["6s", "15s"]) }] : [],
    retain,
    prune: random.chance(0.8) ? [{ olderThan: random.pick(["0s", "2s", "8s", "30s", "30s"]) }] : [],
    tidies: random.between(2, 8),
    holds: random.chance(0.6) ? random.between(1, 5) : 0,
  };
}
