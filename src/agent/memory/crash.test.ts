/** Memories whose process dies: at every call of the store, with a real index beside it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Activity } from "../../runtime/activity/attempt.ts";
import { sqlite } from "../../store/sqlite/store.ts";
import { harness } from "../../testing/index.ts";
import { defineMemory } from "./define-memory.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-memory-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const says = (text: string, message: string) => ({
  subject: "Ada",
  text,
  source: { trust: "trusted", message },
});

test("C7: a crash at any moment loses no fact, and leaves no word in the index of what was forgotten", async () => {
  let worlds = 0;
  const pathOf = (world: string) => join(folder, world);
  const open = (world: string) => sqlite(pathOf(world), { synchronous: "normal" });
  const indexes: ReturnType<typeof open>[] = [];
  /** The activities of a world's own memory: each world has an index in its own store. */
  const scripts = (): Record<string, Activity> => {
    const store = open(`world-${++worlds}`);
    indexes.push(store);
    const { activities } = defineMemory({ id: "memory", search: store });
    const opened = (code: Activity): Activity =>
      (async (input: never, scope: never) => {
        await store.open();
        return code(input, scope);
      }) as Activity;
    return Object.fromEntries(Object.entries(activities).map(([name, code]) => [name, opened(code)]));
  };
  const kind = defineMemory({ id: "memory", search: open("none") });
  const it = await harness(kind.machine, scripts as never, { store: open });
  await it.start();
  await it.send("remember", says("Ada plays the theremin.", "m1") as never);
  await it.send("remember", says("Ada plays the lute.", "m2") as never);
  await it.send("forget", { message: "m1" } as never);
  await it.send("remember", says("Ada plays the flute.", "m3") as never);
  const check = async (world: typeof it) => {
    const { context } = world.state;
    const store = indexes.at(-1) as ReturnType<typeof open>;
    const words = ["theremin", "lute", "flute", "plays"];
    const { ids, mark } = await store.search.findWords({ tenant: "default", run: "memory" }, words, 9);
    expect([[...ids].sort(), mark]).toEqual([["f2", "f3"], context.index.mark]);
    expect(context.memory.facts.map(({ text }) => text)).toEqual([
      ...["", "Ada plays the lute.", "Ada plays the flute."],
    ]);
    await store.close();
  };
  await check(it);
  const { tried } = await it.crashEverywhere({ points: 60, check });
  expect(tried).toBeGreaterThan(20);
  await it.close();
});
