/** What happened to a run, in words: patches, effects and stretches of time, short enough for a line. */
import type { Effect, Json, Patch } from "holdfast";

/** A stretch of time as people say it. */
export function showTime(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, "")} s`;
  const units = [
    ["d", 86_400_000],
    ["h", 3_600_000],
    ["min", 60_000],
    ["s", 1_000],
  ] as const;
  let rest = Math.round(ms / 1_000) * 1_000;
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : `${count} ${unit}`;
  });
  return parts.slice(0, 2).join(" ");
}

/** Text cut to a width, with a mark where something is missing. */
export const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, width - 1)}…`;

/** A value in at most so many characters. */
export const showJson = (value: Json | undefined, width = 48): string =>
  cut(JSON.stringify(value) ?? "nothing", width);

export function showPatch(patch: Patch): string {
  const place = patch.path.join(".");
  if (patch.op === "delete") return `${place} deleted`;
  if (patch.op === "splice") return `${place} spliced at ${patch.index}`;
  return `${place} ${patch.op === "append" ? "+=" : "="} ${showJson(patch.value)}`;
}

/** `since`: what times are told from. */
export function showEffect(effect: Effect, since: number): string {
  switch (effect.type) {
    case "activity":
      return `call ${effect.activity}`;
    case "timer":
      return `wake at +${showTime(effect.due - since)}`;
    case "cancel":
      return `cancel ${effect.of} ${effect.id ?? effect.key}`;
    case "spawn":
      return `start ${effect.machine}`;
    case "emit":
    case "send":
      return `${effect.type} ${effect.event.type}`;
    default:
      return effect.type;
  }
}
