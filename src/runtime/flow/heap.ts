/** A heap: the first of many in a fixed time, with any of them taken out or moved wherever it stands. */

export class Heap<Item> {
  readonly #isBefore: (one: Item, other: Item) => boolean;
  readonly #items: Item[] = [];
  readonly #places = new Map<Item, number>();

  constructor(isBefore: (one: Item, other: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  first(): Item | undefined {
    return this.#items[0];
  }

  has(item: Item): boolean {
    return this.#places.has(item);
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#rise(this.#items.length - 1);
  }

  /** Takes one out; nothing happens if it is not in. */
  remove(item: Item): void {
    const place = this.#places.get(item);
    if (place === undefined) return;
    this.#places.delete(item);
    const last = this.#items.pop() as Item;
    if (place === this.#items.length) return;
    this.#items[place] = last;
    this.#sink(this.#rise(place));
  }

  /** Puts one where it belongs now that what it is compared by has changed. */
  move(item: Item): void {
    const place = this.#places.get(item);
    if (place !== undefined) this.#sink(this.#rise(place));
  }

  #rise(from: number): number {
    const item = this.#items[from] as Item;
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const other = this.#items[above] as Item;
      if (!this.#isBefore(item, other)) break;
      this.#put(other, place);
      place = above;
    }
    this.#put(item, place);
    return place;
  }

  #sink(from: number): void {
    const item = this.#items[from] as Item;
    const { length } = this.#items;
    let place = from;
    for (let below = 2 * place + 1; below < length; below = 2 * place + 1) {
      const right = below + 1;
      if (right < length && this.#isBefore(this.#items[right] as Item, this.#items[below] as Item))
        below = right;
      const other = this.#items[below] as Item;
      if (!this.#isBefore(other, item)) break;
      this.#put(other, place);
      place = below;
    }
    this.#put(item, place);
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }
}
