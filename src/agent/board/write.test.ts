/** Writing to a board, against a model of it that is too simple to be wrong. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "../../core/json.ts";
import { limits } from "../../limits.ts";
import { keyOf, type Policy } from "./keys.ts";
import { emptyBoard } from "./state.ts";
import { decide, remove, write } from "./write.ts";

const policies: Readonly<Record<string, Policy>> = {
  reject: "reject",
  last: "last-write",
  sum: { merge: "sum" },
  review: "review",
};
const own = { sum: (current: Json, yours: Json) => Number(current) + Number(yours) };
const keys = Object.fromEntries(
  Object.entries(policies).map(([name, policy]) => [name, keyOf(name, { policy }, own)]),
);
const asker = { by: "ada", at: 1, to: undefined };

const act = fc.record({
  name: fc.constantFrom(...Object.keys(policies)),
  what: fc.constantFrom("write", "write", "write", "remove"),
  value: fc.integer({ min: 1, max: 9 }),
  /** How many versions ago it looked; nothing if it names none. */
  ago: fc.option(fc.nat(2)),
});

test("C8: a write takes effect at the version it is for, by its policy at another, and no version comes twice", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
      const board = emptyBoard();
      const seen = new Set<number>();
      for (const { name, what, value, ago } of acts) {
        const key = keys[name] as ReturnType<typeof keyOf>;
        const before = structuredClone(board);
        const { version = 0, value: old } = before.entries[name] ?? {};
        const aim = ago === null ? {} : { ifVersion: Math.max(0, version - ago) };
        const isFor = (aim.ifVersion ?? 0) === version;
        const outcome =
          what === "remove"
            ? remove(board, key, { key: name, ...aim }, asker)
            : write(board, key, { key: name, value, ...aim }, asker, before);
        const blind = ago === null && (name === "last" || (name === "sum" && what === "remove"));
        if (isFor || blind || (name === "sum" && what === "write")) {
          const merged = !isFor && name === "sum" ? Number(old) + value : value;
          expect(board.entries[name]?.value).toBe(what === "remove" ? undefined : merged);
          expect(outcome.outcome).toBe(what === "remove" ? "removed" : "written");
        } else {
          expect(board.entries).toEqual(before.entries);
          expect(outcome.outcome).toBe(name === "review" && what === "write" ? "in review" : "conflict");
        }
        const made = board.entries[name]?.version ?? 0;
        if (made !== version && made !== 0) expect(seen.has(made)).toBe(false);
        seen.add(made);
      }
    }),
  );
});

test("C8: a review that waited since before versions were kept with it is held to the time it came", () => {
  const board = emptyBoard();
  const key = keys.review as never;
  const put = (value: number, at: number, ifVersion?: number) =>
    write(
      board,
      key,
      { key: "review", value, ...(ifVersion === undefined ? {} : { ifVersion }) },
      { ...asker, at },
      structuredClone(board),
    );
  put(1, 1);
  for (const [value, at] of [
    [2, 5],
    [3, 6],
  ] as const) {
    put(value, at);
    delete board.reviews.at(-1)?.stood;
  }
  const bob = { by: "bob", at: 9, to: undefined };
  const accept = (id: string) => decide(board, { id, decision: "accept" }, () => key, bob);
  expect(accept("review-1")).toMatchObject({ outcome: "written", value: 2 });
  expect(accept("review-2")).toMatchObject({ outcome: "conflict", current: 2, version: 2, yours: 3 });
});

test("a board keeps as many writes for review as one may", () => {
  const board = emptyBoard();
  const put = (value: number) =>
    write(board, keys.review as never, { key: "review", value }, asker, structuredClone(board));
  for (let count = 0; count <= limits.boardReviewsMax; count++) put(count);
  expect(board.reviews.length).toBe(limits.boardReviewsMax);
  expect(() => put(0)).toThrow(`${limits.boardReviewsMax} writes wait for a review already`);
  decide(board, { id: "review-1", decision: "reject" }, () => keys.review as never, asker);
  expect(put(0)).toEqual({ outcome: "in review", id: `review-${limits.boardReviewsMax + 1}` });
});
