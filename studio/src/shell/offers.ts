/** What the page that is open offers to the palette. */
import { useEffect, useSyncExternalStore } from "react";
import type { IconName } from "../design/icon.tsx";

export interface Offer {
  readonly name: string;
  readonly icon: IconName;
  readonly run: () => void;
}

let offered: readonly Offer[] = [];
const listeners = new Set<() => void>();

/** Offers these while the component is on the page; give the same list unless it changed. */
export function useOffer(offers: readonly Offer[]): void {
  useEffect(() => {
    offered = offers;
    for (const listener of listeners) listener();
    return () => {
      offered = [];
    };
  }, [offers]);
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useOffers = (): readonly Offer[] => useSyncExternalStore(subscribe, () => offered);
