/** Delays as people write them. */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { show } from "./problem.ts";

const unitMs: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};

/** Milliseconds of `250`, `"250"`, `"1.5s"`, `"30 min"` or `"2 days"`; throws DURATION_INVALID for anything else. */
export function durationMs(duration: unknown): number {
  if (typeof duration === "number" && duration >= 0 && Number.isFinite(duration)) return duration;
  // A pattern that has to look for blanks twice would take its time on more than this.
  if (typeof duration === "string" && duration.length <= limits.durationLengthMax) {
    const [, amount, unit] = /^\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-z]*)\s*$/i.exec(duration) ?? [];
    const name = singular(unit?.toLowerCase() ?? "");
    const ms = Object.hasOwn(unitMs, name) ? Number(amount) * (unitMs[name] as number) : Number.NaN;
    if (Number.isFinite(ms)) return ms;
  }
  throw new HoldfastError(
    "DURATION_INVALID",
    `${show(duration)} is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks`,
  );
}

function singular(unit: string): string {
  return unit.length > 2 && unit.endsWith("s") ? unit.slice(0, -1) : unit;
}
