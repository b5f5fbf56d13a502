/** Search by words, for stores that have it: what is found, what a late writer can do, and what goes when. */
import { type Search, type SearchingStore, searchOf, type WordsChange } from "../search.ts";
import { createChance } from "./chance.ts";
import { begun, commitOn, committed, firstCommit, noon, sample, tenant } from "./sample.ts";
import type { Cases, World } from "./world.ts";

const change = (given: Partial<WordsChange>): WordsChange => ({
  ...{ expect: 0, mark: 1, put: [], remove: [] },
  ...given,
});

const first = change({
  put: [
    { id: "f1", words: ["ada", "lives", "in", "paris"] },
    { id: "f2", words: ["ada", "plays", "the", "theremin"] },
  ],
});

/** What is found, in order. */
async function found(search: Search, words: readonly string[], limit = 10) {
  const { ids, ...rest } = await search.findWords(sample, words, limit);
  return { ...rest, ids: [...ids].sort() };
}

async function searched({ store }: World) {
  const started = await begun(store);
  return { ...started, search: searchOf(store) as Search };
}

export const searchCases: Cases = {
  "finds texts that have one of the words, and says when there are more": async (world) => {
    const { search } = await searched(world);
    const { expect } = world;
    expect(await found(search, ["paris"])).toEqual({ mark: 0, ids: [], isCut: false });
    expect(await search.writeWords(sample, first)).toEqual("written");
    expect(await found(search, ["paris"])).toEqual({ mark: 1, ids: ["f1"], isCut: false });
    expect(await found(search, ["rome", "theremin", "lives"])).toEqual({
      ...{ mark: 1, ids: ["f1", "f2"], isCut: false },
    });
    expect(await found(search, [])).toEqual({ mark: 1, ids: [], isCut: false });
    expect((await search.findWords(sample, ["ada"], 1)).isCut).toEqual(true);
    expect((await search.findWords(sample, ["ada"], 2)).isCut).toEqual(false);
  },

  "takes words of every script as they are, however long": async (world) => {
    const { search } = await searched(world);
    const words = [
      "grüße",
      "東京",
      "οδός",
      "шум",
      "𞤀𞤣",
      "١٢",
      "o",
      "or",
      "and",
      "not",
      "near",
      "x".repeat(3_000),
    ];
    const put = words.map((word, index) => ({ id: `f${index}`, words: [word] }));
    await search.writeWords(sample, change({ put }));
    for (const [index, word] of words.entries())
      world.expect(await found(search, [word]), word).toEqual({ mark: 1, ids: [`f${index}`], isCut: false });
  },

  "X2: whoever saw another mark changes nothing, and a repeat is answered as the first": async (world) => {
    const { search } = await searched(world);
    const { expect } = world;
    await search.writeWords(sample, first);
    const second = change({ expect: 1, mark: 4, put: [{ id: "f1", words: ["rome"] }], remove: ["f2"] });
    expect(await search.writeWords(sample, second)).toEqual("written");
    expect(await search.writeWords(sample, second)).toEqual("written");
    expect(await search.writeWords(sample, first)).toEqual("stale");
    expect(await search.writeWords(sample, change({ expect: 1, mark: 5 }))).toEqual("stale");
    expect(await search.writeWords(sample, { ...first, expect: undefined, mark: 3 })).toEqual("stale");
    expect(await found(search, ["paris", "theremin", "rome"])).toEqual({
      mark: 4,
      ids: ["f1"],
      isCut: false,
    });
    expect(await search.writeWords(sample, { ...first, expect: undefined, mark: 6 })).toEqual("written");
    expect(await found(search, ["paris", "theremin", "rome"])).toEqual({
      ...{ mark: 6, ids: ["f1", "f2"], isCut: false },
    });
  },

  "X1: there is none for a run that is not there, and none is written for one that has ended": async (
    world,
  ) => {
    const { search, epoch, head } = await searched(world);
    const { store, expect } = world;
    expect(await search.writeWords({ tenant, run: "nobody" }, first)).toEqual("missing");
    const parked = await committed(store, commitOn(head, epoch, { head: { status: "parked" } }));
    expect(await search.writeWords(sample, first), "it may go on").toEqual("written");
    await committed(store, commitOn(parked, epoch, { head: { status: "done", completedAt: noon } }));
    expect(await search.writeWords(sample, change({ expect: undefined, mark: 9 }))).toEqual("missing");
    await store.removeRuns([sample], epoch);
    while ((await store.sweep(3)) > 0);
    await committed(store, firstCommit(sample.run, epoch));
    expect(await found(search, ["ada"])).toEqual({ mark: 0, ids: [], isCut: false });
  },

  "I5: runs have indexes of their own, whatever their tenants and names": async (world) => {
    const { search, epoch } = await searched(world);
    const { store, expect } = world;
    const other = { tenant: "other", run: sample.run };
    await committed(store, firstCommit(sample.run, epoch, { head: { tenant: "other" } }));
    await search.writeWords(sample, first);
    await search.writeWords(other, change({ mark: 7, put: [{ id: "f1", words: ["oslo"] }] }));
    expect(await found(search, ["oslo"])).toEqual({ mark: 1, ids: [], isCut: false });
    expect(await search.findWords(other, ["oslo", "ada", "paris"], 9)).toEqual({
      ...{ mark: 7, ids: ["f1"], isCut: false },
    });
  },

  "finds after any changes what a search through all texts finds": async (world) => {
    const { search } = await searched(world);
    const chance = createChance(1);
    const texts = new Map<string, readonly string[]>();
    const id = () => `f${chance.below(40)}`;
    const word = () => `w${chance.below(30)}`;
    const some = <Item>(most: number, make: () => Item) => Array.from({ length: chance.below(most) }, make);
    for (let mark = 1; mark <= 80; mark++) {
      const put = new Map(some(4, () => [id(), [word(), ...some(6, word)]] as const));
      const remove = some(3, id).filter((gone) => !put.has(gone));
      for (const gone of remove) texts.delete(gone);
      for (const [one, words] of put) texts.set(one, words);
      const rows = [...put].map(([one, words]) => ({ id: one, words }));
      const outcome = await search.writeWords(sample, { expect: mark - 1, mark, put: rows, remove });
      world.expect(outcome).toEqual("written");
      const asked = [word(), word()];
      const has = ([, words]: readonly [string, readonly string[]]) =>
        asked.some((one) => words.includes(one));
      const ids = [...texts].filter(has).map(([one]) => one);
      world.expect(await found(search, asked, 99)).toEqual({ mark, ids: ids.sort(), isCut: false });
    }
  },

  "is there again when the store is opened again": async (world) => {
    const { search } = await searched(world);
    await search.writeWords(sample, first);
    const { search: again } = (await world.reopen()) as SearchingStore;
    world.expect(await found(again, ["paris"])).toEqual({ mark: 1, ids: ["f1"], isCut: false });
  },
};
