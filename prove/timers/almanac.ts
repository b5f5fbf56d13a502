/**
 * When patterns are due, by looking at the clock on the wall: local times come from `Intl`, and everything else is
 * counted out minute by minute. It knows nothing of cron; a pattern comes with a rule of its own.
 */
import { day, hour, minute, second } from "./span.ts";

interface Local {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** The same rule as the pattern, in words of the wall. */
export type Rule =
  /** Whenever the wall shows such a time; looked for in steps of so many milliseconds. */
  | { readonly cron: string; readonly stepMs: number; readonly shows: (local: Local) => boolean }
  /** Once on every such day: when the wall first shows this time of day or, where that is left out, a later one. */
  | {
      readonly cron: string;
      readonly on: (local: Local) => boolean;
      readonly hour: number;
      readonly minute: number;
    };

export const rules: readonly Rule[] = [
  { cron: "*/20 * * * * *", stepMs: second, shows: (local) => local.second % 20 === 0 },
  { cron: "*/5 * * * *", stepMs: minute, shows: (local) => local.second === 0 && local.minute % 5 === 0 },
  { cron: "15 * * * *", stepMs: minute, shows: (local) => local.second === 0 && local.minute === 15 },
  {
    cron: "*/30 1-3 * * *",
    stepMs: minute,
    shows: (local) => local.second === 0 && local.minute % 30 === 0 && local.hour >= 1 && local.hour <= 3,
  },
  { cron: "30 2 * * *", on: () => true, hour: 2, minute: 30 },
  { cron: "0 0 * * *", on: () => true, hour: 0, minute: 0 },
  { cron: "15 3 * * 0", on: ({ weekday }) => weekday === 0, hour: 3, minute: 15 },
  { cron: "30 2 28 * *", on: (local) => local.day === 28, hour: 2, minute: 30 },
  { cron: "0 2 29 3 *", on: (local) => local.month === 3 && local.day === 29, hour: 2, minute: 0 },
];

export const zones = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Asia/Kathmandu",
  "Pacific/Auckland",
] as const;

/** Clocks are changed on the quarter of an hour everywhere nowadays. */
const quarter = 15 * minute;

export class Almanac {
  readonly #rule: Rule;
  readonly #zone: Zone;
  /** First moments of days, by the day. */
  readonly #moments = new Map<string, number | undefined>();

  constructor(rule: Rule, zone: string) {
    this.#rule = rule;
    this.#zone = zoneOf(zone);
  }

  /** Whether this is a time of the pattern. */
  has(time: number): boolean {
    if (time % second !== 0) return false;
    return "shows" in this.#rule ? this.#rule.shows(this.#local(time)) : this.last(time) === time;
  }

  /** The last time up to this one, which counts; at most some four hundred days back. */
  last(until: number): number | undefined {
    const rule = this.#rule;
    if ("shows" in rule) {
      const from = Math.floor(until / rule.stepMs) * rule.stepMs;
      for (let time = from; time > from - 3 * day; time -= rule.stepMs)
        if (rule.shows(this.#local(time))) return time;
      return undefined;
    }
    for (let noon = until + day; noon > until - 400 * day; noon -= day) {
      const moment = this.#moment(noon);
      if (moment !== undefined && moment <= until) return moment;
    }
    return undefined;
  }

  /** The first time after this one; at most some four hundred days on. */
  next(after: number): number | undefined {
    const rule = this.#rule;
    if ("shows" in rule) {
      const from = (Math.floor(after / rule.stepMs) + 1) * rule.stepMs;
      for (let time = from; time < from + 3 * day; time += rule.stepMs)
        if (rule.shows(this.#local(time))) return time;
      return undefined;
    }
    for (let noon = after - day; noon < after + 400 * day; noon += day) {
      const moment = this.#moment(noon);
      if (moment !== undefined && moment > after) return moment;
    }
    return undefined;
  }

  /** When the pattern is due on the local day that this time lies on, if it is. */
  #moment(within: number): number | undefined {
    const rule = this.#rule as Extract<Rule, { on: unknown }>;
    const date = this.#local(within);
    const key = `${date.year}-${date.month}-${date.day}`;
    if (!rule.on(date)) return undefined;
    if (this.#moments.has(key)) return this.#moments.get(key);
    const isThen = (local: Local) =>
      local.day === date.day &&
      local.month === date.month &&
      local.year === date.year &&
      local.hour * 60 + local.minute >= rule.hour * 60 + rule.minute;
    const begin = Math.floor(within / quarter) * quarter - 26 * hour;
    let found: number | undefined;
    for (let time = begin; time < begin + 54 * hour && found === undefined; time += quarter)
      if (isThen(this.#local(time))) found = time;
    this.#moments.set(key, found);
    return found;
  }

  #local(time: number): Local {
    const wall = new Date(time + this.#zone.offset(time));
    return {
      ...{ year: wall.getUTCFullYear(), month: wall.getUTCMonth() + 1, day: wall.getUTCDate() },
      ...{ weekday: wall.getUTCDay(), hour: wall.getUTCHours() },
      ...{ minute: wall.getUTCMinutes(), second: wall.getUTCSeconds() },
    };
  }
}

/** How far the clocks of a zone are ahead. */
class Zone {
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      ...{ timeZone: name, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric" },
      ...{ hour: "numeric", minute: "numeric", second: "numeric" },
    });
  }

  /** Nowhere are clocks changed twice within a day. */
  offset(time: number): number {
    const from = Math.floor(time / day) * day;
    const before = this.#read(from);
    return before === this.#read(from + day) ? before : this.#read(Math.floor(time / quarter) * quarter);
  }

  #read(from: number): number {
    const known = this.#offsets.get(from);
    if (known !== undefined) return known;
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(from)) parts[type] = Number(value);
    const { year = 0, month = 0, day: date, hour: hours, minute: minutes, second: seconds } = parts;
    const offset = Date.UTC(year, month - 1, date, hours, minutes, seconds) - from;
    this.#offsets.set(from, offset);
    return offset;
  }
}

const knownZones = new Map<string, Zone>();

function zoneOf(name: string): Zone {
  const zone = knownZones.get(name) ?? new Zone(name);
  knownZones.set(name, zone);
  return zone;
}
