/** How long things take in random worlds: mostly seconds and minutes, now and then days and years. */
import type { Random } from "../../test/generate/random.ts";

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const year = 365 * day;

/** As likely to be of any of the magnitudes. */
function between(random: Random, least: number, most: number): number {
  return Math.floor(least * (most / least) ** random.next());
}

/** What a timer waits. */
export function drawSpan(random: Random, least = 1): number {
  if (random.chance(0.7)) return between(random, least, 2 * minute);
  return random.chance(0.8) ? between(random, minute, 2 * day) : between(random, day, 20 * year);
}

/** How far a clock is set, and how long nobody is there: up to ten years. */
export function drawJump(random: Random): number {
  if (random.chance(0.1)) return 10 * year;
  return random.chance(0.6) ? between(random, second, hour) : between(random, hour, 10 * year);
}
