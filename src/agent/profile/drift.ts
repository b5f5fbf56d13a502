/** How preferences change: what was observed lately beside what was observed for longer. Computed when somebody asks. */

import { type AskOptions, estimate, posterior } from "./preference.ts";
import type { Preferences, Quantity } from "./preferences.ts";
import { preferenceAt } from "./preferences.ts";
import { bucketsOf, entryOf, isConsented, type Profile } from "./profile.ts";

export interface Drift<Key extends string = string> {
  readonly key: Key;
  /**
   * Of values that are counted, the part of the distribution that has moved, from 0 to 1 (their total variation); of numbers,
   * how far the mean has moved, in tolerances.
   */
  readonly distance: number;
  /** Whether that is more than chance does: a quarter of the distribution, or one tolerance. */
  readonly drifted: boolean;
  /** How likely each value was, or the mean … */
  readonly lasting: Readonly<Record<string, number>> | number;
  /** … and what it is lately. */
  readonly recent: Readonly<Record<string, number>> | number;
}

/** How much of a distribution must have moved: twice of what one observation of ten can move. */
const movedMin = 0.25;

/** How each preference that was learned has changed, the most changed first. */
export function drift<P extends Preferences>(
  { definition, state }: Profile<P>,
  options: AskOptions,
): readonly Drift<keyof P & string>[] {
  const keys = Object.keys(state.learned) as (keyof P & string)[];
  return keys
    .flatMap((key): readonly Drift<keyof P & string>[] => {
      const found = preferenceAt(definition, key);
      const learned = entryOf(state.learned, key);
      if (learned === undefined || !isConsented(state, found)) return [];
      const told = { learned, ...options, buckets: bucketsOf(definition, options.situation) };
      if (found.type === "number") {
        const [lasting, recent] = meansOf(found, told);
        const distance = Math.abs(recent - lasting) / found.tolerance;
        return [{ key, distance, drifted: distance > 1, lasting, recent }];
      }
      const lasting = posterior(found, told).shares;
      const recent = posterior(found, told, "recent").shares;
      const moved = Object.entries(lasting).map(([value, share]) =>
        Math.abs(share - (recent[value] as number)),
      );
      const distance = moved.reduce((sum, part) => sum + part, 0) / 2;
      return [{ key, distance, drifted: distance > movedMin, lasting, recent }];
    })
    .sort((one, other) => other.distance - one.distance);
}

function meansOf(
  found: Quantity,
  told: Parameters<typeof estimate>[1],
): readonly [lasting: number, recent: number] {
  return [estimate(found, told).mean, estimate(found, told, "recent").mean];
}
