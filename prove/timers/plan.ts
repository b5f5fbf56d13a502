/**
 * What a random machine does with time, as data: regions of states with delayed transitions, delayed sends and cancels.
 * `machine.ts` makes a machine of it, `model.ts` says what it must do; they share nothing but this.
 */
import type { Random } from "../../test/generate/random.ts";
import { drawSpan } from "./span.ts";

export type Policy = "deadline" | "remaining" | "restart";
export const policies: readonly Policy[] = ["deadline", "remaining", "restart"];

/** A transition that a timer takes; `to` is a state of the same region. */
export interface DelayPlan {
  readonly ms: number;
  readonly policy: Policy;
  readonly to: number;
}

/** An event sent on entry, which comes later. */
export interface SendPlan {
  readonly ms: number;
  readonly policy: Policy;
  /** A name to cancel it by, or none. */
  readonly id: string | undefined;
  readonly to: "self" | "peer";
}

export interface StatePlan {
  readonly delays: readonly DelayPlan[];
  readonly sends: readonly SendPlan[];
  /** Sends to cancel on exit. */
  readonly cancels: readonly string[];
}

export interface RegionPlan {
  /** Timers of the region itself, which go on while its states change. */
  readonly delays: readonly Omit<DelayPlan, "to">[];
  readonly states: readonly StatePlan[];
}

export interface Plan {
  readonly id: string;
  readonly regions: readonly RegionPlan[];
}

/** Few names, so that cancels meet sends, and sometimes several. */
export const sendIds = ["x", "y", "z"] as const;

export function drawPlan(random: Random, id: string): Plan {
  const regions = Array.from({ length: random.between(1, 2) }, () => drawRegion(random));
  return { id, regions };
}

function drawRegion(random: Random): RegionPlan {
  const count = random.between(2, 4);
  const timer = () => ({ ms: drawSpan(random), policy: random.pick(policies) });
  // Transitions may go round in circles, and should not do so all the time.
  const slow = () => ({ ms: drawSpan(random, 5_000), policy: random.pick(policies) });
  return {
    delays: several(random, 0, 1, timer),
    states: Array.from({ length: count }, () => ({
      delays: several(random, 0, 2, () => ({ ...slow(), to: random.below(count) })),
      sends: several(random, 0, 2, () => ({
        ...timer(),
        id: random.chance(0.6) ? random.pick(sendIds) : undefined,
        to: random.chance(0.3) ? "peer" : "self",
      })),
      cancels: random.chance(0.3) ? [random.pick(sendIds)] : [],
    })),
  };
}

function several<Item extends { readonly ms: number }>(
  random: Random,
  least: number,
  most: number,
  draw: () => Item,
): Item[] {
  const items = Array.from({ length: random.between(least, most) }, draw);
  // Delays of one state are told apart by their length.
  return items.filter(({ ms }, index) => items.findIndex((one) => one.ms === ms) === index);
}
