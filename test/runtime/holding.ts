/** A store whose answers come when a test wants them to. */
import { fleetOf, type SharedStore } from "../../src/store/fleet.ts";
import type { Store } from "../../src/store/store.ts";

/** A connection to a store that keeps back answers of some verbs until it is told to give them. */
export function holding(store: Store): {
  readonly store: Store;
  hold(verb: "load" | "commit" | "due" | "beat" | "adopt" | "readDocument"): () => void;
} {
  const held = new Map<string, Promise<void>>();
  const over = <Part extends object>(part: Part): Part =>
    new Proxy(part, {
      get: (target, name) => {
        const value = (target as Record<string | symbol, unknown>)[name];
        if (typeof value !== "function") return value;
        return async (...given: unknown[]) => {
          const answer = await (value as (...given: unknown[]) => unknown).apply(target, given);
          await held.get(name as string);
          return answer;
        };
      },
    });
  const shared: SharedStore = Object.assign(Object.create(over(store)) as Store, {
    fleet: Object.assign(Object.create(over(fleetOf(store) as SharedStore["fleet"])), {
      signals: (fleetOf(store) as SharedStore["fleet"]).signals,
    }),
  });
  const hold = (verb: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    held.set(verb, promise);
    return () => {
      held.delete(verb);
      resolve();
    };
  };
  return { store: shared, hold };
}
