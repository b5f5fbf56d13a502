/** Times and lengths as people say them. */

/** How long: `340 ms`, `4.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 2 h`. */
export function duration(ms: number): string {
  if (ms < 0) return `−${duration(-ms)}`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  const pairs = [
    [86_400_000, "d", 3_600_000, "h"],
    [3_600_000, "h", 60_000, "min"],
    [60_000, "min", 1_000, "s"],
  ] as const;
  const [large, largeName, small, smallName] = pairs.find(([size]) => ms >= size) ?? pairs[2];
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? "" : ` ${rest} ${smallName}`}`;
}

/** How long, where tenths of a millisecond count: `0.4 ms`; longer ones as any. */
export const length = (ms: number): string =>
  ms > 0 && ms < 10 ? `${Number(ms.toFixed(1))} ms` : duration(ms);

/** So many a second: `0.3`, `7.5`, `1,204`. */
export const rate = (value: number): string =>
  count(value < 10 ? Number(value.toFixed(1)) : Math.round(value));

const clock = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const whole = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "medium",
  hour12: false,
});

/** The time of day, with the day if it is not today's. */
export function time(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}

export const fullTime = (at: number): string => whole.format(new Date(at));

/** How long ago, roughly. */
export function ago(at: number, now: number = Date.now()): string {
  const ms = Math.max(0, now - at);
  if (ms < 5_000) return "just now";
  if (ms < 60_000) return `${Math.floor(ms / 1_000)} s ago`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ago`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h ago`;
  return `${Math.floor(ms / 86_400_000)} d ago`;
}

const numbers = new Intl.NumberFormat("en-US");
export const count = (value: number): string => numbers.format(value);

/** `412 B`, `3.1 KB`, `18 MB`. */
export function bytes(value: number): string {
  if (value < 1_000) return `${value} B`;
  const units = ["KB", "MB", "GB", "TB"];
  let rest = value / 1_000;
  let unit = 0;
  while (rest >= 1_000 && unit < units.length - 1) {
    rest /= 1_000;
    unit++;
  }
  return `${rest < 10 ? rest.toFixed(1) : Math.round(rest)} ${units[unit]}`;
}

/** `1 step`, `2 steps`. */
export const plural = (value: number, word: string): string =>
  `${count(value)} ${word}${value === 1 ? "" : "s"}`;
