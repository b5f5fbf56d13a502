/** Where a run's time went, as its journal tells. */
import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, profileOf, type RunProfile, showProfile, type Waits } from "../../index.ts";

const none: Waits = { activity: 0, child: 0, timer: 0, event: 0, parked: 0 };
const minute = 60_000;
const stateOf = ({ states }: RunProfile, state: string) => states.find((one) => one.state === state);

/** Whatever was waited for, it makes up the time there was. */
function expectWhole(profile: RunProfile): void {
  for (const { ms, waits } of profile.states)
    expect(Object.values(waits).reduce((sum, part) => sum + part, 0)).toBe(ms);
}

/** Says when it is called, and ends when it is told. */
function tool() {
  const ends: { readonly resolve: (given: unknown) => void; readonly reject: (error: Error) => void }[] = [];
  const call = () => new Promise((resolve, reject) => void ends.push({ resolve, reject }));
  return { ends, call };
}

onEveryStore((world) => {
  describe("the profile of a run", () => {
    test("G1: tells what each state waited for: events from outside and timers", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await clock.advance(3 * minute);
      await run.send("nap");
      await clock.advance(1 * minute);
      // It is put off, and does not make the nap a wait for it.
      await run.send("add", 1);
      await clock.advance(11 * minute);
      await run.send("end");
      await clock.advance(100 * minute);
      const profile = await run.profile();
      expect(profile).toMatchObject({ steps: 5, ms: 15 * minute, activities: [] });
      expect(profile.states).toEqual([
        { state: "open", visits: 2, steps: 2, ms: 13 * minute, waits: { ...none, event: 13 * minute } },
        { state: "asleep", visits: 1, steps: 2, ms: 2 * minute, waits: { ...none, timer: 2 * minute } },
        { state: "closed", visits: 1, steps: 0, ms: 0, waits: none },
      ]);
      expect(profileOf(await listOf(run.journal()))).toEqual(profile);
    });

    test("B6: a step tells when it was, what became of it and why not; what took its time, for how long", async () => {
      const { boot, clock, rest } = await world();
      const { ends, call } = tool();
      const machine = callerWith({}, { unhandled: "reject" });
      const run = await (await boot([{ machine, activities: { tool: call } }])).start(machine, { id: "a" });
      const begun = clock.now();
      expect((await run.state()).activities, "what is under way").toMatchObject([{ activity: "tool" }]);
      await clock.advance(2 * minute);
      ends[0]?.reject(new Error("nobody answers"));
      await rest();
      await run.send("stop").then((receipt) => receipt.handled());
      expect(await listOf(run.journal())).toMatchObject([
        { seq: 1, at: begun, outcome: "taken" },
        { seq: 2, at: begun + 2 * minute, outcome: "taken", event: { data: { message: "nobody answers" } } },
        {
          seq: 3,
          at: begun + 2 * minute,
          outcome: "refused",
          error: { message: expect.stringContaining("stop") },
        },
      ]);
      expect(await run.head()).toMatchObject({ status: "active", createdAt: begun, updatedAt: clock.now() });
      expect(await run.profile()).toMatchObject({
        activities: [{ activity: "tool", begun: 1, done: 0, failed: 1, ms: 2 * minute }],
      });
    });

    test("G1: of one that goes on is told up to now", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await run.send("nap");
      await clock.advance(minute);
      const profile = await run.profile();
      expect(stateOf(profile, "asleep")).toMatchObject({ ms: minute, waits: { timer: minute } });
      expect(profileOf(await listOf(run.journal())).ms).toBe(0);
    });

    test("G1: counts activities from the step that began them to the one that settled them", async () => {
      const { boot, clock, rest } = await world();
      const { ends, call } = tool();
      const machine = callerWith({ retry: { attempts: 2, first: "1m" } });
      const run = await (await boot([{ machine, activities: { tool: call } }])).start(machine, { id: "a" });
      await clock.advance(5 * minute);
      await run.send("note", "what comes meanwhile changes nothing");
      await clock.advance(2 * minute);
      ends[0]?.resolve("well");
      await rest();
      await clock.advance(minute);
      await run.send("again");
      await rest();
      await run.send("stop");
      const profile = await run.profile();
      expect(stateOf(profile, "calling")).toMatchObject({
        ...{ visits: 2, ms: 7 * minute, waits: { activity: 7 * minute } },
      });
      expect(profile.activities).toEqual([
        {
          ...{ activity: "tool", begun: 2, done: 1, failed: 0, cancelled: 1, attempts: 2 },
          ...{ ms: 7 * minute, maxMs: 7 * minute },
        },
      ]);
      expectWhole(profile);
    });

    test("G1: tells how often an activity that failed was tried, with the time between", async () => {
      const { boot, clock, rest } = await world();
      const { ends, call } = tool();
      const machine = callerWith({ retry: { attempts: 2, first: "1m" } });
      const run = await (await boot([{ machine, activities: { tool: call } }])).start(machine, { id: "a" });
      await rest();
      ends[0]?.reject(new Error("once"));
      await clock.advance(10 * minute);
      ends[1]?.reject(new Error("twice"));
      await rest();
      const { activities } = await run.profile();
      expect(activities).toMatchObject([{ begun: 1, done: 0, failed: 1, attempts: 2, ms: 10 * minute }]);
    });

    test("G1: tells the time a run was parked from the time it waited", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await clock.advance(minute);
      await run.pause();
      await clock.advance(4 * minute);
      await run.retry();
      await clock.advance(2 * minute);
      await run.send("add", 1);
      const profile = await run.profile();
      expect(stateOf(profile, "open")?.waits).toEqual({ ...none, event: 3 * minute, parked: 4 * minute });
      expectWhole(profile);
    });

    test("G1: tells regions apart, each by what it waits for itself", async () => {
      const { boot, clock, rest } = await world();
      const { ends, call } = tool();
      const machine = defineMachine({
        id: "regions",
        type: "parallel",
        states: {
          work: {
            initial: "calling",
            states: { calling: { invoke: { activity: "tool", onDone: "over" } }, over: {} },
          },
          watch: { initial: "open", states: { open: { after: { "10m": "late" } }, late: {} } },
        },
      });
      const run = await (await boot([{ machine, activities: { tool: call } }])).start(machine, { id: "a" });
      await clock.advance(3 * minute);
      ends[0]?.resolve(1);
      await rest();
      await clock.advance(9 * minute);
      const profile = await run.profile();
      const waitsOf = (state: string) => stateOf(profile, state)?.waits;
      expect(waitsOf("work.calling")).toEqual({ ...none, activity: 3 * minute });
      expect(waitsOf("work.over")).toEqual({ ...none, event: 9 * minute });
      expect(waitsOf("watch.open")?.timer).toBe(10 * minute);
      expect(waitsOf("watch.late")).toEqual({ ...none, event: 2 * minute });
      expect(profile.ms).toBe(12 * minute);
      expectWhole(profile);
    });

    test("G1: tells the time a child took", async () => {
      const { boot, clock } = await world();
      const parent = defineMachine({
        id: "parent",
        initial: "asking",
        states: { asking: { invoke: { machine: "counter", id: "child", onDone: "over" } }, over: {} },
      });
      const runtime = await boot([parent, counter]);
      const run = await runtime.start(parent, { id: "a" });
      const [child] = (await run.state()).children;
      await clock.advance(2 * minute);
      await (await runtime.run(`a/${child?.key}`)).send("end");
      await run.waitFor("over");
      expect(stateOf(await run.profile(), "asking")?.waits).toEqual({ ...none, child: 2 * minute });
    });

    test("G1: of a fork is that of the fork, and a rollback is a step like others", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await run.send("nap");
      await clock.advance(minute);
      const twin = await run.fork({ at: 2, id: "b" });
      await clock.advance(minute / 2);
      await run.rollback({ to: 1 });
      const [profile, other] = [await run.profile(), await twin.profile()];
      expect(other).toMatchObject({ steps: 1, ms: minute / 2, states: [{ state: "asleep", visits: 1 }] });
      expect(profile).toMatchObject({ steps: 3, ms: 1.5 * minute });
      expectWhole(profile);
    });

    test("G1: of a clock that was set back takes nothing away", async () => {
      const { boot, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      await clock.advance(5 * minute);
      await run.send("add", 1);
      clock.jump(-3 * minute);
      await run.send("add", 1);
      await clock.advance(4 * minute);
      await run.send("add", 1);
      const profile = await run.profile();
      expect(profile).toMatchObject({ ms: 6 * minute, states: [{ ms: 6 * minute }] });
    });
  });
});

describe("a profile as text", () => {
  test("G1: is a table a person can read", () => {
    const waits = { ...none, activity: 90_000 };
    const text = showProfile({
      ...{ steps: 3, ms: 120_000 },
      states: [
        { state: "calling", visits: 1, steps: 1, ms: 90_000, waits },
        { state: "done", visits: 1, steps: 1, ms: 30_000, waits: { ...none, event: 30_000 } },
      ],
      activities: [],
    });
    expect(text.split("\n")).toEqual([
      "3 steps in 2 min",
      "",
      "state    visits  steps     time  share  activity  child  timer  event  parked",
      "calling       1      1  1.5 min   75 %   1.5 min",
      "done          1      1     30 s   25 %                           30 s",
    ]);
  });

  test("G1: of nothing says so", () => {
    expect(showProfile(profileOf([]))).toBe("0 steps in 0 ms");
  });
});
