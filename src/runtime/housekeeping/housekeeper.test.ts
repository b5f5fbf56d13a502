/** The housekeeper of a runtime: all of its plan, at its times, one thing after the other, until it is closed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Store } from "../../store/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { noSeal } from "../seal.ts";
import { Housekeeper, type HousekeepingPlan, type HousekeepingWorld } from "./housekeeper.ts";

/** Short where a whole runtime looks at its clock every few seconds. */
const minute = 60_000;
const hour = 60 * minute;

onEveryStore((world) => {
  test("a runtime prunes the runs of the tenants it is to, also where that is all it has to do", async () => {
    const here = await world();
    const housekeeping = { every: minute, prune: [{ olderThan: minute }], tenants: ["globex"] };
    const runtime = await here.boot([counter], { housekeeping });
    const note = "n".repeat(limits.contentLengthMin - 1);
    for (const tenant of ["globex", "initech"]) {
      const run = await runtime.start(counter, { id: "a", tenant });
      do await run.send("note", note);
      while ((await run.head()).snapshotSeq === 0);
      await run.send("add", 1);
    }
    await here.clock.advance(2.5 * minute);
    const pruned = await here.stored("a", "globex");
    expect(pruned.journal[0]?.seq).toBe((pruned.head?.snapshotSeq as number) + 1);
    expect((await here.stored("a", "initech")).journal[0]?.seq).toBe(1);
    expect(await (await here.look()).sweep(1_000), "what was pruned is deleted as well").toBe(0);
  });

  test("a runtime tells what its housekeeper could not do, which does it at its next time", async () => {
    const here = await world();
    const problems: unknown[] = [];
    const runtime = await here.boot([counter], {
      housekeeping: { every: minute, retain: [{ olderThan: 1 }] },
      onProblem: (problem) => void problems.push(problem),
    });
    await (await runtime.start(counter, { id: "a" })).send("end");
    here.watch.failNext("removeRuns", "before");
    await here.clock.advance(1.5 * minute);
    expect(problems).toMatchObject([{ run: "housekeeping", error: { code: "STORE_UNAVAILABLE" } }]);
    expect((await here.stored("a")).head).toBeDefined();
    await here.clock.advance(minute);
    expect([(await here.stored("a")).head, problems.length]).toEqual([undefined, 1]);
  });
});

describe("a housekeeper", () => {
  /** One whose store holds nothing, and what it has asked of it and told. */
  function keeperWith(plan: HousekeepingPlan, parts: Partial<HousekeepingWorld> = {}) {
    const calls: string[] = [];
    const problems: unknown[] = [];
    const under = { wait: async () => {}, now: 0, most: 0, swept: 0 };
    const store = new Proxy({} as Store, {
      get: (_, verb: string) => async () => {
        calls.push(verb);
        under.most = Math.max(under.most, ++under.now);
        await under.wait();
        under.now--;
        if (verb === "backup") throw new HoldfastError("STORE_UNAVAILABLE", "There is no room");
        return verb === "sweep" ? under.swept : [];
      },
    });
    const rest = async () => {
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    };
    const clock = new VirtualClock(Date.UTC(2027, 0, 1, 12, 30), rest);
    const told = { problem: (error: unknown) => void problems.push(error) };
    const world = { store, clock, seal: noSeal, epoch: () => 1, runtime: {} as never, ...told, ...parts };
    const keeper = new Housekeeper(world, plan);
    onTestFinished(() => keeper.close());
    return { keeper, calls, problems, clock, under, rest };
  }

  test("leaves rules and backups to another process while they are for that to see to", async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-keeper-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    let isOurs = false;
    const backup = { directory, open: () => ({}) as Store, cron: "0 * * * *" };
    const plan = { retain: [{ keep: 0 }], backup };
    const { keeper, calls, problems, clock } = keeperWith(plan, { isOurs: () => isOurs });
    keeper.start();
    await clock.advance(3 * hour);
    expect([calls, problems]).toEqual([[], []]);
    isOurs = true;
    await clock.advance(hour);
    expect(calls.filter((verb) => verb === "findRuns" || verb === "backup").toSorted()).toEqual([
      "backup",
      "findRuns",
      "findRuns",
      "findRuns",
    ]);
    expect(problems).toMatchObject([{ code: "STORE_UNAVAILABLE" }]);
    // A backup that failed is tried again at its next time.
    await clock.advance(hour);
    expect(calls.filter((verb) => verb === "backup").length).toBe(2);
  });

  test("does one thing after the other", async () => {
    const { keeper, clock, under, rest } = keeperWith({ retain: [{ keep: 0 }] });
    let go = () => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    under.wait = () => gate;
    keeper.start();
    await clock.advance(1);
    const asked = keeper.tidy();
    await rest();
    go();
    expect(await asked).toMatchObject({ removed: [], swept: 0 });
    expect(under.most).toBe(1);
  });

  test("that is closed lets what is under way come to its end, and does and tells no more", async () => {
    const { keeper, calls, problems, clock, under, rest } = keeperWith({ retain: [{ keep: 0 }] });
    let fail = (_: Error) => {};
    const gate = new Promise<void>((_, reject) => {
      fail = reject;
    });
    under.wait = () => gate;
    keeper.start();
    await clock.advance(1);
    let isClosed = false;
    const closing = keeper.close().then(() => {
      isClosed = true;
    });
    await rest();
    expect([calls.length, isClosed]).toEqual([1, false]);
    fail(new Error("too late"));
    await closing;
    await clock.advance(10 * hour);
    expect([calls.length, problems]).toEqual([1, []]);
  });

  test("that is closed between its times does nothing when they come, and deletes no more", async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-keeper-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    // Half past noon in UTC is half past six in the evening there, so that no backup is due before seven.
    const backup = { directory, open: () => ({}) as Store, cron: "0 19 * * *", timezone: "Asia/Dhaka" };
    const { keeper, calls, clock, under } = keeperWith({ retain: [{ keep: 0 }], backup });
    keeper.start();
    await clock.advance(minute);
    const isCopied = () => calls.includes("backup");
    expect(isCopied(), "the one of yesterday is made up for").toBe(true);
    calls.length = 0;
    await clock.advance(hour / 2);
    expect(isCopied()).toBe(true);
    under.swept = 1;
    const endless = keeper.tidy();
    await clock.advance(minute);
    const closing = keeper.close();
    await clock.advance(minute);
    await closing;
    expect((await endless).swept).toBeGreaterThan(1);
    calls.length = 0;
    await clock.advance(30 * hour);
    expect(calls).toEqual([]);
  });
});
