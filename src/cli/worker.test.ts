/** What a worker says of itself to those who ask it: whether it is ready, and what it and the others have to do. */
import { expect, test } from "vitest";
import { workerName } from "../runtime/worker.ts";
import { memory } from "../store/memory/store.ts";
import { figuresOf, unready } from "./worker.ts";

const member = (worker: string, running: number, isLeaving = false) => ({
  ...{ epoch: running, worker, from: 0, until: 1_000, isLeaving, slots: 10, running, waiting: 1 },
});
const own = member(workerName("id"), 2);
const other = member("elsewhere 1 id", 5);
const runtimeWith = (...members: (typeof own)[]) => ({ members: () => members });
const answering = { store: async () => undefined };

test("it is ready while it is a member, or nobody is, and its store answers", async () => {
  expect(await unready(runtimeWith(own, other), answering, false)).toBeUndefined();
  expect(await unready(runtimeWith(), answering, false)).toBeUndefined();
  expect(await unready(runtimeWith(other), answering, false)).toBe("not a member");
  expect(await unready(runtimeWith(own), answering, true)).toBe("draining");
  expect(await unready(undefined, undefined, false)).toBe("no runtime is up");
  const away = { store: async () => "is away" };
  expect(await unready(runtimeWith(own), away, false)).toBe("the store is away");
});

test("its own load is told apart from the fleet's, and those who leave are no members", async () => {
  const store = memory();
  await store.open();
  const runtime = runtimeWith(own, other, member("leaving 1 id", 7, true));
  expect(await figuresOf(runtime, store, false)).toEqual({
    ...{ isUp: true, isDraining: false, members: 2, due: 0 },
    fleet: { slots: 20, running: 7, waiting: 2 },
    process: { slots: 10, running: 2, waiting: 1 },
  });
  expect(await figuresOf(undefined, undefined, true)).toMatchObject({
    ...{ isUp: false, isDraining: true, members: 0, due: undefined },
  });
});
