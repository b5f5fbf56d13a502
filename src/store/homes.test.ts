/** Homes: everything has one, shares are fair, and little changes when members come and go. */
import { describe, expect, test } from "vitest";
import { homesOf } from "./homes.ts";
import { shardCount } from "./shard.ts";

const members = (...epochs: number[]) => epochs.map((epoch) => ({ epoch, isLeaving: false }));
const countOf = (homes: readonly (number | undefined)[], epoch: number) =>
  homes.filter((home) => home === epoch).length;

describe("B3: homes of shards", () => {
  test("one member is the home of all", () => {
    expect(new Set(homesOf(members(7)))).toEqual(new Set([7]));
    expect(homesOf(members(7))).toHaveLength(shardCount);
  });

  test("without members nothing has a home, and one that leaves is none", () => {
    expect(new Set(homesOf([]))).toEqual(new Set([undefined]));
    expect(new Set(homesOf([...members(1), { epoch: 2, isLeaving: true }]))).toEqual(new Set([1]));
  });

  test("shares differ by what cannot be divided", () => {
    for (const count of [2, 3, 5, 8, 20]) {
      const epochs = Array.from({ length: count }, (_, index) => index * 3 + 1);
      const homes = homesOf(members(...epochs));
      const shares = epochs.map((epoch) => countOf(homes, epoch));
      expect(Math.max(...shares)).toBeLessThanOrEqual(Math.ceil(shardCount / count));
      expect(shares.reduce((sum, share) => sum + share)).toBe(shardCount);
    }
  });

  test.each([1, 2, 3, 4])("when %i of four goes, hardly any shard of the others moves", (gone) => {
    const before = homesOf(members(1, 2, 3, 4));
    const after = homesOf(members(...[1, 2, 3, 4].filter((epoch) => epoch !== gone)));
    const moved = before.filter((home, shard) => home !== gone && home !== after[shard]);
    expect(moved.length).toBeLessThan(shardCount / 8);
  });

  test("the order in which members are told makes no difference", () => {
    expect(homesOf(members(9, 2, 5))).toEqual(homesOf(members(2, 5, 9)));
  });
});
