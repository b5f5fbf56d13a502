/** How the server answers: `live`, `lost` if it does not, `refused` if it does not know who asks. */
import { useSyncExternalStore } from "react";

export type Connection = "live" | "lost" | "refused";
let current: Connection = "live";
const listeners = new Set<() => void>();

export function tellConnection(now: Connection): void {
  if (now === current) return;
  current = now;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => current);
