/** Who uses a store in this process. One that several were given is closed when the last of them is done with it. */
import { isUnavailable } from "../errors.ts";
import type { Store } from "../store/store.ts";

const users = new WeakMap<Store, number>();

/** Opens it for one more; whoever calls this calls `closeStore`, be it that it throws. */
export async function openStore(store: Store): Promise<void> {
  users.set(store, (users.get(store) ?? 0) + 1);
  await store.open();
}

/** Closes it, unless somebody else still uses it. */
export async function closeStore(store: Store): Promise<void> {
  const left = (users.get(store) ?? 1) - 1;
  users.set(store, left);
  if (left === 0) await store.close();
}

/** The store as it is read for those who ask a runtime: once that is over they are told so by `check`, and not that it is closed. */
export function readWhile(store: Store, check: () => void): Store {
  return new Proxy(store, {
    get(_, name) {
      // A store may keep its own in private fields, which only it can reach.
      const verb: unknown = Reflect.get(store, name, store);
      if (typeof verb !== "function") return verb;
      return async (...given: unknown[]): Promise<unknown> => {
        check();
        try {
          return await Reflect.apply(verb, store, given);
        } catch (error) {
          if (isUnavailable(error)) check();
          throw error;
        }
      };
    },
  });
}
