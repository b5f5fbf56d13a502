/**
 * Chance, made repeatable: a stream of numbers that its seed fully determines, so that whatever was drawn from it can
 * be drawn again from the seed alone.
 */

export interface Random {
  /** A number in [0, 1). */
  next(): number;
  /** A whole number in [0, bound). */
  below(bound: number): number;
  /** A whole number in [least, most]. */
  between(least: number, most: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of the items; there must be one. */
  pick<Item>(items: readonly Item[]): Item;
  /** As many different items as asked for, or all there are, in the order of the list. */
  some<Item>(items: readonly Item[], count: number): Item[];
}

/** The same seed always gives the same stream (mulberry32: 32 bits of state, enough to draw charts from). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;

  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (bound: number): number => Math.floor(next() * bound);

  return {
    next,
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() < probability,
    pick: (items) => {
      if (items.length === 0) throw new Error("Nothing to pick from.");
      return items[below(items.length)]!;
    },
    some: (items, count) => {
      const chosen = new Set<number>();
      while (chosen.size < Math.min(count, items.length)) chosen.add(below(items.length));
      return items.filter((_, index) => chosen.has(index));
    },
  };
}
