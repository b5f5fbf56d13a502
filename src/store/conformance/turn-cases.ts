/** Turns of keys that members of a fleet share: how many there are, and who is next. For stores that are shared. */
import { memory } from "../memory/store.ts";
import type { Store } from "../store.ts";
import { createChance } from "./chance.ts";
import { idle, joined, shared } from "./fleet-cases.ts";
import { leaseMs, noon } from "./sample.ts";
import type { Cases } from "./world.ts";

/** Asks for turns of a key, and gives what there is to say. */
const turnsOf = (store: Store) => ({
  takeTurns: async (epoch: number, use: { key?: string; limit: number; held: number; wanted: number }) => {
    const turns = await shared(store).takeTurns([{ key: "k", ...use }], epoch);
    return turns?.flatMap(({ given, isWanted }) => [given, isWanted]);
  },
});

export const turnCases: Cases = {
  "a key has as many turns as its limit says, whoever has them, and given back they are free": async ({
    store,
    expect,
  }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const { takeTurns } = turnsOf(store);
    expect(await takeTurns(one, { limit: 3, held: 0, wanted: 2 })).toEqual([2, false]);
    expect(await takeTurns(other, { limit: 3, held: 0, wanted: 2 })).toEqual([1, false]);
    expect(await takeTurns(one, { limit: 3, held: 2, wanted: 1 })).toEqual([0, false]);
    expect(await takeTurns(one, { key: "another", limit: 1, held: 0, wanted: 1 })).toEqual([1, false]);
    // What it says it has is what it has: a turn it never heard of, since an answer was lost, is free again.
    expect(await takeTurns(one, { limit: 3, held: 1, wanted: 0 })).toEqual([0, true]);
    expect(await takeTurns(other, { limit: 3, held: 1, wanted: 1 })).toEqual([1, false]);
    const uses = [
      { key: "k", limit: 3, held: 0, wanted: 0 },
      { key: "k", limit: 3, held: 0, wanted: 1 },
      { key: "new", limit: 1, held: 0, wanted: 5 },
    ];
    expect(await shared(store).takeTurns(uses, one)).toEqual([
      { given: 0, isWanted: false },
      { given: 1, isWanted: false },
      { given: 1, isWanted: false },
    ]);
    expect(await shared(store).takeTurns([], one)).toEqual([]);
  },

  "turns go to whoever has waited longest, one each": async ({ store, expect }) => {
    const epochs = [await joined(store, "a"), await joined(store, "b"), await joined(store, "c")];
    const [a, b, c] = epochs as [number, number, number];
    const { takeTurns } = turnsOf(store);
    const many = { limit: 2, held: 0, wanted: 9 };
    expect(await takeTurns(a, many)).toEqual([2, false]);
    expect(await takeTurns(b, many)).toEqual([0, false]);
    expect(await takeTurns(c, many)).toEqual([0, false]);
    // It wants more as well, and comes after them.
    expect(await takeTurns(a, { ...many, held: 0 })).toEqual([0, true]);
    expect(await takeTurns(c, many)).toEqual([1, true]);
    expect(await takeTurns(b, many)).toEqual([1, false]);
    expect(await takeTurns(b, many)).toEqual([0, true]);
    expect(await takeTurns(c, { ...many, held: 1 })).toEqual([0, true]);
    expect(await takeTurns(a, many)).toEqual([1, false]);
    // Who does not wait any more is not waited for.
    expect(await takeTurns(a, { ...many, wanted: 0 })).toEqual([0, true]);
    expect(await takeTurns(c, { ...many, held: 1, wanted: 0 })).toEqual([0, true]);
    expect(await takeTurns(b, { ...many, held: 1 })).toEqual([0, false]);
    expect(await takeTurns(c, { ...many, held: 0, wanted: 0 })).toEqual([0, true]);
    expect(await takeTurns(a, { ...many, wanted: 1 })).toEqual([0, true]);
    expect(await takeTurns(b, many)).toEqual([1, true]);
    expect(await takeTurns(a, { ...many, wanted: 1 })).toEqual([1, false]);
  },

  "of several limits of a key all count, and each keeps to its own": async ({ store, expect }) => {
    const [one, other] = [await joined(store, "a"), await joined(store, "b")];
    const { takeTurns } = turnsOf(store);
    expect(await takeTurns(one, { limit: 3, held: 0, wanted: 1 })).toEqual([1, false]);
    expect(await takeTurns(one, { limit: 1, held: 0, wanted: 1 })).toEqual([0, false]);
    expect(await takeTurns(other, { limit: 1, held: 0, wanted: 1 })).toEqual([0, false]);
    // A stricter one that waits holds up nobody while it could not begin anyway.
    expect(await takeTurns(other, { limit: 3, held: 0, wanted: 1 })).toEqual([1, false]);
    expect(await takeTurns(one, { limit: 3, held: 0, wanted: 0 })).toEqual([0, false]);
    expect(await takeTurns(other, { limit: 3, held: 0, wanted: 3 })).toEqual([1, false]);
    expect(await takeTurns(other, { limit: 3, held: 0, wanted: 0 })).toEqual([0, true]);
    expect(await takeTurns(other, { limit: 1, held: 0, wanted: 1 })).toEqual([0, true]);
    expect(await takeTurns(one, { limit: 1, held: 0, wanted: 1 })).toEqual([1, false]);
  },

  "any sequence of uses gets the turns that the memory store gives": async ({ store, expect }) => {
    const chance = createChance(1);
    const model = shared(memory({ shared: true }));
    const epochs: number[] = [];
    for (const worker of ["a", "b", "c"]) {
      epochs.push(await joined(store, worker));
      await model.join(worker, leaseMs, noon);
    }
    for (let round = 0; round < 150; round++) {
      const epoch = chance.pick(epochs);
      const uses = Array.from({ length: 1 + chance.below(3) }, () => ({
        ...{ key: chance.pick(["k", "l"]), limit: chance.pick([1, 3, 3]) },
        ...{ held: chance.below(2), wanted: chance.below(4) },
      }));
      expect([round, await shared(store).takeTurns(uses, epoch)]).toEqual([
        round,
        await model.takeTurns(uses, epoch),
      ]);
    }
  },

  "F1: whoever is no member has no turns and gets none, and nobody waits for it": async ({
    store,
    expect,
  }) => {
    const epochs = [await joined(store, "a"), await joined(store, "b"), await joined(store, "c")];
    const [a, b, c] = epochs as [number, number, number];
    const { takeTurns } = turnsOf(store);
    const use = { limit: 1, held: 0, wanted: 1 };
    expect(await takeTurns(a, use)).toEqual([1, false]);
    expect(await takeTurns(b, use)).toEqual([0, false]);
    expect(await takeTurns(c, use)).toEqual([0, false]);
    await shared(store).leave(b, noon);
    expect(await takeTurns(b, use)).toEqual(undefined);
    expect(await takeTurns(c, use)).toEqual([0, false]);
    // It is put out, and then its turn is free.
    await shared(store).beat(c, leaseMs, idle, noon + leaseMs - 1);
    expect(await takeTurns(c, use)).toEqual([0, false]);
    await shared(store).beat(c, leaseMs, idle, noon + leaseMs);
    expect(await takeTurns(c, use)).toEqual([1, false]);
    expect(await takeTurns(a, { ...use, held: 1 })).toEqual(undefined);
    // Nor has an owner of the whole store any, or whoever was a member before.
    await shared(store).leave(c, noon);
    const lease = await store.own("tool", leaseMs, noon + leaseMs);
    expect(await takeTurns(lease.epoch, use)).toEqual(undefined);
    await store.release("tool", lease.epoch, noon + leaseMs);
    expect(await takeTurns(await joined(store, "d"), use)).toEqual([1, false]);
  },
};
