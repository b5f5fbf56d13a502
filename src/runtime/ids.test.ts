import { expect, test } from "vitest";
import { systemIds } from "./ids.ts";

test("ids are UUIDs of version 7, and each sorts after the one before, however fast they come", () => {
  const ids = Array.from({ length: 20_000 }, () => systemIds.next());
  for (const id of ids)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(Number.parseInt((ids[0] as string).replaceAll("-", "").slice(0, 12), 16) / Date.now()).toBeCloseTo(
    1,
  );
});

test("chance is from 0 up to 1", () => {
  for (let times = 0; times < 100; times++) {
    const chance = systemIds.chance();
    expect(chance >= 0 && chance < 1).toBe(true);
  }
});
