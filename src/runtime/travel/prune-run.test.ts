import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
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
    });
  });
});
