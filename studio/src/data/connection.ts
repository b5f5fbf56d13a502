/** Whether the server answers. */
import { useSyncExternalStore } from "react";

let isLive = true;
const listeners = new Set<() => void>();

export function tellConnection(live: boolean): void {
  if (live === isLive) return;
  isLive = live;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useConnection = (): boolean => useSyncExternalStore(subscribe, () => isLive);
