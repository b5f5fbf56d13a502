/** Ownership: one process steps the runs of a store, and one that lost the right can no longer write. */
import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../test/runtime/world.ts";

const owned = { code: "STORE_OWNED" };

/** Takes the right from whoever has it, as if its process had been thought dead. */
async function takeAway({ look, clock }: World): Promise<void> {
  const store = await look();
  const lease = await store.own("somebody", 1, clock.now());
  if (lease.outcome === "taken") await store.release(lease.owner, lease.epoch, undefined);
}

onEveryStore((world) => {
  describe("a process whose runs another one owns now", () => {
    test("B4: a process whose runs another one owns now tells its senders, writes nothing more, and the runs go on in the other one", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      const run = await first.start(counter, { id: "a" });
      await run.send("note", "before");
      await takeAway(here);
      const second = await here.boot([counter]);
      const there = await second.run("a");
      await there.send("note", "there");
      const before = await here.stored("a");
      await expect(run.send("note", "late")).rejects.toMatchObject(owned);
      for (const call of [run.send("note", "later"), run.state(), first.start(counter, { id: "b" })])
        await expect(call).rejects.toMatchObject(owned);
      expect(await here.stored("a")).toEqual(before);
      expect((await here.stored("b")).head).toBeUndefined();
      await there.send("note", "after");
      expect((await there.state()).context).toMatchObject({ log: ["before", "there", "after"] });
    });

    test("B4: a process whose runs another one owns now finds out by itself when it renews its lease, and tells whoever waits", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      const run = await first.start(counter, { id: "a" });
      const finished = expect(run.finished()).rejects.toMatchObject(owned);
      await takeAway(here);
      await here.boot([counter]);
      await here.clock.advance("10s");
      await finished;
      await expect(first.run("a")).rejects.toMatchObject(owned);
    });

    test("B12: a process whose runs another one owns now cannot settle its activities any more", async () => {
      const here = await world();
      const machine = callerWith();
      const ends: ((value: string) => void)[] = [];
      const tool = () => new Promise((resolve) => void ends.push(resolve));
      const entry = { machine, activities: { tool } };
      const first = await here.boot([entry]);
      await first.start(machine, { id: "a" });
      await here.rest();
      await takeAway(here);
      const run = await (await here.boot([entry])).run("a");
      await here.rest();
      expect(ends.length).toBe(2);
      ends[0]?.("stale");
      await here.rest();
      expect((await run.state()).configuration).toEqual(["calling"]);
      ends[1]?.("fresh");
      await run.waitFor("done");
      expect((await run.state()).context).toEqual({ got: "fresh" });
      expect((await run.head()).seq).toBe(2);
    });
  });
});
