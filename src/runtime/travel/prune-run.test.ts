import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { decode } from "../../store/codec.ts";
import { hold, release } from "../housekeeping/hold.ts";
import { verify } from "../housekeeping/verify.ts";

onEveryStore((world) => {
  describe("a run that is pruned on demand", () => {
    test("B7: is as it was, and nobody reads or goes back to what was before", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a", input: 5 });
      await run.send("note", "the-secret");
      await run.send("add", 2, { key: "k" });
      await run.rollback({ to: 1 });
      await run.send("add", 2);
      const before = await run.state();
      const outcome = await run.prune();
      expect(outcome).toMatchObject({ outcome: "pruned" });
      const seq = outcome.outcome === "pruned" ? outcome.seq : 0;
      expect(await run.state()).toMatchObject({ context: before.context, configuration: ["open"] });
      expect((await listOf(run.journal())).map(({ event }) => event)).toMatchObject([
        { type: "prune", data: { upTo: seq } },
      ]);
      await expect(run.at(seq - 1)).rejects.toMatchObject({ code: "JOURNAL_PRUNED" });
      const again = run.send("add", 1, { key: "k" });
      await expect(again).rejects.toMatchObject({ code: "JOURNAL_PRUNED" });
      const store = await here.look();
      const rows: unknown[] = [];
      const [{ place } = { place: "" }] = await store.scan("run", { limit: 1 });
      for (const kind of ["entry", "snapshot"] as const)
        for (const { row } of await store.scan(kind, { of: place, limit: 1_000 }))
          rows.push(decode(row?.bytes as Uint8Array, kind));
      expect(rows.length).toBe(2);
      expect(JSON.stringify(rows)).not.toContain("the-secret");
      // It goes on, and may be pruned again.
      await run.send("add", 3);
      expect(await run.prune()).toMatchObject({ outcome: "pruned" });
      await here.crash(runtime);
      const next = await here.boot([counter]);
      expect((await (await next.run("a")).state()).context).toEqual({ n: 10, log: [] });
      await here.close(next);
      expect((await verify({ store })).problems).toEqual([]);
    });

    test("B7: is left alone while it is held, forked, parked, busy or has ended, and says so", async () => {
      const here = await world();
      const stuck = { machine: callerWith(), activities: { tool: () => new Promise(() => {}) } };
      const runtime = await here.boot([counter, stuck]);
      const store = await here.look();
      const run = await runtime.start(counter, { id: "a" });
      await run.send("add", 1);
      const kept = (why: string) => ({ outcome: "kept", why });
      await hold({ store, clock: here.clock }, { run: "a", reason: "case 1" });
      expect(await run.prune()).toEqual(kept("held"));
      await release({ store }, { run: "a" });
      await run.fork({ at: 1, id: "b" });
      expect(await run.prune()).toEqual(kept("forked"));
      const paused = await runtime.start(counter, { id: "c" });
      await paused.pause();
      expect(await paused.prune()).toEqual(kept("parked"));
      const busy = await runtime.start(stuck.machine, { id: "d" });
      expect(await busy.prune()).toEqual(kept("busy"));
      const over = await runtime.start(counter, { id: "e" });
      await over.send("end");
      expect(await over.prune()).toEqual(kept("ended"));
      expect((await listOf(run.journal())).map(({ seq }) => seq)).toEqual([1, 2]);
      const newest = await runtime.start(counter, { id: "f" });
      await newest.fork({ id: "g" });
      expect(await newest.prune()).toEqual(kept("forked"));
      expect((await newest.head()).seq, "nothing is done in vain").toBe(1);
    });

    test.each(["held", "held at the last moment", "forked", "busy"] as const)(
      "keeps what it was if it is %s while it is being pruned",
      async (what) => {
        const here = await world();
        const machine = callerWith();
        const activities = { tool: () => (isFirst ? "x" : new Promise<string>(() => {})) };
        let isFirst = true;
        const runtime = await here.boot([{ machine, activities }]);
        const run = await runtime.start(machine, { id: "a" });
        await run.waitFor("done");
        isFirst = false;
        const store = await here.look();
        let looks = 0;
        here.watch.alter = async ({ verb, given }, answer) => {
          const isLook =
            what === "held at the last moment" ? given[1] === "holdfast/holds" : verb === "readForks";
          if (!isLook || ++looks !== (what === "held at the last moment" ? 2 : 1)) return answer;
          if (what === "forked") await run.fork({ at: 1, id: "b" });
          else if (what === "busy") await run.send("again");
          else await hold({ store, clock: here.clock }, { run: "a", reason: "case 1" });
          return answer;
        };
        expect(await run.prune()).toEqual({ outcome: "kept", why: what.split(" ")[0] });
        expect((await here.stored("a")).journal[0]?.seq).toBe(1);
      },
    );

    test("is pruned although a fork came from it that stands on its own, and all its rows are deleted", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const adds = Array.from({ length: 250 }, () => ({ type: "add", data: 1 }));
      for (const { handled } of await run.sendAll(adds)) await handled();
      const twin = await run.fork({ id: "b" });
      const store = await here.look();
      const note = "n".repeat(limits.contentLengthMin - 1);
      do await twin.send("note", note);
      while ((await store.readForks({ tenant: "default", run: "a" })).some(({ stands }) => stands));
      expect(await run.prune()).toMatchObject({ outcome: "pruned" });
      expect(await store.sweep(1_000)).toBe(0);
      await here.crash(runtime);
      expect((await (await (await here.boot([counter])).run("b")).state()).context.n).toBe(250);
    });
  });
});
