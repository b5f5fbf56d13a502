/** How variables are kept in a context, and that what did not change stays the same object. */
import { expect, test } from "vitest";
import { readContext, writeContext } from "./context.ts";

const kept = { data: { a: 1 }, kinds: {}, rerun: [], bound: [], chance: undefined };

test("what is written is read again, and nothing is written that need not be", () => {
  expect(writeContext(kept, {})).toEqual({ a: 1 });
  const full = { data: { a: 1 }, kinds: { "/b": "undefined" }, rerun: ["x"], bound: ["y"], chance: 0 };
  expect(readContext(writeContext(full, {}))).toEqual(full);
  expect(readContext({})).toEqual({ ...kept, data: {} });
});

test("parts that are as before are the same objects", () => {
  const before = { list: [{ a: 1 }, { b: 2 }], other: { c: [] } };
  const write = (data: typeof before | object) => writeContext({ ...kept, data: data as never }, before);
  expect(write(structuredClone(before))).toBe(before);
  const longer = write({ list: [{ a: 1 }, { b: 2 }, 3], other: { c: [] } }) as typeof before;
  expect(longer.list).toHaveLength(3);
  expect(longer.list[0]).toBe(before.list[0]);
  expect(longer.other).toBe(before.other);
  const shorter = write({ list: [{ a: 1 }] }) as typeof before;
  expect(shorter).toEqual({ list: [{ a: 1 }] });
  expect(shorter.list[0]).toBe(before.list[0]);
});

test("a list is not taken for an object of the same keys, nor a missing value for one that is there", () => {
  expect(writeContext({ ...kept, data: { a: { 0: 1 } } }, { a: [1] })).toEqual({ a: { 0: 1 } });
  expect(writeContext({ ...kept, data: { a: null } }, { b: 1 })).toEqual({ a: null });
  expect(writeContext({ ...kept, data: { toString: 1 } }, {})).toEqual({ toString: 1 });
});
