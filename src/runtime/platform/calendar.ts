/**
 * Calendars: the times a cron pattern names in a time zone. Pure: every time comes in and goes out in milliseconds since
 * 1970, and `Date` is only the shape in which the library takes and gives them; no clock is read.
 *
 * What happens when clocks are changed by law:
 * N1. A pattern with one time of day (`30 2 * * *`) has exactly one time on every day it names. Where that time is left
 *     out, it is the first moment after the gap; where it comes twice, the first of the two.
 * N2. A pattern with many times of day (`0 * * * *`, also `30 1,2 * * *`) goes by the clock on the wall: what is left out
 *     is left out, and what comes twice comes twice. So a step of an hour stays an hour.
 */
import { Cron } from "croner";
import { showValue } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";

/** A cron pattern with five fields, or six with seconds first, or seven with the year last; and an IANA time zone. */
export interface Calendar {
  readonly cron: string;
  readonly timezone: string;
}

/** The first time after this one; undefined when there is none, as when the years of a pattern are over. */
export function nextTime(calendar: Calendar, after: number): number | undefined {
  return consult(calendar, (cron) => cron.nextRun(new Date(after))?.getTime());
}

/** The last time up to this one, which counts; undefined when there is none. */
export function lastTime(calendar: Calendar, until: number): number | undefined {
  // Times are whole seconds, and the library leaves out the one it is given.
  const reference = new Date((Math.floor(until / 1_000) + 1) * 1_000);
  return consult(calendar, (cron) => cron.previousRuns(1, reference)[0]?.getTime());
}

/** A time as people read it. */
export function timeText(time: number): string {
  return new Date(time).toISOString();
}

/** The time that `timeText` wrote; not a number if it is none. */
export function timeOf(text: string): number {
  return new Date(text).getTime();
}

/** Throws SCHEDULE_INVALID for a pattern or a time zone that cannot be read, or that has no time after this one. */
export function checkCalendar(calendar: Calendar, after: number): void {
  if (nextTime(calendar, after) === undefined) throw invalid(calendar, "has no time that is still to come");
}

/** The library says what is wrong with a pattern when it reads it, and with a time zone when it needs it. */
function consult<Answer>(calendar: Calendar, ask: (cron: Cron) => Answer): Answer {
  const { cron: pattern, timezone } = calendar;
  // Without a time zone the library would take the one of this process.
  if (typeof timezone !== "string" || timezone === "") throw invalid(calendar, "has no time zone");
  let answer: Answer;
  let moment: unknown;
  try {
    const cron = new Cron(pattern, { timezone });
    moment = cron.getOnce();
    answer = ask(cron);
  } catch (error) {
    throw invalid(calendar, `cannot be read: ${(error as Error).message}`, error);
  }
  if (moment !== null) throw invalid(calendar, "is a single moment, for which a timer is enough");
  return answer;
}

function invalid({ cron, timezone }: Calendar, problem: string, cause?: unknown): HoldfastError {
  return new HoldfastError(
    "SCHEDULE_INVALID",
    `The pattern ${showValue(cron)} in the time zone ${showValue(timezone)} ${problem}. Write for example "30 2 * * *" and "Europe/Berlin"`,
    { cause },
  );
}
