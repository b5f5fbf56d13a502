/** Scaling: enough workers at once, fewer only when it has been calm, and no to and fro in between. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Demand, type Scaling, type ScalingPolicy, scale } from "./scaling.ts";

const policy: ScalingPolicy = { min: 1, max: 8, slots: 10, coolDownMs: 30_000 };
const busy = (running: number, waiting = 0, due = 0): Demand => ({ running, waiting, due });

/** What is wanted after each of these loads, a second apart. */
function wantedAfter(loads: readonly number[], from: Scaling = { wanted: 1 }, by = policy): number[] {
  let scaling = from;
  return loads.map((load, second) => {
    scaling = scale(scaling, busy(load), by, second * 1_000);
    return scaling.wanted;
  });
}

const times = (count: number, load: number): number[] => Array.from({ length: count }, () => load);

test("there are as many as it takes to keep a fifth of the slots free, at once", () => {
  expect(scale({ wanted: 1 }, busy(8), policy, 0).wanted).toBe(1);
  expect(scale({ wanted: 1 }, busy(9), policy, 0).wanted).toBe(2);
  expect(scale({ wanted: 1 }, busy(10, 20, 4), policy, 0).wanted).toBe(5);
});

test("there are never more than the most, nor fewer than the least", () => {
  expect(scale({ wanted: 1 }, busy(10, 1_000), policy, 0).wanted).toBe(8);
  expect(scale({ wanted: 0 }, busy(0), { ...policy, min: 3 }, 0).wanted).toBe(3);
  expect(wantedAfter(times(40, 0), { wanted: 8 }, { ...policy, min: 2 }).at(-1)).toBe(2);
});

test("fewer stay only after a cool-down, and as many as its busiest moment needed", () => {
  const wanted = wantedAfter([...times(10, 0), 14, ...times(30, 0)], { wanted: 8 });
  expect(wanted.slice(0, 30)).toEqual(times(30, 8));
  expect(wanted[30]).toBe(3);
});

test("a load that comes again within the cool-down makes it begin anew", () => {
  const wanted = wantedAfter([...times(29, 0), 35, ...times(30, 0), 0], { wanted: 7 });
  expect(wanted.slice(0, 60)).toEqual(times(60, 7));
  expect(wanted[60]).toBe(1);
});

test("a clock that was set back lengthens the wait by no more than a cool-down", () => {
  const scaling = scale({ wanted: 4 }, busy(0), policy, 1_000_000);
  const back = scale(scaling, busy(0), policy, 0);
  expect(scale(back, busy(0), policy, 30_000).wanted).toBe(1);
});

describe("whatever the load is", () => {
  const policies = fc
    .record({
      min: fc.integer({ min: 1, max: 4 }),
      more: fc.nat(6),
      slots: fc.integer({ min: 1, max: 50 }),
      coolDownMs: fc.integer({ min: 1, max: 20_000 }),
    })
    .map(({ min, more, ...rest }) => ({ ...rest, min, max: min + more }));

  test("one that stays the same moves the number at most once up and once down", () => {
    const property = fc.property(policies, fc.nat(300), fc.nat(12), (by, load, first) => {
      const wanted = wantedAfter(times(60, load), { wanted: first }, by);
      const moves = wanted.filter((count, index) => index > 0 && count !== wanted[index - 1]);
      expect(moves.length).toBeLessThanOrEqual(1);
    });
    fc.assert(property);
  });

  test("no worker goes within a cool-down of one that came", () => {
    const property = fc.property(policies, fc.array(fc.nat(300), { maxLength: 60 }), (by, loads) => {
      const wanted = wantedAfter(loads, { wanted: by.min }, by);
      let cameAt = Number.NEGATIVE_INFINITY;
      for (let second = 1; second < wanted.length; second++) {
        const change = (wanted[second] as number) - (wanted[second - 1] as number);
        if (change > 0) cameAt = second;
        if (change < 0) expect((second - cameAt) * 1_000).toBeGreaterThanOrEqual(by.coolDownMs);
      }
    });
    fc.assert(property);
  });
});
