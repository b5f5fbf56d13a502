/** Calendars: what patterns name, on ordinary days and when clocks are changed by law. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { checkCalendar, lastTime, nextTime, timeText } from "./calendar.ts";

const berlin = (cron: string) => ({ cron, timezone: "Europe/Berlin" });
const time = (text: string) => Date.parse(text);

/** The first times of a pattern after a moment. */
function times(calendar: ReturnType<typeof berlin>, from: string, count: number): string[] {
  const found: string[] = [];
  for (let next = nextTime(calendar, time(from)); next !== undefined && found.length < count; ) {
    found.push(timeText(next));
    next = nextTime(calendar, next);
  }
  return found;
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a pattern", () => {
  test("names times strictly after the one given, to the second", () => {
    expect(times(berlin("*/20 * * * * *"), "2026-11-16T11:00:00Z", 3)).toEqual([
      "2026-11-16T11:00:20.000Z",
      "2026-11-16T11:00:40.000Z",
      "2026-11-16T11:01:00.000Z",
    ]);
    expect(times(berlin("* * * * * *"), "2026-11-16T11:00:00.500Z", 1)).toEqual(["2026-11-16T11:00:01.000Z"]);
    expect(times(berlin("@daily"), "2026-11-16T11:00:00Z", 1)).toEqual(["2026-11-16T23:00:00.000Z"]);
  });

  test("names days that are rare, and none that never comes", () => {
    expect(times(berlin("0 0 29 2 *"), "2026-11-16T11:00:00Z", 2)).toEqual([
      "2028-02-28T23:00:00.000Z",
      "2032-02-28T23:00:00.000Z",
    ]);
    expect(nextTime(berlin("0 0 30 2 *"), 0)).toBeUndefined();
    expect(lastTime(berlin("0 0 30 2 *"), time("2026-11-16T11:00:00Z"))).toBeUndefined();
  });

  test("looked at backwards names the same times as forwards", () => {
    const zones = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia"];
    const patterns = ["30 2 * * *", "0 * * * *", "*/30 2 * * *", "0 3 1 * *"];
    const days = ["2026-03-28", "2026-10-24", "2011-12-29", "2026-04-04"];
    for (const timezone of zones)
      for (const cron of patterns)
        for (const day of days) {
          const calendar = { cron, timezone };
          const found = times(calendar, `${day}T00:00:00Z`, 8).map(time);
          for (const [index, one] of found.slice(0, -1).entries()) {
            const next = found[index + 1] as number;
            expect(next).toBeGreaterThan(one);
            expect([
              lastTime(calendar, one),
              lastTime(calendar, one + 1),
              lastTime(calendar, next - 1),
            ]).toEqual([one, one, one]);
          }
        }
  });

  test("is read without looking at the system's clock", () => {
    const ask = () => [
      nextTime(berlin("30 2 * * *"), time("2026-03-28T12:00:00Z")),
      lastTime(berlin("30 2 * * *"), time("2026-03-28T12:00:00Z")),
    ];
    const now = ask();
    for (const then of ["1970-01-01", "2026-03-29T00:30:00Z", "2099-12-31"]) {
      vi.useFakeTimers({ now: new Date(then) });
      expect(ask()).toEqual(now);
    }
  });
});

describe("when clocks are changed by law", () => {
  test("N1: a daily time that is left out comes right after the gap, once", () => {
    expect(times(berlin("30 2 * * *"), "2026-03-28T00:00:00Z", 3)).toEqual([
      "2026-03-28T01:30:00.000Z",
      "2026-03-29T01:00:00.000Z",
      "2026-03-30T00:30:00.000Z",
    ]);
  });

  test("N1: a daily time that comes twice is the first of the two, once", () => {
    expect(times(berlin("30 2 * * *"), "2026-10-24T00:00:00Z", 3)).toEqual([
      "2026-10-24T00:30:00.000Z",
      "2026-10-25T00:30:00.000Z",
      "2026-10-26T01:30:00.000Z",
    ]);
    // Also for whoever begins between the two.
    expect(times(berlin("30 2 * * *"), "2026-10-25T00:45:00Z", 1)).toEqual(["2026-10-26T01:30:00.000Z"]);
  });

  test("N1: over two years a daily 02:30 has one time on every day, in zones that shift by an hour or by half of one", () => {
    const day = 86_400_000;
    for (const timezone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]) {
      const dates = new Intl.DateTimeFormat("sv", { timeZone: timezone, dateStyle: "short" });
      const from = time("2026-01-01T12:00:00Z");
      const seen: string[] = [];
      const days: string[] = [];
      for (let index = 1; index <= 731; index++) days.push(dates.format(from + index * day));
      for (let next = nextTime({ cron: "30 2 * * *", timezone }, from); seen.length < days.length; ) {
        seen.push(dates.format(next as number));
        next = nextTime({ cron: "30 2 * * *", timezone }, next as number);
      }
      expect(seen).toEqual(days);
    }
  });

  test("N2: a pattern with many times of day leaves out what is left out and repeats what comes twice", () => {
    expect(times(berlin("0 * * * *"), "2026-03-29T00:30:00Z", 2)).toEqual([
      "2026-03-29T01:00:00.000Z",
      "2026-03-29T02:00:00.000Z",
    ]);
    expect(times(berlin("*/30 2 * * *"), "2026-03-28T12:00:00Z", 1)).toEqual(["2026-03-30T00:00:00.000Z"]);
    expect(times(berlin("*/30 2 * * *"), "2026-10-24T12:00:00Z", 4)).toEqual([
      "2026-10-25T00:00:00.000Z",
      "2026-10-25T00:30:00.000Z",
      "2026-10-25T01:00:00.000Z",
      "2026-10-25T01:30:00.000Z",
    ]);
  });
});

describe("what cannot be kept is refused with its reason", () => {
  test.each([
    ["", "UTC", "five"],
    ["* * * *", "UTC", "five"],
    ["60 * * * *", "UTC", "60"],
    ["@reboot", "UTC", "reboot"],
    [5 as never, "UTC", "string"],
    ["2026-11-16T12:00:00", "UTC", "single moment"],
    ["0 0 30 2 *", "UTC", "no time"],
    ["0 0 0 1 1 * 2020", "UTC", "no time"],
    ["30 2 * * *", "Mars/Base", "Mars/Base"],
    ["30 2 * * *", "", "no time zone"],
    ["30 2 * * *", 5 as never, "no time zone"],
  ])("%j in %j: %s", (cron, timezone, reason) => {
    const check = () => checkCalendar({ cron, timezone }, time("2026-11-16T12:00:00Z"));
    expect(check).toThrow(expect.objectContaining({ code: "SCHEDULE_INVALID" }));
    expect(check).toThrow(reason);
  });
});
