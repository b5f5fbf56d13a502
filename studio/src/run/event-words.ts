/** Event types as people read them: the platform's own in words, users' as they are. */
import type { IconName } from "../design/icon.tsx";

export interface EventWords {
  readonly text: string;
  readonly icon: IconName;
  /** Whether it tells of something that went wrong. */
  readonly isBad: boolean;
}

const patterns: readonly (readonly [RegExp, (name: string) => EventWords])[] = [
  [/^done\.invoke\.(.+)$/, (name) => ({ text: `${name} is done`, icon: "check", isBad: false })],
  [/^error\.invoke\.(.+)$/, (name) => ({ text: `${name} failed`, icon: "cross", isBad: true })],
  [/^unknown\.invoke\.(.+)$/, (name) => ({ text: `${name}: outcome unknown`, icon: "cross", isBad: true })],
  [/^done\.state\.(.+)$/, (name) => ({ text: `${name} is complete`, icon: "check", isBad: false })],
  [/^done\.map\.(.+)$/, () => ({ text: "all items are done", icon: "check", isBad: false })],
  [/^after\.(.+)\.\d+$/, (name) => ({ text: `timer of ${name}`, icon: "clock", isBad: false })],
  [/^error\.(.+)$/, (name) => ({ text: `error: ${name}`, icon: "cross", isBad: true })],
  [/^(start)$/, () => ({ text: "start", icon: "play", isBad: false })],
  [/^(cancel)$/, () => ({ text: "cancelled from outside", icon: "cancel", isBad: false })],
  [/^(park)$/, () => ({ text: "parked", icon: "pause", isBad: false })],
  [/^(retry)$/, () => ({ text: "brought back", icon: "retry", isBad: false })],
  [/^(debug)$/, () => ({ text: "breakpoints set", icon: "pause", isBad: false })],
  [/^(prune)$/, () => ({ text: "journal pruned", icon: "cross", isBad: false })],
  [/^(snapshot)$/, () => ({ text: "snapshot", icon: "check", isBad: false })],
  [/^(rollback)$/, () => ({ text: "rolled back", icon: "back", isBad: false })],
  [/^(fork)$/, () => ({ text: "forked", icon: "fork", isBad: false })],
  [/^(resume)$/, () => ({ text: "back after an outage", icon: "retry", isBad: false })],
  [/^(migrate)$/, () => ({ text: "moved to another version", icon: "machines", isBad: false })],
];

export function wordsOf(type: string, kind?: string): EventWords {
  for (const [pattern, words] of patterns) {
    const name = pattern.exec(type)?.[1];
    // A user's own event may be called `start` too.
    if (name !== undefined && (kind !== undefined || type.includes("."))) return words(name);
  }
  return { text: type, icon: "event", isBad: false };
}
