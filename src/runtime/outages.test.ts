/** Which times of absence move a timer. */
import { expect, test } from "vitest";
import type { Timer } from "../core/state.ts";
import { outagesMoving } from "./outages.ts";

const timer = (parts: object): Timer => ({
  ...{ key: "1.0", event: { type: "after" }, since: 100, due: 1_000, resume: "remaining" as const },
  ...(parts as Partial<Timer>),
});

test("an outage moves the timers that were set before it ended, unless it lies ahead", () => {
  const [before, during, ahead] = [
    { from: 10, until: 100 },
    { from: 200, until: 300 },
    { from: 5_000, until: 6_000 },
  ] as const;
  const all = [before, during, ahead];
  expect(outagesMoving(all, [timer({})], 2_000)).toEqual([during]);
  expect(outagesMoving([before], [timer({})], 2_000)).toEqual([]);
  expect(outagesMoving([ahead], [timer({ due: 9_000 })], 2_000)).toEqual([]);
  expect(outagesMoving([during], [timer({ since: 300 })], 2_000)).toEqual([]);
  const { resume: _, ...plain } = timer({});
  expect(outagesMoving(all, [plain as Timer], 2_000)).toEqual([]);
});
