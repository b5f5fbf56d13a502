/** Rates in bounded memory, and whose they are. */
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { Rates } from "./rate.ts";
import { neighbourhoodOf } from "./remote.ts";

test("F5: whoever asks all the time is not forgotten for those who come and go", () => {
  const rates = new Rates({ perSecond: 1, burst: 2 });
  const isTaken = (holder: string) => {
    try {
      rates.take(holder, 0);
      return true;
    } catch {
      return false;
    }
  };
  expect([isTaken("busy"), isTaken("busy"), isTaken("busy")]).toEqual([true, true, false]);
  // As many others as are watched besides, and then one more: the bucket that was asked last is not the one to go.
  for (let other = 0; other < limits.ratedHoldersMax - 1; other++) isTaken(`other ${other}`);
  expect(isTaken("busy")).toBe(false);
  expect(isTaken("one more")).toBe(true);
  expect(isTaken("busy")).toBe(false);
});

test("F5: an address counts by what one subscriber has: an IPv4 address, or the first half of an IPv6 address", () => {
  const of = (address?: string) => neighbourhoodOf({ address });
  expect(of("192.0.2.7")).toBe("192.0.2.7");
  expect(of("::ffff:192.0.2.7")).toBe("192.0.2.7");
  expect(of("2001:db8:1:2:3:4:5:6")).toBe("2001:db8:1:2");
  expect(of("2001:0DB8:1:2::9")).toBe("2001:db8:1:2");
  expect(of("2001:db8::1")).toBe("2001:db8:0:0");
  expect(of("::1")).toBe("0:0:0:0");
  expect(of("fe80::1%eth0")).toBe("fe80:0:0:0");
  expect(of("2001:db8:1:3::1")).not.toBe(of("2001:db8:1:2::1"));
  expect(of()).toBe("");
});
