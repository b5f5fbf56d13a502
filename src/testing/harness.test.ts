/** The harness: what a test can do with it, see through it, and rely on. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Booking,
  type BookingEvent,
  type BookingInput,
  booking,
  cheap,
  dear,
} from "../../test/harness/booking.ts";
import { defineMachine, type Json } from "../index.ts";
import { memory } from "../store/memory/store.ts";
import { sqlite } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";
import type { ScriptsOf } from "./harness.ts";
import { type Harness, harness } from "./harness.ts";
import { answers, failing, later, never } from "./script.ts";
import type { HarnessOptions } from "./stage.ts";

const scripts = { search: () => [cheap, dear], book: () => ({ reference: "X1" }) };
const year = 365 * 86_400_000;

async function bookingTest(
  given: ScriptsOf = scripts,
  options: HarnessOptions = {},
): Promise<Harness<Booking, BookingEvent, BookingInput>> {
  const made = await harness(booking, given, options);
  onTestFinished(() => made.close());
  return made;
}

/** A harness in which a search has been started. */
async function started(given: ScriptsOf = scripts, options: HarnessOptions = {}) {
  const made = await bookingTest(given, options);
  await made.start({ goal: "NYC" });
  return made;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "holdfast-harness-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

describe("a harness", () => {
  test("E7: runs a machine to its end, with scripted activities", async () => {
    const it = await started();
    it.expect("choosing");
    expect(await it.send("choose", { flight: "DL123" })).toMatchObject({ outcome: "taken" });
    it.expect({ state: "booked", status: "done", output: { reference: "X1" } });
    expect(it.context.choice).toEqual(cheap);
    expect(it.output).toEqual({ reference: "X1" });
  });

  test("E7: lets time pass without waiting, to the millisecond", async () => {
    const it = await started();
    await it.advance(2 * 86_400_000 - 1);
    it.expect("choosing");
    await it.advance(1);
    it.expect("failed");
  });

  test("E7: a year passes in a few turns of the loop", async () => {
    const yearly = defineMachine({
      id: "yearly",
      initial: "waiting",
      states: { waiting: { after: { [year]: "over" } }, over: {} },
    });
    let looks = 0;
    const real = memory();
    const count = (target: Store, verb: string | symbol) => {
      looks++;
      return target[verb as keyof Store].bind(target);
    };
    const store = () => new Proxy(real, { get: count });
    const it = await harness(yearly, {}, { store });
    await it.start();
    await it.advance(year);
    it.expect("over");
    expect(looks).toBeLessThan(100);
    await it.close();
  });

  test("takes its types from the machine", async () => {
    const it = await bookingTest();
    const wrong = async () => {
      // @ts-expect-error: no such input
      await it.start({ gaol: "NYC" });
      // @ts-expect-error: no such event
      await it.send("chose");
      // @ts-expect-error: no such data
      await it.send("choose", { fligth: "DL123" });
      // @ts-expect-error: no such field
      it.expect({ context: { gaol: "NYC" } });
    };
    expect(wrong).toBeTypeOf("function");
  });

  test("goes to a time, and shows it", async () => {
    const it = await started(scripts, { at: 1_000 });
    expect(it.now).toBe(1_000);
    await it.advanceTo(5_000);
    await it.advanceTo(4_000);
    expect(it.now).toBe(5_000);
  });

  test("says what became of an event: taken, ignored, deferred, refused, or not yet anything", async () => {
    const it = await started({ ...scripts, search: later("5s", [cheap]) });
    expect(await it.send("choose", { flight: "DL123" })).toMatchObject({ outcome: "deferred" });
    expect(await it.send("price")).toMatchObject({ outcome: "ignored" });
    const unknown = it as unknown as Harness;
    expect(await unknown.send("chose")).toMatchObject({
      outcome: "refused",
      error: { code: "EVENT_UNKNOWN" },
    });
    await it.advance("5s");
    it.expect("booked");
    await expect(it.send("abandon")).rejects.toMatchObject({ code: "RUN_ENDED" });
  });

  test("says that an event waits, while its run is parked", async () => {
    const strict = defineMachine<{ n: number }>({
      id: "strict",
      start: { n: 0 },
      initial: "calling",
      invariants: { small: ({ context }) => context.n < 10 },
      states: {
        calling: {
          invoke: {
            activity: "count",
            onDone: {
              target: "done",
              update: (draft, { event }) => {
                draft.n = event.data;
              },
            },
          },
          on: { ping: {} },
        },
        done: {},
      },
    });
    const it = await harness(strict, { count: () => 10 });
    await it.start();
    it.expect({ status: "parked", state: "calling" });
    expect(await it.send("ping")).toEqual({ outcome: "waiting" });
    await it.close();
  });

  test("asks, and gets the reply at once or once time has passed", async () => {
    const it = await started();
    expect(await it.ask("price")).toBe(400);
    const slow = defineMachine<{ asker: Json }>({
      id: "slow",
      start: { asker: null },
      initial: "idle",
      states: {
        idle: {
          on: {
            ask: {
              target: "thinking",
              update: (draft, { event }) => {
                draft.asker = event.replyTo ?? null;
              },
            },
          },
        },
        thinking: {
          after: { "1h": { actions: { reply: 42, to: ({ context }) => context.asker as string } } },
        },
      },
    });
    const other = await harness(slow);
    await other.start();
    const reply = other.ask("ask");
    await other.advance("1h");
    expect(await reply).toBe(42);
    await other.start(undefined, { id: "impatient" });
    const late = other.ask("ask", undefined, { timeout: "1m" });
    await other.advance("1m");
    await expect(late).rejects.toMatchObject({ code: "ASK_UNANSWERED" });
    await other.close();
  });

  test("gives the real run, and sees what was done with it after it has settled", async () => {
    const it = await started();
    expect(await it.run.head()).toMatchObject({ run: "booking", machine: "booking" });
    await it.run.send("abandon");
    await it.settle();
    it.expect("failed");
    expect((await it.runtime.run("booking")).id).toBe("booking");
  });

  test("cancels, performs, and starts several runs by their ids", async () => {
    const it = await started();
    await it.start({ goal: "Rome" }, { id: "second" });
    expect(it.context.goal).toBe("Rome");
    await it.cancel();
    it.expect({ status: "cancelled" });
    it.expect({ run: "booking", state: "choosing", context: { goal: "NYC" } });
    await it.send("abandon", undefined, { run: "booking" });
    it.expect({ run: "booking", state: "failed" });
    const found = await it.perform(async (runtime) => {
      const ids: string[] = [];
      for await (const { run } of runtime.find()) ids.push(run);
      return ids;
    });
    expect(found.sort()).toEqual(["booking", "second"]);
    expect([it.runs.length, it.stateOf("second").status]).toEqual([2, "cancelled"]);
  });

  test("survives a crash where the test wants one", async () => {
    const it = await started();
    await it.crash();
    it.expect("choosing");
    expect((await it.run.state()).configuration).toEqual(["choosing"]);
    await it.send("choose", { flight: "DL123" });
    it.expect("booked");
  });

  test("runs on another store, where each process connects anew", async () => {
    const path = folder();
    const worlds: string[] = [];
    const store = (world: string) => {
      worlds.push(world);
      return sqlite(join(path, `${world}.db`));
    };
    const it = await started(scripts, { store });
    await it.crash();
    await it.send("choose", { flight: "DL123" });
    it.expect("booked");
    expect(worlds).toEqual(["world-1", "world-1"]);
    expect(await it.crashEverywhere({ accept: ["checking"], points: 5 })).toMatchObject({ tried: 5 });
    expect(new Set(worlds).size).toBe(1 + 1 + 5);
  });

  test("has child machines, those a definition brings and those it is given", async () => {
    const child = defineMachine({
      id: "child",
      initial: "calling",
      states: {
        calling: { invoke: { activity: "tool", onDone: "done" } },
        done: { type: "final", output: "from the child" },
      },
    });
    const parent = (machines: object) =>
      defineMachine<{ got: Json }>({
        id: "parent",
        start: { got: null },
        initial: "waiting",
        states: {
          waiting: {
            invoke: {
              machine: "child",
              onDone: {
                target: "done",
                update: (draft, { event }) => {
                  draft.got = event.data;
                },
              },
            },
          },
          done: {},
        },
        ...machines,
      });
    const inside = await harness(parent({ machines: { child } }), { tool: later("1s", 1) });
    await inside.start();
    inside.expect({ state: "waiting", pending: { children: ["child"], activities: [] } });
    const [, childRun = ""] = inside.runs;
    inside.expect({ run: childRun, state: "calling", pending: { activities: ["tool"] } });
    await inside.advance("1s");
    inside.expect({ state: "done", context: { got: "from the child" } });
    expect(await inside.crashEverywhere()).toMatchObject({ accepted: 0 });
    await inside.close();
    const beside = await harness(
      parent({}),
      {},
      { machines: [{ machine: child, activities: { tool: () => 1 } }] },
    );
    await beside.start();
    beside.expect("done");
    beside.expectCalls("tool", 1);
    await beside.close();
  });

  test("tells which activity has no script, and which name was meant", async () => {
    const it = await bookingTest({ serch: () => [] });
    await expect(it.start({ goal: "NYC" })).rejects.toThrow('"search", which has no script; there is serch');
  });

  test("tells that no run was started, and which runs there are", async () => {
    const it = await bookingTest();
    expect(() => it.expect("choosing")).toThrow("call start() first");
    await it.start({ goal: "NYC" });
    expect(() => it.expect({ run: "boking" })).toThrow('no run "boking" in this test; there is booking');
  });

  test("refuses what goes on for ever without time passing", async () => {
    const endless = defineMachine({
      id: "endless",
      initial: "on",
      states: { on: { entry: { send: "again" }, on: { again: { actions: { send: "again" } } } } },
    });
    const it = await harness(endless);
    await expect(it.start()).rejects.toMatchObject({ code: "SIMULATION_UNBOUNDED" });
    await it.close();
  });
});

describe("the record of a test", () => {
  test("has every call with its input, key, attempt, time and end", async () => {
    const it = await started({ ...scripts, search: answers(new Error("busy"), [cheap]) });
    await it.advance("1s");
    expect(it.calls).toMatchObject([
      {
        activity: "search",
        input: { goal: "NYC" },
        attempt: 1,
        outcome: "failed",
        error: { message: "busy" },
      },
      { activity: "search", input: { goal: "NYC" }, attempt: 2, outcome: "done", output: [cheap] },
    ]);
    const [first, second] = it.calls;
    expect(second?.key).toBe(first?.key);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(500);
  });

  test("has the steps, sends, emits, logs and timers", async () => {
    const it = await started();
    expect(
      it.journal.map(({ event, outcome, configuration }) => [event.type, outcome, configuration]),
    ).toEqual([
      ["start", "taken", ["searching"]],
      ["done.invoke.searching", "taken", ["choosing"]],
    ]);
    expect(it.emits).toMatchObject([{ event: { type: "found", data: 2 }, run: "booking", seq: 2 }]);
    expect(it.timers).toMatchObject([{ due: it.now + 2 * 86_400_000, run: "booking" }]);
    expect([it.sends, it.logs]).toEqual([[], []]);
    const talker = defineMachine({
      id: "talker",
      initial: "on",
      states: { on: { entry: [{ log: "hello" }, { send: { type: "hi", to: { run: "nobody" } } }] } },
    });
    const other = await harness(talker);
    await other.start();
    expect(other.logs).toMatchObject([{ data: "hello" }]);
    expect(other.sends).toMatchObject([{ event: { type: "hi" }, to: { run: "nobody" } }]);
    await other.close();
  });

  test("E7: is the same every time, for the same seed", async () => {
    const times = async (seed: number) => {
      const it = await started({ ...scripts, search: failing(2, "busy", [cheap]) }, { seed });
      await it.advance("1 min");
      return it.calls.map(({ at, key }) => [at, key]);
    };
    const [one, again, other] = [await times(1), await times(1), await times(2)];
    expect(again).toEqual(one);
    expect(other).not.toEqual(one);
  });
});

describe("a script", () => {
  test("gives answers in order, throws errors, and is out of answers when it is", async () => {
    const it = await started({ ...scripts, search: answers(new Error("busy")) });
    await it.advance("1 min");
    it.expect("failed");
    expect(it.calls.map(({ error }) => error)).toMatchObject([{ message: "busy" }, { name: "OutOfAnswers" }]);
  });

  test("answers in virtual time, and may run code then", async () => {
    const it = await started({
      ...scripts,
      search: later(
        "5s",
        later("5s", () => [cheap]),
      ),
    });
    await it.advance("9999 ms");
    it.expect({ state: "searching", pending: { activities: ["search"] } });
    await it.advance(1);
    it.expect("choosing");
  });

  test("fails so many times", async () => {
    const it = await started({ ...scripts, search: failing(2, new Error("busy"), [cheap]) });
    await it.advance("1 min");
    it.expect("choosing");
    expect(it.calls.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "done"]);
  });

  test("never answers", async () => {
    const it = await started({ ...scripts, search: never() });
    await it.advance("29s");
    it.expect("searching");
    await it.advance("1h");
    it.expect("failed");
    expect(it.calls.length).toBe(3);
  });

  test("goes on where it was after a crash: the same attempt gets the same answer at the same time", async () => {
    const it = await started({ ...scripts, search: answers(later("5s", [cheap])) });
    await it.advance("3s");
    await it.crash();
    expect(it.calls.map(({ outcome, process }) => [outcome, process])).toEqual([
      ["cut off", 1],
      ["running", 2],
    ]);
    await it.advance("2s");
    it.expect("choosing");
  });

  test("leaves the answer of an attempt that a crash cut off to the next one", async () => {
    const slow = async (
      _: never,
      { checkpoint, attempt }: { checkpoint(value: Json): Promise<void>; attempt: number },
    ) => {
      await checkpoint("half");
      return attempt === 1 ? new Promise(() => {}) : [cheap];
    };
    const it = await started({ ...scripts, search: answers(slow) });
    await it.crash();
    it.expect("choosing");
    expect(it.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });
});
