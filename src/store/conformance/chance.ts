/** Chance, made repeatable: a stream of draws that its seed fully determines. */
export interface Chance {
  /** A whole number in [0, bound). */
  below(bound: number): number;
  /** True this often in a hundred. */
  percent(often: number): boolean;
  /** One of the items; there must be one. */
  pick<Item>(items: readonly Item[]): Item;
  /** Some of the items, each as likely as not, in their order. */
  some<Item>(items: readonly Item[]): Item[];
}

/** The same seed always gives the same draws (mulberry32). */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const below = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * bound);
  };
  const percent = (often: number): boolean => below(100) < often;
  return {
    below,
    percent,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    some: (items) => items.filter(() => percent(50)),
  };
}
