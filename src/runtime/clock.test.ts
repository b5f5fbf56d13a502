/** The system's clock. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "./clock.ts";

const dayMs = 86_400_000;
beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("B11: what is to come after more days than a timer of the system can wait comes then, and not before", () => {
  const rung = vi.fn();
  systemClock.after(60 * dayMs, rung);
  vi.advanceTimersByTime(60 * dayMs - 1);
  expect(rung).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(rung).toHaveBeenCalledOnce();
});

test("B11: it can be taken back at any time until then", () => {
  const rung = vi.fn();
  const stop = systemClock.after(60 * dayMs, rung);
  vi.advanceTimersByTime(50 * dayMs);
  stop();
  vi.advanceTimersByTime(50 * dayMs);
  expect([rung.mock.calls.length, vi.getTimerCount()]).toEqual([0, 0]);
});
