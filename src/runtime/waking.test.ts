/** Finding what is due: after a crash, for many runs at once, and in spite of runs that cannot be read. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../test/runtime/machines.ts";
import { onEveryStore } from "../../test/runtime/world.ts";
import { encode } from "../store/codec.ts";
import type { Problem } from "./runtime.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

onEveryStore((world) => {
  describe("what is due", () => {
    test("B4: is found after a crash for more runs than are looked for at a time", async () => {
      const { boot, crash, look, clock } = await world();
      const first = await boot([counter]);
      const names = numbers(2_500).map((n) => ({ tenant: "default", run: `run ${n}` }));
      await Promise.all(names.map(({ run }) => first.start(counter, { id: run })));
      await crash(first);
      const event = { subject: "s", priority: 0, at: clock.now(), bytes: encode({ type: "note", data: 1 }) };
      const store = await look();
      await store.enqueue(names.map((name) => ({ ...name, ...event, id: `event for ${name.run}` })));
      await boot([counter]);
      await clock.advance("1s");
      expect(await store.due(clock.now(), names.length)).toEqual([]);
      for (const name of names) expect((await store.readHead(name))?.seq).toBe(2);
    });

    test("B4: is taken up for other runs when the machine of one is not there, and that one is told of once", async () => {
      const { boot, crash, clock } = await world();
      const other = counterWith({ id: "other" });
      const first = await boot([counter, other]);
      await (await first.start(other, { id: "lost" })).send("nap");
      await (await first.start(counter, { id: "found" })).send("nap");
      await crash(first);
      await clock.advance("2m");
      const problems: Problem[] = [];
      const second = await boot([counter], { onProblem: (problem) => problems.push(problem) });
      await clock.advance("10s");
      expect(problems).toMatchObject([
        { tenant: "default", run: "lost", error: { code: "MACHINE_UNKNOWN" } },
      ]);
      expect((await (await second.run("found")).state()).configuration).toEqual(["open"]);
      await expect(second.run("lost")).rejects.toMatchObject({ code: "MACHINE_UNKNOWN" });
      const third = await second.start(counter, { id: "later" });
      await third.send("nap");
      await clock.advance("2m");
      await clock.advance("1s");
      expect((await third.state()).configuration).toEqual(["open"]);
      await crash(second);
      const mended = await (await boot([counter, other])).run("lost");
      await clock.advance(0);
      expect((await mended.state()).configuration).toEqual(["open"]);
    });

    test("B4: an activity of an older process is taken up at the start, without anybody asking for its run", async () => {
      const { boot, crash, clock, stored } = await world();
      const machine = callerWith();
      const first = await boot([{ machine, activities: { tool: () => new Promise(() => {}) } }]);
      await first.start(machine, { id: "a" });
      await clock.advance(0);
      await crash(first);
      await boot([{ machine, activities: { tool: () => "done" } }]);
      await clock.advance(0);
      expect((await stored("a")).head).toMatchObject({ seq: 2 });
    });

    test("A5: an event comes after an inbox that was empty could not be read, and is taken at once", async () => {
      const { boot, crash, watch, clock, rest, stored } = await world();
      const first = await boot([counter]);
      for (const id of ["a", "b"]) await first.start(counter, { id });
      await crash(first);
      const b = await (await boot([counter])).run("b");
      watch.fault = ({ verb }) => (verb === "readInbox" ? "after" : undefined);
      await b.send("tell", { run: "a", data: 1 });
      await rest();
      expect(watch.count("readInbox")).toBeGreaterThan(0);
      watch.fault = () => undefined;
      await clock.advance("10s");
      await b.send("tell", { run: "a", data: 2 });
      await rest();
      expect((await stored("a")).inbox).toEqual([]);
    });

    test("A5: an event that another process put into an inbox is taken, though nobody here was told of it", async () => {
      const { boot, clock, look } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const bytes = encode({ type: "note", data: 7 });
      const row = { tenant: "default", run: "a", subject: "s", priority: 0, at: clock.now(), bytes };
      await (await look()).enqueue([{ ...row, id: "0", key: "k" }]);
      await clock.advance("6s");
      expect(await run.state()).toMatchObject({ seq: 2, context: { log: [7] } });
    });

    test("is asked for rarely while nothing is due", async () => {
      const { boot, watch, clock } = await world();
      const runtime = await boot([counter]);
      await (await runtime.start(counter, { id: "a" })).send("nap");
      const before = watch.count("due");
      await clock.advance("100s");
      expect(watch.count("due") - before).toBeLessThanOrEqual(100 / 5 + 1);
    });
  });
});
