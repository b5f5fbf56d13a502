/**
 * A queue that is fair to tenants. Whoever holds least of what is handed out comes first, and of equals whoever has
 * waited longest since they came, were served or gave something back; within a tenant it is the highest priority, then
 * who came first.
 *
 * Counting what is held, and not what was handed out, is what makes it fair to those with short work: a tenant whose
 * activities take an hour cannot fill every slot that a tenant with activities of a second gives back.
 */
import { Heap } from "./heap.ts";

export interface Waiting {
  readonly tenant: string;
  /** Higher first. */
  readonly priority: number;
  /** In the order they came; no two are equal. */
  readonly arrival: number;
}

interface Tenant<Item> {
  readonly name: string;
  held: number;
  /** When it came, or was last served or gave something back: a number that grows. */
  turn: number;
  /** Those that wait; made for the first that has to. */
  items: Heap<Item> | undefined;
}

export class FairQueue<Item extends Waiting> {
  /** Those that wait or hold something. */
  readonly #tenants = new Map<string, Tenant<Item>>();
  /** Those that wait. */
  readonly #order = new Heap<Tenant<Item>>(
    (one, other) => one.held < other.held || (one.held === other.held && one.turn < other.turn),
  );
  #turn = 0;
  #size = 0;

  /** How many wait. */
  get size(): number {
    return this.#size;
  }

  /** Whether nobody waits. */
  get isEmpty(): boolean {
    return this.#order.size === 0;
  }

  /** Whether nobody waits or holds anything. */
  get isIdle(): boolean {
    return this.#tenants.size === 0;
  }

  add(item: Item): void {
    const tenant = this.#tenant(item.tenant);
    tenant.items ??= new Heap<Item>(isBefore);
    tenant.items.add(item);
    this.#size++;
    if (tenant.items.size === 1) this.#order.add(tenant);
  }

  /** Takes out one that does not want to wait any more. */
  remove(item: Item): void {
    const tenant = this.#tenants.get(item.tenant);
    if (tenant === undefined) return;
    this.#drop(tenant, item);
    this.#settle(tenant);
  }

  /** Whose turn it is. */
  first(): Item | undefined {
    return this.#order.first()?.items?.first();
  }

  /** Serves one, whether or not it had to wait. */
  take(item: Item): void {
    const tenant = this.#tenant(item.tenant);
    this.#drop(tenant, item);
    tenant.held++;
    tenant.turn = ++this.#turn;
    this.#settle(tenant);
  }

  /** What a tenant was served is free again. */
  giveBack({ tenant: name }: Waiting): void {
    const tenant = this.#tenants.get(name) as Tenant<Item>;
    tenant.held--;
    tenant.turn = ++this.#turn;
    this.#settle(tenant);
  }

  #drop({ items }: Tenant<Item>, item: Item): void {
    if (!items?.has(item)) return;
    items.remove(item);
    this.#size--;
  }

  #tenant(name: string): Tenant<Item> {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    // One that comes back does so behind those who have been waiting, or it would be served before them every time.
    const tenant = { name, held: 0, turn: ++this.#turn, items: undefined };
    this.#tenants.set(name, tenant);
    return tenant;
  }

  /** A tenant's place, after something has changed about it. */
  #settle(tenant: Tenant<Item>): void {
    if (tenant.items !== undefined && tenant.items.size > 0) this.#order.move(tenant);
    else {
      this.#order.remove(tenant);
      if (tenant.held === 0) this.#tenants.delete(tenant.name);
    }
  }
}

function isBefore(one: Waiting, other: Waiting): boolean {
  return one.priority === other.priority ? one.arrival < other.arrival : one.priority > other.priority;
}
