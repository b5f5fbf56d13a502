/** Schedules: what they start and send, when, and what becomes of times that were missed. */
import { beforeEach, describe, expect, test } from "vitest";
import { defineMachine, HoldfastError, type Json, limits } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import type { Problem } from "../run.ts";
import { createRuntime, type Runtime, type Schedule, type ScheduleOptions } from "../runtime.ts";

const report = defineMachine<{ input: Json }>({
  id: "report",
  start: ({ input }) => ({ input: input as Json }),
  initial: "writing",
  states: { writing: {} },
});
const clerk = defineMachine<{ got: Json[] }>({
  id: "clerk",
  start: { got: [] },
  initial: "waiting",
  states: {
    waiting: {
      on: { remind: { update: (draft, { event }) => void draft.got.push(event.data as Json) }, end: "gone" },
    },
    gone: { type: "final" },
  },
});

const noon = Date.UTC(2026, 10, 16, 12);
const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const everyMinute = { cron: "* * * * *", start: { machine: report } } satisfies ScheduleOptions;

let clock: VirtualClock;
let store: Store;
let problems: Problem[];
beforeEach(() => {
  clock = new VirtualClock(noon);
  store = memory();
  problems = [];
});
const boot = () =>
  createRuntime({
    ...{ store, clock, machines: [report, clerk] as never },
    onProblem: (problem) => problems.push(problem),
  });

/** What a schedule has started, the oldest first: the times in the names of its runs. */
async function started(runtime: Runtime, schedule = "s"): Promise<number[]> {
  const times: number[] = [];
  for await (const { run } of runtime.find({ attributes: { schedule } }))
    times.push(Date.parse(run.slice(schedule.length + 1)));
  return times.sort((one, other) => one - other);
}

/** As if nobody had been there for so long. */
async function outage(runtime: Runtime, ms: number): Promise<Runtime> {
  await runtime.close();
  clock.jump(ms);
  const next = await boot();
  await clock.advance("3s");
  return next;
}

