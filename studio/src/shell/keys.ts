/**
 * Keys: whoever is on the page says which keys do what; `?` shows them all. The newest binding of a key wins. While somebody writes, only those with a modifier count.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Binding {
  /** As `event.key` has it, with `mod+` before it for Control or Command. */
  readonly key: string;
  readonly does: string;
  readonly run: (event: KeyboardEvent) => void;
}

let bound: readonly { readonly id: symbol; readonly bindings: readonly Binding[] }[] = [];
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

const nameOf = (event: KeyboardEvent): string =>
  `${event.metaKey || event.ctrlKey ? "mod+" : ""}${event.key.length === 1 ? event.key.toLowerCase() : event.key}`;

/** Begins to listen; called once. */
export function watchKeys(): void {
  window.addEventListener("keydown", (event) => {
    const name = nameOf(event);
    if (event.altKey || (isWriting(event.target) && !name.startsWith("mod+"))) return;
    // An open dialog has the keys to itself, and what has the focus is pressed with Enter.
    if (document.querySelector("dialog[open]") !== null) return;
    if (name === "Enter" && event.target instanceof HTMLElement && event.target.closest("a, button") !== null)
      return;
    for (const { bindings } of bound.toReversed()) {
      const binding = bindings.find(({ key }) => key === name);
      if (binding === undefined) continue;
      event.preventDefault();
      binding.run(event);
      return;
    }
  });
}

/** These keys do this while the component is on the page. */
export function useKeys(bindings: readonly Binding[]): void {
  const newest = useRef(bindings);
  newest.current = bindings;
  const names = bindings.map(({ key, does }) => `${key} ${does}`).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: what a key does may change at every drawing; which keys there are seldom does.
  useEffect(() => {
    const id = Symbol();
    const stable = newest.current.map(({ key, does }, index) => ({
      key,
      does,
      run: (event: KeyboardEvent) => newest.current[index]?.run(event),
    }));
    bound = [...bound, { id, bindings: stable }];
    tell();
    return () => {
      bound = bound.filter((one) => one.id !== id);
      tell();
    };
  }, [names]);
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** All keys that do something now, the page's own first. */
export function useBoundKeys(): readonly Binding[] {
  return useSyncExternalStore(subscribe, () => bound)
    .toReversed()
    .flatMap(({ bindings }) => bindings);
}
