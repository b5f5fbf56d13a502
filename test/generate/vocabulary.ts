/** The events that random charts speak of, and the descriptors that take them. */
import type { EventPlan, Plan } from "./plan.ts";
import type { Random } from "./random.ts";

/** Few types with shared prefixes, so that most events find several handlers. */
const outside = ["a", "b", "c", "a.x", "a.x.y", "b.z"] as const;
const raised = ["r", "s", "r.k"] as const;

const prefixes = ["a.*", "a.x.*", "b.*", "r.*"] as const;
/** With SCXML's own rule a plain name is a prefix too, so these are drawn more often there. */
const scxmlLists: readonly (readonly string[])[] = [["a", "r"], ["b.z", "c"], ["a.x"], ["r", "s"]];

export const drawRaised = (random: Random): string => random.pick(random.chance(0.8) ? raised : outside);

/** The descriptors of one transition. */
export function drawDescriptors(random: Random, matching: Plan["matching"]): readonly string[] {
  const roll = random.next();
  if (roll < 0.06) return ["*"];
  if (roll < 0.16) return [random.pick(prefixes)];
  if (roll < 0.22) return [random.chance(0.5) ? "error.execution" : "error.*"];
  if (roll < 0.32) return matching === "scxml" ? random.pick(scxmlLists) : random.some(outside, 2);
  return [random.chance(0.7) ? random.pick(outside) : random.pick(raised)];
}

/** What is sent to the chart from outside, now and then something it may not know. */
export function drawEvents(random: Random, count: number): EventPlan[] {
  return Array.from({ length: count }, () => ({
    type: random.chance(0.9) ? random.pick(outside) : random.pick(["d", "r", "a.x.q"]),
    n: random.below(4),
  }));
}
