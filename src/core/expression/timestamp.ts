/** Times as text, without a clock or a calendar of the platform. https://www.rfc-editor.org/rfc/rfc3339 */
import { failed } from "./failure.ts";

const shape = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d{1,9})?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Milliseconds since 1970 of an RFC 3339 time; fails for anything else. */
export function timestampMs(text: string): number {
  const parts = shape.exec(text);
  if (parts === null) return failed("timestamp() of a text that is no time such as 2026-07-01T12:00:00Z");
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const real = month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
  if (!real || hour > 23 || minute > 59 || second > 60)
    return failed("timestamp() of a time that does not exist");
  const offset = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === "-" ? -1 : 1);
  const ms = Math.floor(Number(`0${parts[7] ?? ""}`) * 1_000);
  return ((daysBefore(year, month, day) * 24 + hour) * 60 + minute - offset) * 60_000 + second * 1_000 + ms;
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Days from 1970 on, counted in years that begin in March, so that the leap day comes last. */
function daysBefore(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
