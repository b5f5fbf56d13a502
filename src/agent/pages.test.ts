/** Long lists in pages: they read as lists do, and adding to one copies one page. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { produce } from "../core/draft.ts";
import { diff } from "../core/patch.ts";
import { addItem, countOf, itemAt, itemsOf, type Pages } from "./pages.ts";

interface Held {
  list: Pages<{ n: number }>;
}

const added = (held: Held, count: number): Held =>
  produce(
    held,
    (draft: Held) => {
      for (let n = 0; n < count; n++) addItem(draft.list, { n: countOf(draft.list) });
    },
    undefined,
  );

test("C1: items are read at the positions they were added at, however they were added", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(300), { maxLength: 6 }), (counts) => {
      let held: Held = { list: [] };
      for (const count of counts) held = added(held, count);
      const total = counts.reduce((sum, count) => sum + count, 0);
      expect(countOf(held.list)).toBe(total);
      expect(itemsOf(held.list)).toEqual(Array.from({ length: total }, (_, n) => ({ n })));
      for (const position of [0, 1, 127, 128, 129, total - 1])
        if (position >= 0 && position < total) expect(itemAt(held.list, position)).toEqual({ n: position });
      expect(itemAt(held.list, total)).toBeUndefined();
      expect(held.list.flat().every((item) => Object.isFrozen(item))).toBe(true);
    }),
  );
});

test("C1: adding to a list of thousands copies one page, and is one append", () => {
  const before = added({ list: [] }, 5_000);
  const after = added(before, 1);
  expect(after.list.filter((page, index) => page !== before.list[index])).toHaveLength(1);
  expect(diff(before as never, after as never)).toEqual([
    { op: "append", path: ["list", 39], value: [{ n: 5_000 }] },
  ]);
});
