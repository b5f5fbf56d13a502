/** What is decided of leases alone, whatever store they stand in. */
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { isHeld, type LeaseRow, takeLease, unowned } from "./lease.ts";

test("no more outages are kept than anybody needs", () => {
  let lease = unowned;
  for (let turn = 0; turn <= limits.outagesMax + 2; turn++)
    lease = takeLease(lease, `worker ${turn}`, 10, 20 * turn) as LeaseRow;
  expect(lease.outages.length).toBe(limits.outagesMax);
  expect(lease.outages.at(-1)).toEqual({
    from: 20 * (limits.outagesMax + 1),
    until: 20 * (limits.outagesMax + 2),
  });
});

test("an outage is noted by the worker's clock, whatever clock the lease is measured by", () => {
  const told = (time: number) => time + 1_000;
  const first = takeLease(unowned, "a", 10, 100, told) as LeaseRow;
  const second = takeLease(first, "b", 10, 200, told) as LeaseRow;
  expect([second.from, second.outages]).toEqual([200, [{ from: 1_100, until: 1_200 }]]);
});

test("a lease that ends further ahead than twice its length was given by a wrong clock, and binds nobody", () => {
  const lease = { owner: "a", from: 1_000, until: 1_010 };
  expect([990, 989, 1_009, 1_010].map((now) => isHeld(lease, now))).toEqual([true, false, true, false]);
});

test("a lease that was mended tells of no outage: nobody knows since when there was none", () => {
  const mended = { ...unowned, epoch: 7 };
  expect(takeLease(mended, "a", 10, 1_000)).toEqual({
    owner: "a",
    epoch: 8,
    from: 1_000,
    until: 1_010,
    outages: [],
  });
});
