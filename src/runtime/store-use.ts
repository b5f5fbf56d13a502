/** Who uses a store in this process. One that several were given is closed when the last of them is done with it. */
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
