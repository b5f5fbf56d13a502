import { expect, test } from "vitest";
import { durationMs } from "../index.ts";

test("a number is milliseconds, and so is text without a unit", () => {
  expect([0, 250, 1.5, "250", " 250 ", "0", ".5"].map(durationMs)).toEqual([0, 250, 1.5, 250, 250, 0, 0.5]);
});

test("units are written short or long, singular or plural, in any case, with or without a space", () => {
  const hour = 3_600_000;
  const written = {
    "30ms": 30,
    "2 milliseconds": 2,
    "1.5s": 1500,
    "2 secs": 2000,
    "1 Second": 1000,
    "3m": 180_000,
    "3 MIN": 180_000,
    "2 minutes": 120_000,
    "1h": hour,
    "2 hours": 2 * hour,
    "1d": 24 * hour,
    "2 days": 48 * hour,
    "1w": 168 * hour,
    "2 weeks": 336 * hour,
  };
  expect(Object.fromEntries(Object.keys(written).map((text) => [text, durationMs(text)]))).toEqual(written);
});

test("anything else is refused, with what was given", () => {
  const notDurations = [
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    "",
    " ",
    "s",
    "soon",
    "-1s",
    "1e3",
    "1 fortnight",
    "5 constructor",
    "1s 2s",
    "1.",
    "9".repeat(400),
    null,
    undefined,
    {},
    10n,
    () => 5,
  ];
  for (const given of notDurations) {
    expect(() => durationMs(given), String(given)).toThrow(
      expect.objectContaining({ code: "DURATION_INVALID" }),
    );
  }
  expect(() => durationMs("soon")).toThrow(
    '"soon" is not a delay: write milliseconds, or a number with ms, s, min, h, days or weeks',
  );
});

test("A text that is longer than any delay is none, and told of in few words, at once", () => {
  for (const text of [`1${" ".repeat(100_000)}!`, "9".repeat(100_000)])
    expect(() => durationMs(text)).toThrow(/^.{100,700}$/);
});
