/** The formats of JSON Schema that are checked: each as a bounded look at the text that cannot hang. */

/** Whether a text is of a format, by the format's name. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": (text) => {
    const [day = "", time = ""] = text.split(/[Tt]/, 2);
    return text.length === day.length + 1 + time.length && isDate(day) && isTime(time);
  },
  date: isDate,
  time: isTime,
  email: (text) =>
    text.length <= 320 && /^[^\s@]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,9}$/.test(text),
  uuid: (text) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
  uri: (text) => text.length <= 8_192 && /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]*$/i.test(text),
  hostname: (text) =>
    text.length <= 253 &&
    text.split(".").every((part) => /^(?!-)[A-Za-z0-9-]{1,63}$/.test(part) && !part.endsWith("-")),
  ipv4: (text) =>
    text.length <= 15 &&
    /^(\d{1,3}\.){3}\d{1,3}$/.test(text) &&
    text.split(".").every((part) => Number(part) <= 255 && String(Number(part)) === part),
};

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return false;
  const leap = (Number(year) % 4 === 0 && Number(year) % 100 !== 0) || Number(year) % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(month) - 1] ?? 0;
  return Number(day) >= 1 && Number(day) <= days;
}

function isTime(text: string): boolean {
  const [, hour, minute, second, offsetHour = "0", offsetMinute = "0"] =
    /^(\d\d):(\d\d):(\d\d)(?:\.\d{1,9})?(?:z|[+-](\d\d):(\d\d))$/i.exec(text) ?? [];
  if (hour === undefined) return false;
  return (
    Number(hour) <= 23 &&
    Number(minute) <= 59 &&
    Number(second) <= 59 &&
    Number(offsetHour) <= 23 &&
    Number(offsetMinute) <= 59
  );
}
