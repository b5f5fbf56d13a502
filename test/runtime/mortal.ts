/** A process that dies without a word, as far as its store can tell. */
import { fleetOf, type SharedStore } from "../../src/store/fleet.ts";
import type { Store } from "../../src/store/store.ts";

/** A connection to a shared store that can be cut for good, as by the death of its process. */
export function mortal(store: Store): { readonly store: Store; die(): void } {
  let isDead = false;
  const over = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value = (target as Record<string | symbol, unknown>)[name];
        if (name === "signals") return value;
        if (typeof value !== "function") return value;
        return (...given: unknown[]) => {
          if (isDead) return new Promise(() => {});
          const answer = (value as (...given: unknown[]) => unknown).apply(target, given);
          return answer instanceof Promise
            ? answer.then((told) => (isDead ? new Promise(() => {}) : told))
            : answer;
        };
      },
    });
  const verbs = over(store);
  const shared: SharedStore = Object.assign(Object.create(verbs) as Store, {
    fleet: over(fleetOf(store) as SharedStore["fleet"]),
  });
  const die = () => {
    isDead = true;
  };
  return { store: shared, die };
}
