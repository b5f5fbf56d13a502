/** Light, dark, or as the system has it. What is chosen stays in this browser. */
import { useSyncExternalStore } from "react";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const place = "holdfast.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();

function chosen(): Theme {
  const kept = localStorage.getItem(place);
  return themes.find((theme) => theme === kept) ?? "system";
}

function show(): void {
  const theme = chosen();
  const isDark = theme === "dark" || (theme === "system" && dark.matches);
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  for (const listener of listeners) listener();
}

/** Begins to show the theme; called once, before anything is drawn. */
export function watchTheme(): void {
  dark.addEventListener("change", show);
  show();
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(place, theme);
  show();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosen);

/** What is shown now: for those who draw with colours of their own, as charts do. */
export const useShownTheme = (): string =>
  useSyncExternalStore(subscribe, () => document.documentElement.dataset.theme ?? "light");