describe("a schedule", () => {
  test("B11: starts a run at every time, named after it and found by the schedule", async () => {
    const runtime = await boot();
    const { next } = await runtime.schedule("s", everyMinute);
    expect(await next()).toBe(noon + minute);
    await clock.advance(minute - 1);
    expect(await started(runtime)).toEqual([]);
    await clock.advance(2 * minute + 1);
    expect(await started(runtime)).toEqual([1, 2, 3].map((count) => noon + count * minute));
    const run = await runtime.run("s@2026-11-16T12:02:00.000Z");
    expect((await run.state()).context).toEqual({ input: { schedule: "s", due: noon + 2 * minute } });
    expect(await next()).toBe(noon + 4 * minute);
  });

  test("gives the runs it starts what its definition says, and takes patterns with seconds", async () => {
    const runtime = await boot();
    await runtime.schedule("s", {
      cron: "*/20 * * * * *",
      start: {
        machine: "report",
        input: { a: 1 },
        subject: "ada",
        attributes: { kind: "x" },
        limits: { steps: 9 },
      },
    });
    await clock.advance("1m");
    expect(await started(runtime)).toEqual([20, 40, 60].map((seconds) => noon + seconds * 1_000));
    const run = await runtime.run("s@2026-11-16T12:00:20.000Z");
    expect((await run.state()).context).toEqual({ input: { a: 1 } });
    expect(await run.head()).toMatchObject({
      ...{ subject: "ada", attributes: { kind: "x", schedule: "s" }, limits: { steps: 9 } },
    });
  });

  test("sends an event at every time, in its own tenant", async () => {
    const runtime = await boot();
    const theirs = await runtime.start(clerk, { id: "c" });
    const run = await runtime.start(clerk, { id: "c", tenant: "t" });
    const options = { cron: "* * * * *", tenant: "t" };
    await runtime.schedule("s", { ...options, send: { run: "c", type: "remind" } });
    await runtime.schedule("data", { ...options, send: { run: "c", type: "remind", data: "now" } });
    await runtime.schedule("nothing", { ...options, send: { run: "c", type: "remind", data: null } });
    await clock.advance("1m");
    expect((await run.state()).context.got).toContainEqual({ schedule: "s", due: noon + minute });
    expect((await run.state()).context.got).toContain("now");
    expect((await run.state()).context.got).toContain(null);
    expect((await run.state()).context.got).toHaveLength(3);
    expect((await theirs.state()).context.got).toEqual([]);
  });

  test("tells the time after the one that it fires, for as long as that takes", async () => {
    const commit = store.commit.bind(store);
    let isDown = true;
    store.commit = async (commits) => {
      if (isDown && commits.some(({ head }) => head.run.startsWith("s@")))
        throw new HoldfastError("STORE_UNAVAILABLE", "The disk is full");
      return commit(commits);
    };
    const runtime = await boot();
    const { next, run } = await runtime.schedule("s", everyMinute);
    await clock.advance("1m");
    expect([(await run.state()).configuration, await next()]).toEqual([["firing"], noon + 2 * minute]);
    isDown = false;
    await clock.advance("5s");
    expect([await started(runtime), await next()]).toEqual([[noon + minute], noon + 2 * minute]);
  });

  test("is a run with a journal: two steps and one activity a time", async () => {
    const runtime = await boot();
    const { run } = await runtime.schedule("s", everyMinute);
    await clock.advance("2m");
    const types: string[] = [];
    for await (const { event, effects } of run.journal())
      types.push([event.type, ...effects.map(({ type }) => type)].join(" "));
    expect(types).toEqual([
      "start timer",
      ...["after.waiting.0 activity", "done.invoke.firing timer"],
      ...["after.waiting.0 activity", "done.invoke.firing timer"],
    ]);
  });

  test("B11: goes on after a restart without being set again", async () => {
    const first = await boot();
    await first.schedule("s", everyMinute);
    await clock.advance("90s");
    const again = await outage(first, 0);
    await clock.advance("1m");
    expect(await started(again)).toEqual([1, 2].map((count) => noon + count * minute));
  });

  test("fires its last time and stops by itself when its years are over", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", { ...everyMinute, cron: "59 59 23 31 12 * 2026" });
    const last = Date.UTC(2026, 11, 31, 23, 59, 59);
    expect(await schedule.next()).toBe(last);
    clock.jump(last - noon);
    await clock.advance("6s");
    expect(await started(runtime)).toEqual([last]);
    expect([await schedule.next(), (await schedule.run.state()).configuration]).toEqual([
      undefined,
      ["stopped"],
    ]);
  });

  test("S3: tells of a time that cannot be fired, notes it, and goes on", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", { cron: "* * * * *", send: { run: "c", type: "remind" } });
    await clock.advance("1m");
    expect(problems).toMatchObject([{ run: "s", error: { code: "RUN_UNKNOWN" } }]);
    expect((await schedule.run.state()).context.failed).toMatchObject({
      ...{ due: noon + minute, error: { code: "RUN_UNKNOWN" } },
    });
    const run = await runtime.start(clerk, { id: "c" });
    await clock.advance("1m");
    expect((await run.state()).context.got).toEqual([{ schedule: "s", due: noon + 2 * minute }]);
  });
});

describe("setting a schedule again", () => {
  test("attaches to it if the definition is the same, in whatever order it is written", async () => {
    const runtime = await boot();
    await runtime.schedule("s", everyMinute);
    await clock.advance("30s");
    const { start, cron } = everyMinute;
    const same = await runtime.schedule("s", { start, catchUp: "one", timezone: "UTC", cron });
    expect(await same.next()).toBe(noon + minute);
    await clock.advance("30s");
    expect(await started(runtime)).toEqual([noon + minute]);
  });

  test("is refused if the definition is another, with the way to replace it", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", everyMinute);
    const other = { cron: "*/5 * * * *", start: { machine: "report" } };
    await expect(runtime.schedule("s", other)).rejects.toMatchObject({
      ...{ code: "RUN_DIFFERS", message: expect.stringContaining("stop()") },
    });
    expect(await schedule.next()).toBe(noon + minute);
    await schedule.stop();
    expect(await schedule.next()).toBeUndefined();
    expect(await (await runtime.schedule("s", other)).next()).toBe(noon + 5 * minute);
    await clock.advance("5m");
    expect(await started(runtime)).toEqual([noon + 5 * minute]);
  });

  test("starts it again from now on if it was stopped", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", everyMinute);
    await schedule.stop();
    await schedule.stop();
    await clock.advance("3m");
    await runtime.schedule("s", everyMinute);
    await clock.advance("1m");
    expect(await started(runtime)).toEqual([noon + 4 * minute]);
  });

  test("finds no schedule in a run of another machine, or one that was cancelled", async () => {
    const runtime = await boot();
    await runtime.start(clerk, { id: "c" });
    await expect(runtime.schedule("c", everyMinute)).rejects.toMatchObject({ code: "RUN_DIFFERS" });
    await (await runtime.schedule("s", everyMinute)).run.cancel();
    await expect(runtime.schedule("s", everyMinute)).rejects.toMatchObject({ code: "RUN_DIFFERS" });
  });

  test("by many at once makes one schedule", async () => {
    const runtime = await boot();
    await Promise.all(Array.from({ length: 5 }, () => runtime.schedule("s", everyMinute)));
    await clock.advance("1m");
    expect(await started(runtime)).toEqual([noon + minute]);
  });
});

