import fc from "fast-check";
import { expect, test } from "vitest";
import { shardCount, shardOf } from "./shard.ts";

test("the shard of a run never changes: these are written in stores", () => {
  const shards = [
    ["acme", "run-1"],
    ["acme", "run-2"],
    ["", ""],
    ["äöü", "日本"],
    ["a😀", "b"],
  ].map(([tenant, run]) => shardOf({ tenant: tenant as string, run: run as string }));
  expect(shards).toEqual([73, 96, 186, 207, 223]);
});

test("where the tenant ends makes a difference", () => {
  const splits = Array.from({ length: 12 }, (_, at) =>
    shardOf({ tenant: "twelve chars".slice(0, at), run: "twelve chars".slice(at) }),
  );
  expect(new Set(splits).size).toBeGreaterThan(8);
});

test("runs are spread over all shards about evenly", () => {
  const counts = new Array<number>(shardCount).fill(0);
  const runs = shardCount * 100;
  for (let index = 0; index < runs; index++) {
    const shard = shardOf({ tenant: "acme", run: `run-${index}` });
    counts[shard] = (counts[shard] as number) + 1;
  }
  // Five standard deviations of what chance gives.
  expect([Math.min(...counts) > 50, Math.max(...counts) < 150]).toEqual([true, true]);
});

test("any name has one", () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(text, text, (tenant, run) => {
      const shard = shardOf({ tenant, run });
      return Number.isInteger(shard) && shard >= 0 && shard < shardCount;
    }),
  );
});
