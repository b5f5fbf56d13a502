/** Rates that several processes share: what one has reserved the others count as late as it may begin. */
import { expect, test } from "vitest";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Allowance } from "./allowance.ts";
import { Rate } from "./rate.ts";

const use = { key: "k", tenant: "t", limit: 1, perMs: 3_000 };
const place = { tenant: "t", name: "rate" };

/** When one who comes while another's allowance is good may begin. */
async function freeAtBeside(isShared: boolean): Promise<number> {
  const [store, clock] = [memory(), new VirtualClock(0)];
  await new Allowance(store, place).reserve(use.limit, use.perMs, 0);
  await clock.advance(10);
  const read = Promise.withResolvers<void>();
  const rate = new Rate({ clock, allowance: new Allowance(store, place), isShared }, () => read.resolve());
  const claim = rate.claim(use);
  rate.watch(clock.now());
  await read.promise;
  const at = claim.freeAt(clock.now());
  rate.close();
  return at;
}

test("what another process has reserved may begin until that lapses, and counts from then", async () => {
  expect(await freeAtBeside(true)).toBe(300 + use.perMs);
});

test("what a process that is gone has reserved counts as begun when the next one comes", async () => {
  expect(await freeAtBeside(false)).toBe(10 + use.perMs);
});
