/** Keys as they are named on the keyboard at hand. */

const mod = /^(Mac|iP)/.test(navigator.platform) ? "⌘" : "Ctrl";

const names: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Escape: "Esc",
  Enter: "⏎",
};

/** The name of a binding: `mod+k` is ⌘ K, or Ctrl K. */
export function keyName(key: string): string {
  const [, held] = /^mod\+(.+)$/.exec(key) ?? [];
  return held === undefined ? (names[key] ?? key) : `${mod} ${names[held] ?? held.toUpperCase()}`;
}
