/** The data types that the SCXML algorithm is written in. https://www.w3.org/TR/scxml/#AlgorithmforSCXMLInterpretation */

/** A set that keeps the order in which its members were added. */
export class OrderedSet<Item> {
  private readonly items: Item[] = [];

  constructor(items: Iterable<Item> = []) {
    for (const item of items) this.add(item);
  }

  add(item: Item): void {
    if (!this.items.includes(item)) this.items.push(item);
  }

  delete(item: Item): void {
    const index = this.items.indexOf(item);
    if (index >= 0) this.items.splice(index, 1);
  }

  union(other: OrderedSet<Item>): void {
    for (const item of other.items) this.add(item);
  }

  isMember(item: Item): boolean {
    return this.items.includes(item);
  }

  some(predicate: (item: Item) => boolean): boolean {
    return this.items.some(predicate);
  }

  every(predicate: (item: Item) => boolean): boolean {
    return this.items.every(predicate);
  }

  hasIntersection(other: OrderedSet<Item>): boolean {
    return this.items.some((item) => other.isMember(item));
  }

  isEmpty(): boolean {
    return this.items.length === 0;
  }

  toList(): Item[] {
    return [...this.items];
  }
}

/** First in, first out. */
export class Queue<Item> {
  private readonly items: Item[] = [];

  enqueue(item: Item): void {
    this.items.push(item);
  }

  dequeue(): Item {
    if (this.items.length === 0) throw new Error("The queue is empty.");
    return this.items.shift()!;
  }

  isEmpty(): boolean {
    return this.items.length === 0;
  }
}
