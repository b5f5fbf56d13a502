/** A map from runs to whatever is kept of them. Two levels, since making one text of two names costs more than two looks. */
import type { RunName } from "./records.ts";

export class RunMap<Value> {
  readonly #tenants = new Map<string, Map<string, Value>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ tenant, run }: RunName): Value | undefined {
    return this.#tenants.get(tenant)?.get(run);
  }

  set({ tenant, run }: RunName, value: Value): void {
    let runs = this.#tenants.get(tenant);
    if (runs === undefined) {
      runs = new Map();
      this.#tenants.set(tenant, runs);
    }
    this.#size -= runs.size;
    runs.set(run, value);
    this.#size += runs.size;
  }

  delete({ tenant, run }: RunName): void {
    const runs = this.#tenants.get(tenant);
    if (runs?.delete(run) !== true) return;
    this.#size--;
    if (runs.size === 0) this.#tenants.delete(tenant);
  }

  clear(): void {
    this.#tenants.clear();
    this.#size = 0;
  }

  *values(): Iterable<Value> {
    for (const runs of this.#tenants.values()) yield* runs.values();
  }
}
