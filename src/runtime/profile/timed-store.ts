/**
 * A store that tells how long each verb took, from the call to its answer. It is put around the store only where somebody
 * asked for a profile, and knows no verb by name, so it fits every store.
 */
import type { Store } from "../../store/store.ts";

export interface Timing {
  /** Milliseconds that only go on. */
  stamp(): number;
  /** A verb was answered, or failed. */
  answered(verb: string, ms: number): void;
}

/** The same store, timed. */
export function timeStore(store: Store, { stamp, answered }: Timing): Store {
  const verbs = new Map<PropertyKey, unknown>();
  return new Proxy(store, {
    get(_, name) {
      const known = verbs.get(name);
      if (known !== undefined) return known;
      // A store may keep its own in private fields, which only it can reach.
      const verb: unknown = Reflect.get(store, name, store);
      if (typeof verb !== "function" || typeof name !== "string") return verb;
      const timed = (...given: unknown[]): unknown => {
        const from = stamp();
        const over = () => answered(name, stamp() - from);
        const answer: unknown = Reflect.apply(verb, store, given);
        if (answer instanceof Promise) answer.then(over, over);
        return answer;
      };
      verbs.set(name, timed);
      return timed;
    },
  });
}
