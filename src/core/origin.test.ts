import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { produce } from "./draft.ts";
import type { Json } from "./json.ts";
import { sameItems } from "./origin.ts";
import { apply, diff } from "./patch.ts";

interface Context {
  readonly list: readonly Json[];
}
type Recipe = (draft: { list: Json[] }) => unknown;

const long = (length: number): Context => ({ list: Array.from({ length }, (_, index) => ({ index })) });
const changed = (context: Context, ...recipes: readonly Recipe[]): Context =>
  recipes.reduce((now, recipe) => produce(now, recipe as (draft: never) => unknown, undefined), context);

const place = fc.nat(350);
const recipe = fc.oneof(
  fc.constant<Recipe>(({ list }) => list.push("more")),
  place.map<Recipe>(
    (at) =>
      ({ list }) =>
        list.splice(at, 2),
  ),
  place.map<Recipe>(
    (at) =>
      ({ list }) =>
        list.splice(at, 0, "between"),
  ),
  place.map<Recipe>((at) => ({ list }) => {
    if (at < list.length) list[at] = { index: -at };
  }),
  place.map<Recipe>((at) => ({ list }) => {
    const item = list[at];
    if (typeof item === "object" && item !== null) (item as { touched?: boolean }).touched = true;
  }),
  place.map<Recipe>((at) => ({ list }) => {
    list.length = Math.max(Math.min(260, list.length), list.length - at);
  }),
  fc.constant<Recipe>(({ list }) => list.shift()),
  fc.constant<Recipe>(({ list }) => list.reverse()),
  fc.constant<Recipe>((draft) => {
    draft.list = draft.list.filter((_, index) => index % 7 > 0);
  }),
);

describe("where a long list came from", () => {
  test("whatever recipes do to one, what is known of it is so, and its difference is the whole of it", () => {
    fc.assert(
      fc.property(fc.array(recipe, { maxLength: 12 }), (recipes) => {
        const before = long(300);
        const now = changed(before, ...recipes);
        const same = sameItems(before.list, now.list);
        expect(now.list.slice(0, same)).toEqual(before.list.slice(0, same));
        expect(apply(before as never, diff(before as never, now as never))).toEqual(now);
      }),
      { numRuns: 300 },
    );
  });

  test("to find what was added to it costs what was added", () => {
    let reads = 0;
    const counting: ProxyHandler<Json[]> = {
      get: (target, key) => {
        reads++;
        return Reflect.get(target, key);
      },
    };
    const before = { list: new Proxy([...long(10_000).list], counting) };
    const now = changed(
      before,
      ({ list }) => list.push(1),
      ({ list }) => list.push(2),
    );
    reads = 0;
    expect(diff(before as never, now as never)).toEqual([{ op: "append", path: ["list"], value: [1, 2] }]);
    expect(reads).toBeLessThan(20);
  });

  test("of lists that have nothing to do with each other nothing is known", () => {
    const [one, other] = [long(300), long(300)];
    const now = changed(one, ({ list }) => list.push(1));
    expect(sameItems(one.list, now.list)).toBe(300);
    expect(sameItems(other.list, now.list)).toBe(0);
    expect(sameItems(now.list, one.list)).toBe(0);
    expect(sameItems(long(10).list, changed(long(10), ({ list }) => list.push(1)).list)).toBe(0);
  });
});
