/**
 * Which list a long list was made from, and from which item on the two may differ. A recipe knows that; without being told,
 * whoever compares the two would look at every item to find the one that was added.
 *
 * It is a hint about two lists that are both there, by numbers: nothing is kept alive by it, not even until the end of a turn as by
 * a WeakRef, and nothing is different without it.
 */

/** Below this length to compare costs less than to remember. */
const longLengthMin = 256;

/** How many lists back are known: those of one step. */
const hopsMax = 8;

interface Known {
  readonly number: number;
  /** The lists it was made from, the last one first, and how many items it begins with as they do. */
  readonly origins: readonly { readonly number: number; readonly same: number }[];
}

const known = new WeakMap<readonly unknown[], Known>();
let numbers = 0;

/** Notes that the items of `list` before `same` are those of `base`. */
export function noteOrigin(list: readonly unknown[], base: readonly unknown[], same: number): void {
  if (list.length < longLengthMin) return;
  let from = known.get(base);
  if (from === undefined) {
    from = { number: ++numbers, origins: [] };
    known.set(base, from);
  }
  const earlier = from.origins
    .slice(0, hopsMax - 1)
    .map((origin) => ({ number: origin.number, same: Math.min(origin.same, same) }));
  known.set(list, { number: ++numbers, origins: [{ number: from.number, same }, ...earlier] });
}

/** How many items two lists are known to begin with alike; 0 where nothing is known. */
export function sameItems(before: readonly unknown[], after: readonly unknown[]): number {
  const from = before.length < longLengthMin ? undefined : known.get(before);
  const origin = from && known.get(after)?.origins.find(({ number }) => number === from.number);
  return origin === undefined ? 0 : Math.min(origin.same, before.length, after.length);
}
