/** Clocks that are set while runs wait: forward, back, and by years, on both stores. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { Watch } from "../../test/runtime/watched-store.ts";
import { defineMachine } from "../index.ts";
import { memory } from "../store/memory/store.ts";
import { sqlite } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import { VirtualClock } from "../testing/virtual-clock.ts";
import type { Activity, ActivityScope } from "./activity/attempt.ts";
import { createRuntime, type Runtime } from "./runtime.ts";

const tenYears = 10 * 365 * 86_400_000;
const napper = defineMachine({
  id: "napper",
  initial: "awake",
  states: {
    awake: { on: { nap: "asleep", doze: "dozing", wink: "winking" } },
    winking: { after: { "1s": "awake" } },
    asleep: { after: { "1m": "awake" } },
    dozing: { after: { "1m": { target: "awake", resume: "remaining" } } },
  },
});

const caller = defineMachine({
  id: "caller",
  initial: "calling",
  states: { calling: { invoke: { activity: "tool", retry: { attempts: 2 }, onDone: "done" } }, done: {} },
});

const folder = mkdtempSync(join(tmpdir(), "holdfast-jumps-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const stores: Readonly<Record<string, () => Store>> = {
  memory,
  SQLite: () => sqlite(join(folder, `${files++}.db`)),
};

describe.each(Object.keys(stores))("on %s", (kind) => {
  const boot = async (name: string) => {
    const clock = new VirtualClock(Date.UTC(2026, 10, 16, 12));
    const store = (stores[kind] as () => Store)();
    const watch = new Watch();
    const reboot = async (before?: Runtime, tool: Activity = () => null) => {
      await before?.close();
      const watched = watch.over(store, { dead: false });
      return createRuntime({
        store: watched,
        clock,
        machines: [napper, { machine: caller, activities: { tool } }],
      });
    };
    const runtime = await reboot();
    const run = await runtime.start(napper, { id: name });
    await run.send("nap");
    const where = async () => (await run.state()).configuration;
    const fail = (fails: boolean) => {
      watch.fault = ({ verb }) => (fails && verb === "commit" ? "before" : undefined);
    };
    return { clock, runtime, run, where, reboot, fail };
  };

  test("B11: a clock set forward makes due what lies in between, and the runtime goes on", async () => {
    const { clock, runtime, where, run } = await boot("forward");
    clock.jump(tenYears);
    await clock.advance("6s");
    expect(await where()).toEqual(["awake"]);
    await run.send("nap");
    await clock.advance("50s");
    expect(await where()).toEqual(["asleep"]);
    await clock.advance("11s");
    expect(await where()).toEqual(["awake"]);
    await runtime.close();
  });

  test("B11: a clock set back makes a timer wait until it shows that time, and the runtime goes on", async () => {
    const { clock, runtime, where, run } = await boot("back");
    clock.jump(-tenYears);
    await clock.advance("2m");
    expect(await where()).toEqual(["asleep"]);
    clock.jump(tenYears);
    await clock.advance("6s");
    expect(await where()).toEqual(["awake"]);
    await run.send("nap");
    await runtime.close();
  });

  test("B11: a clock set back while a store that failed is left alone makes no timer wait for its old time", async () => {
    const { clock, runtime, run, fail } = await boot("paused");
    await clock.advance("61s");
    fail(true);
    await expect(run.send("nap")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    fail(false);
    clock.jump(-tenYears);
    await clock.advance("6s");
    // It is due between two looks, so only the alarm is in time.
    await run.send("wink");
    await clock.advance("2s");
    expect((await run.state()).configuration).toEqual(["awake"]);
    await runtime.close();
  });

  test("an outage that a wrong clock noted does not hold up timers once the clock is right", async () => {
    const { clock, runtime, reboot } = await boot("outage");
    await runtime.close();
    clock.jump(tenYears);
    const second = await reboot();
    clock.jump(-tenYears);
    const run = await second.start(napper, { id: "later" });
    await run.send("doze");
    await clock.advance("1m");
    expect((await run.state()).configuration).toEqual(["awake"]);
    await run.send("doze");
    const third = await reboot(second);
    await clock.advance("1m");
    expect((await (await third.run("later")).state()).configuration).toEqual(["awake"]);
    await third.close();
  });

  test("an activity that failed when the clock was years ahead waits no longer than any retry", async () => {
    const { clock, runtime, reboot } = await boot("retry");
    clock.jump(tenYears);
    const tool = ({ attempt }: ActivityScope) => {
      if (attempt === 1) throw new Error("busy");
      return "done";
    };
    const code: Activity = (_: never, scope) => tool(scope);
    const second = await reboot(runtime, code);
    const run = await second.start(caller, { id: "failing" });
    await clock.advance(0);
    await second.close();
    clock.jump(-tenYears);
    const third = await reboot(undefined, code);
    await clock.advance("1m");
    expect((await (await third.run(run.id)).state()).configuration).toEqual(["done"]);
    await third.close();
  });

  test("an activity that was begun when the clock was years ahead is run at once by whoever comes next", async () => {
    const { clock, runtime, reboot } = await boot("activity");
    clock.jump(tenYears);
    let calls = 0;
    const tool = () => (++calls === 1 ? new Promise(() => {}) : "done");
    await runtime.close();
    const second = await reboot(undefined, tool);
    await second.start(caller, { id: "caller" });
    await clock.advance(0);
    expect(calls).toBe(1);
    await second.close();
    clock.jump(-tenYears);
    const third = await reboot(undefined, tool);
    const run = await third.run("caller");
    await clock.advance(0);
    expect((await run.state()).configuration).toEqual(["done"]);
    await third.close();
  });
});