describe("what makes no schedule is refused and changes nothing", () => {
  const start = { machine: "report" };
  test.each<[string, string, object]>([
    ["a pattern that cannot be read", "SCHEDULE_INVALID", { cron: "61 * * * *", start }],
    ["a day that never comes", "SCHEDULE_INVALID", { cron: "0 0 30 2 *", start }],
    ["years that are over", "SCHEDULE_INVALID", { cron: "0 0 0 1 1 * 2020", start }],
    ["an unknown time zone", "SCHEDULE_INVALID", { cron: "* * * * *", timezone: "Mars/Base", start }],
    ["an unknown way to catch up", "SCHEDULE_INVALID", { cron: "* * * * *", catchUp: "most", start }],
    ["nothing to do", "SCHEDULE_INVALID", { cron: "* * * * *" }],
    ["two things to do", "SCHEDULE_INVALID", { cron: "* * * * *", start, send: { run: "c", type: "e" } }],
    ["an unknown machine", "MACHINE_UNKNOWN", { cron: "* * * * *", start: { machine: "nobody" } }],
    ["no machine", "SCHEDULE_INVALID", { cron: "* * * * *", start: {} }],
    ["no event", "SCHEDULE_INVALID", { cron: "* * * * *", send: { run: "c" } }],
    ["no run", "SCHEDULE_INVALID", { cron: "* * * * *", send: { type: "e" } }],
    ["input that is not JSON", "NOT_JSON", { cron: "* * * * *", start: { ...start, input: () => {} } }],
    ["no options", "SCHEDULE_INVALID", undefined as never],
  ])("%s: %s", async (_, code, options) => {
    const runtime = await boot();
    await expect(runtime.schedule("s", options as ScheduleOptions)).rejects.toMatchObject({ code });
    await expect(runtime.run("s")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
  });

  test("an id that leaves no room for the time in the names of its runs", async () => {
    const runtime = await boot();
    const room = limits.nameLengthMax - "@2026-11-16T12:00:00.000Z".length;
    await runtime.schedule("x".repeat(room), everyMinute);
    await clock.advance("1m");
    expect(await started(runtime, "x".repeat(room))).toEqual([noon + minute]);
    for (const id of ["x".repeat(room + 1), "", 5 as never])
      await expect(runtime.schedule(id, everyMinute)).rejects.toMatchObject({ code: "NAME_INVALID" });
  });

  test("a runtime that is closed", async () => {
    const runtime = await boot();
    await runtime.close();
    await expect(runtime.schedule("s", everyMinute)).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
  });
});

describe("times that were missed", () => {
  const missing = async (catchUp: ScheduleOptions["catchUp"], ms: number): Promise<[Runtime, Schedule]> => {
    const first = await boot();
    await first.schedule("s", { ...everyMinute, cron: "0 * * * *", ...(catchUp && { catchUp }) });
    await clock.advance("1s");
    const runtime = await outage(first, ms);
    return [
      runtime,
      await runtime.schedule("s", { ...everyMinute, cron: "0 * * * *", ...(catchUp && { catchUp }) }),
    ];
  };
  const hours = (...counts: number[]) => counts.map((count) => noon + count * hour);

  test("are made up for with the last of them, unless something else is said", async () => {
    const [runtime, schedule] = await missing(undefined, 5.5 * hour);
    expect(await started(runtime)).toEqual(hours(5));
    expect(await schedule.next()).toBe(noon + 6 * hour);
  });

  test("are made up for one by one with all", async () => {
    const [runtime, schedule] = await missing("all", 5.5 * hour);
    expect(await started(runtime)).toEqual(hours(1, 2, 3, 4, 5));
    expect(await schedule.next()).toBe(noon + 6 * hour);
  });

  test("are left out with none, and the next one is not", async () => {
    const [runtime, schedule] = await missing("none", 5.5 * hour);
    expect(await started(runtime)).toEqual([]);
    expect(await schedule.next()).toBe(noon + 6 * hour);
    clock.jump(0.5 * hour);
    await clock.advance("5s");
    expect(await started(runtime)).toEqual(hours(6));
  });

  test("count as missed only from a while on", async () => {
    const almost = await missing("none", hour + limits.missedAfterMs - 1_000);
    expect(await started(almost[0])).toEqual(hours(1));
    store = memory();
    clock = new VirtualClock(noon);
    const missed = await missing("none", hour + limits.missedAfterMs - 999);
    expect(await started(missed[0])).toEqual([]);
  });

  test("are made up for up to a limit: the newest of them", async () => {
    const [runtime, schedule] = await missing("all", (limits.catchUpMax + 0.5) * hour);
    const rest = async () => {
      while (((await schedule.next()) as number) <= clock.now()) await clock.advance("1s");
      await clock.advance("1s");
    };
    await rest();
    expect(await started(runtime)).toHaveLength(limits.catchUpMax);
    clock.jump((limits.catchUpMax + 1) * hour);
    await clock.advance("5s");
    await rest();
    const all = await started(runtime);
    expect(all).toHaveLength(2 * limits.catchUpMax);
    // This time the first was one too many.
    expect(all.slice(limits.catchUpMax - 1, limits.catchUpMax + 1)).toEqual(
      hours(limits.catchUpMax, limits.catchUpMax + 2),
    );
  });
});

describe("clocks that are set", () => {
  test("forward by years make one time of many, and the schedule goes on from there", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", everyMinute);
    clock.jump(10 * 365 * day + 30_000);
    await clock.advance("6s");
    expect(await started(runtime)).toEqual([noon + 10 * 365 * day]);
    expect(await schedule.next()).toBe(noon + 10 * 365 * day + minute);
  });

  test("back make it wait until they show its next time: none comes twice", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", everyMinute);
    await clock.advance("2m");
    clock.jump(-2 * minute);
    await clock.advance("2m");
    expect(await started(runtime)).toEqual([1, 2].map((count) => noon + count * minute));
    expect(await schedule.next()).toBe(noon + 3 * minute);
    await clock.advance("1m");
    expect(await started(runtime)).toEqual([1, 2, 3].map((count) => noon + count * minute));
  });

  test("back for good do not hold up a schedule that is stopped and set again", async () => {
    const runtime = await boot();
    const schedule = await runtime.schedule("s", everyMinute);
    clock.jump(-10 * 365 * day);
    await clock.advance("2m");
    expect(await started(runtime)).toEqual([]);
    await schedule.stop();
    await runtime.schedule("s", everyMinute);
    await clock.advance("1m");
    expect(await started(runtime)).toEqual([noon - 10 * 365 * day + 3 * minute]);
  });
});

describe("a daily 02:30 in Berlin", () => {
  test.each([
    ["fires after the gap on the day without it", Date.UTC(2026, 2, 27, 12), ["02:30", "03:00", "02:30"]],
    [
      "fires at the first of the two on the day that has it twice",
      Date.UTC(2026, 9, 23, 12),
      ["02:30", "02:30", "02:30"],
    ],
  ])("%s", async (_, from, expected) => {
    clock = new VirtualClock(from);
    const runtime = await boot();
    const schedule = await runtime.schedule("s", {
      ...everyMinute,
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
    });
    const local = new Intl.DateTimeFormat("sv", {
      timeZone: "Europe/Berlin",
      dateStyle: "short",
      timeStyle: "short",
    });
    // An hour at a time, so that a second firing on one day would be seen.
    for (let hours = 0; hours < 72; hours++) {
      clock.jump(hour - 6_000);
      await clock.advance("6s");
    }
    const times = (await started(runtime)).map((time) => local.format(time).split(" "));
    expect(times.map(([, time]) => time)).toEqual(expected);
    expect(new Set(times.map(([date]) => date)).size).toBe(3);
    expect(await schedule.next()).toBeGreaterThan(clock.now());
  });
});
