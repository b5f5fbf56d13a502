/** Crashes everywhere: what is right comes through, and what is wrong is found and told. */
import { describe, expect, onTestFinished, test } from "vitest";
import { type Booking, type BookingEvent, bookingWith, cheap, dear } from "../../test/harness/booking.ts";
import { defineMachine, type InvokeActivity, type Json } from "../index.ts";
import type { ActivityScope } from "../runtime/activity/attempt.ts";
import { decode, encode } from "../store/codec.ts";
import { memory } from "../store/memory/store.ts";
import type { Store } from "../store/store.ts";
import { harness } from "./harness.ts";
import { answers, failing, later, never } from "./script.ts";
import type { HarnessOptions } from "./stage.ts";
import type { Scripts } from "./world.ts";

const scripts = { search: () => [cheap, dear], book: () => ({ reference: "X1" }) };

/** A test in which a flight was searched for. */
async function searched(
  given: Scripts | (() => Scripts) = scripts,
  { book = {}, ...options }: HarnessOptions & { book?: Partial<InvokeActivity<Booking, BookingEvent>> } = {},
) {
  const it = await harness(bookingWith(book), given, options);
  onTestFinished(() => it.close());
  await it.start({ goal: "NYC" });
  return it;
}

/** … and one was booked. */
async function booked(...given: Parameters<typeof searched>) {
  const it = await searched(...given);
  await it.send("choose", { flight: "DL123" });
  it.expect("booked");
  return it;
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "it did not fail",
    (error: Error) => error.message,
  );
}

describe("a scenario that is right", () => {
  test("E7: comes to the same end wherever its process is killed", async () => {
    const it = await searched({ ...scripts, search: answers(new Error("busy"), later("5s", [cheap])) });
    await it.advance("10s");
    it.expect("choosing");
    await it.advance("2 days");
    it.expect("failed");
    const told: [number, number][] = [];
    const report = await it.crashEverywhere({
      onProgress: (tried, points) => void told.push([tried, points]),
    });
    expect(report.tried).toBe(report.points);
    expect(report.points).toBeGreaterThan(20);
    expect(told.at(-1)).toEqual([report.points, report.points]);
    expect(told).toHaveLength(report.points);
  });

  test("does so when an activity that may happen once can be reconciled", async () => {
    // The airline knows what it has booked, by the key it was given.
    const airline = () => {
      const bookings = new Map<string, Json>();
      return {
        search: () => [cheap],
        book: (_: never, { key }: ActivityScope) => {
          bookings.set(key, { reference: "X1" });
          return { reference: "X1" };
        },
        find: (_: never, { key }: ActivityScope) =>
          bookings.has(key) ? { outcome: "done", output: bookings.get(key) } : { outcome: "absent" },
      };
    };
    const it = await booked(airline, { book: { reconcile: "find" } });
    expect(await it.crashEverywhere()).toMatchObject({ accepted: 0 });
  });

  test("does so with replies, deferred events, retries, timeouts and crashes of its own", async () => {
    const it = await searched({
      ...scripts,
      search: answers(never(), new Error("busy"), later("2s", [cheap])),
    });
    await it.send("choose", { flight: "nowhere" });
    await it.advance("40s");
    await it.crash();
    it.expect("choosing");
    expect(await it.ask("price")).toBe(400);
    await it.send("abandon");
    it.expect("failed");
    expect((await it.crashEverywhere()).points).toBeGreaterThan(40);
  });

  test("does so with timers that stand still while nobody is there: a crash takes no time", async () => {
    const offer = defineMachine({
      id: "offer",
      initial: "open",
      states: {
        open: { after: { "1h": { target: "closing", resume: "remaining" } } },
        closing: { after: { "1h": { target: "gone", resume: "restart" } } },
        gone: { type: "final" },
      },
    });
    const it = await harness(offer);
    await it.start();
    await it.advance("30 min");
    await it.advance("30 min");
    it.expect("closing");
    await it.advance("1h");
    it.expect("gone");
    await it.crashEverywhere();
    await it.close();
  });

  test("does so where checkpoints are rare, and with what the test does to the runtime itself", async () => {
    const rare = defineMachine<{ n: number }>({
      id: "rare",
      checkpoint: { every: 3 },
      start: { n: 0 },
      initial: "open",
      states: {
        open: {
          on: {
            add: {
              update: (draft) => {
                draft.n += 1;
              },
            },
            pass: { actions: { send: "add" } },
          },
        },
      },
    });
    const it = await harness(rare);
    await it.start();
    for (let round = 0; round < 4; round++) await it.send("pass");
    await it.perform((runtime) => runtime.run("rare").then((run) => run.checkpoint()));
    it.expect({ context: { n: 4 } });
    await it.crashEverywhere();
    await it.close();
  });

  test("does so with what it undoes, and with children that fail and are tried again", async () => {
    const trip = defineMachine({
      id: "trip",
      initial: "flying",
      states: {
        flying: { invoke: { activity: "flight", compensate: "noFlight", onDone: "driving" } },
        driving: {
          invoke: {
            activity: "car",
            retry: { attempts: 3, first: "1s" },
            onDone: "gone",
            onError: { target: "undoing", actions: { compensate: true } },
          },
        },
        gone: { type: "final" },
        undoing: { on: { "done.invoke.compensation": "undone" } },
        undone: { type: "final" },
      },
    });
    const given = { flight: later("1s", "F1"), car: failing(3, "none"), noFlight: failing(1, "busy", "F1") };
    const it = await harness(trip, given);
    await it.start();
    await it.advance("1 min");
    it.expect("undone");
    it.expectCalls("noFlight", ["F1", "F1"]);
    await it.crashEverywhere();
    await it.close();
  });

  test("does so with schedules", async () => {
    const counter = defineMachine<{ n: number }>({
      id: "counter",
      start: { n: 0 },
      initial: "on",
      states: {
        on: {
          on: {
            beat: {
              update: (draft) => {
                draft.n += 1;
              },
            },
          },
        },
      },
    });
    const it = await harness(counter);
    await it.start();
    const send = { run: "counter", type: "beat" };
    await it.perform((runtime) => runtime.schedule("pulse", { cron: "*/20 * * * * *", send }));
    await it.advance("1 min");
    it.expect({ context: { n: 3 } });
    expect(await it.crashEverywhere({ points: 40 })).toMatchObject({ tried: 40 });
    await it.close();
  });

  test("can be large: the seed chooses which points are tried", async () => {
    const it = await searched();
    const names = async (points: number) => {
      const seen: string[] = [];
      const report = await it.crashEverywhere({ points, check: (_, point) => void seen.push(point) });
      expect(report.tried).toBe(Math.min(points, report.points));
      return seen;
    };
    const few = await names(5);
    expect(await names(5)).toEqual(few);
    const all = await names(1_000);
    expect(few.every((name) => all.includes(name))).toBe(true);
    expect(all).toEqual(
      expect.arrayContaining([expect.stringMatching(/^killed at rest, after start booking/)]),
    );
  });

  test("really kills: the processes are counted, and what was cut off was", async () => {
    const it = await searched();
    const killed: string[] = [];
    await it.crashEverywhere({
      check: (test) => {
        killed.push(...test.calls.map(({ process }) => `process ${process}`));
        expect(test.state.configuration).toEqual(["choosing"]);
      },
    });
    expect(new Set(killed)).toEqual(new Set(["process 1", "process 2"]));
  });
});

describe("what is wrong under crashes", () => {
  test("an activity that may happen once and cannot be reconciled is told, with the point and the journal", async () => {
    const it = await booked();
    const message = await messageOf(it.crashEverywhere());
    expect(message).toMatchInlineSnapshot(`
      "2 of 26 crashes changed how the scenario ends. The first, killed after recordActivities (call 11 of 12 of the store), during send choose {"flight":"DL123"}:
        run booking.status: without a crash "done", with it "active"
        run booking.state: without a crash "booked", with it "checking"
        run booking.context.reference: without a crash "X1", with it null
        run booking.output: without a crash {"reference":"X1"}, with it nothing

        Whether "booking" took effect was not known after the crash, since it may happen once. Give it a
        \`reconcile\` activity that finds out; or, if the machine does right, name the state it goes to in \`accept\`.

      The run "booking":
      Steps:
        1. +0 ms start {"goal":"NYC"}: taken → searching
        2. +0 ms done.invoke.searching [{"id":"DL123","price":400},{"id":"BA1","price":900}]: taken → choosing
        3. +0 ms choose {"flight":"DL123"}: taken → booking
        4. +0 ms unknown.invoke.booking {"message":"It ended without an answer; whether it took effe…: taken → checking
      It waits for nothing but events.

      Activities that were called:
        search, key booking:1.0, attempt 1, by process 1: done

      The others:
        killed before commit (call 12 of 12 of the store), during send choose {"flight":"DL123"}"
    `);
  });

  test("… unless the test accepts where the machine goes then", async () => {
    const it = await booked();
    expect(await it.crashEverywhere({ accept: ["checking"] })).toMatchObject({ accepted: 2 });
  });

  test("activities that keep something from one run to the next are told before anything is killed", async () => {
    let calls = 0;
    const it = await booked({ ...scripts, book: () => ({ reference: `X${++calls}` }) });
    const message = await messageOf(it.crashEverywhere({ accept: ["checking"] }));
    expect(message).toContain("even without a crash");
    expect(message).toContain('run booking.context.reference: without a crash "X1", with it "X2"');
  });

  test("an activity that counts its calls is told: one call too many changes its answer", async () => {
    const counting = () => {
      let calls = 0;
      return { ...scripts, search: () => [{ id: "DL123", price: ++calls }] };
    };
    const it = await searched(counting);
    const message = await messageOf(it.crashEverywhere());
    expect(message).toMatch(/^\d of \d+ crashes changed how the scenario ends/);
    expect(message).toContain("run booking.context.options[0].price: without a crash 1, with it 2");
    expect(message).toContain("search, key booking:1.0, attempt 1, by process 2: done");
  });

  test("an activity whose answer differs by attempt is told", async () => {
    const resuming = async (_: never, { attempt, checkpoint }: ActivityScope) => {
      await checkpoint("half");
      return [{ id: "DL123", price: attempt }];
    };
    const it = await searched({ ...scripts, search: resuming });
    expect(await messageOf(it.crashEverywhere())).toContain("price: without a crash 1, with it 2");
  });

  test("an effect that happens twice is found by a check of the test", async () => {
    const mails: string[] = [];
    const mailing = () => {
      mails.length = 0;
      const search = () => {
        mails.push("found");
        return [cheap];
      };
      return { ...scripts, search };
    };
    const it = await searched(mailing);
    const check = () => {
      if (mails.length !== 1) throw new Error(`${mails.length} mails`);
    };
    const message = await messageOf(it.crashEverywhere({ check }));
    expect(message).toContain("2 mails");
  });

  test("a guard that looks at something outside the context is told", async () => {
    let asked = 0;
    const moody = defineMachine({
      id: "moody",
      initial: "open",
      states: {
        open: { on: { ask: [{ guard: () => asked++ % 2 === 0, target: "yes" }, "no"] } },
        yes: {},
        no: {},
      },
    });
    const it = await harness(moody);
    await it.start();
    await it.send("ask");
    it.expect("yes");
    expect(await messageOf(it.crashEverywhere())).toContain("even without a crash");
    await it.close();
  });

  test("what was done past the harness is told", async () => {
    const it = await searched();
    await it.run.send("abandon");
    await it.settle();
    it.expect("failed");
    expect(await messageOf(it.crashEverywhere())).toContain("use perform()");
  });

  test("a store that forgets a commit is told", async () => {
    const worlds = new Map<string, Store>();
    /** In each process, the first commit of a step after the first is acknowledged and not made. */
    const forgetful = (world: string): Store => {
      const store = worlds.get(world) ?? memory();
      const isFirst = !worlds.has(world);
      worlds.set(world, store);
      let forgets = !isFirst;
      return new Proxy(store, {
        get: (target, verb) => {
          if (verb !== "commit") return target[verb as keyof Store].bind(target);
          return async (commits: Parameters<Store["commit"]>[0]) => {
            if (!forgets || commits.every(({ expect: seq }) => seq === 0)) return target.commit(commits);
            forgets = false;
            return commits.map(() => ({ outcome: "committed" }));
          };
        },
      });
    };
    const it = await searched(scripts, { store: forgetful });
    await it.send("abandon");
    expect(await messageOf(it.crashEverywhere())).toMatch(/crashes changed how the scenario ends/);
  });

  test("an activity that may happen once and is called twice is told", async () => {
    // As if the platform had not written down that it began.
    const worlds = new Map<string, Store>();
    const careless = (world: string): Store => {
      const store = worlds.get(world) ?? memory();
      worlds.set(world, store);
      const record: Store["recordActivities"] = async (rows) => rows.map(() => true);
      return new Proxy(store, {
        get: (target, verb) =>
          verb === "recordActivities" ? record : target[verb as keyof Store].bind(target),
      });
    };
    const it = await booked(scripts, { store: careless });
    expect(await messageOf(it.crashEverywhere())).toContain(
      "book may happen once, and was called 2 times under the key booking:3.0",
    );
  });

  test("an input that is another after a crash is told", async () => {
    const worlds = new Map<string, Store>();
    /** From the second process on, activities are found with other bytes than were stored. */
    const twisting = (world: string): Store => {
      const isFirst = !worlds.has(world);
      const store = worlds.get(world) ?? memory();
      worlds.set(world, store);
      return new Proxy(store, {
        get: (target, verb) => {
          if (verb !== "load" || isFirst) return target[verb as keyof Store].bind(target);
          return async (name: Parameters<Store["load"]>[0]) => {
            const loaded = await target.load(name);
            return loaded && { ...loaded, activities: loaded.activities.map(twist) };
          };
        },
      });
    };
    const twist = <Row extends { bytes: Uint8Array }>(row: Row): Row => ({
      ...row,
      bytes: encode(JSON.parse(JSON.stringify(decode(row.bytes, "a row")).replace("NYC", "XYZ"))),
    });
    const it = await searched(scripts, { store: twisting });
    expect(await messageOf(it.crashEverywhere())).toContain(
      'search was called under the key booking:1.0 with {"goal":"XYZ"}, and without a crash with {"goal":"NYC"}',
    );
  });
});

test("a scenario of retries is the same on every kind of store", async () => {
  const times = async (store?: HarnessOptions["store"]) => {
    const given = { ...scripts, search: failing(2, "busy", [cheap]) };
    const it = await searched(given, store === undefined ? {} : { store });
    await it.advance("1 min");
    it.expect("choosing");
    return it.crashEverywhere();
  };
  const stores = new Map<string, Store>();
  const own = (world: string) => {
    const store = stores.get(world) ?? memory();
    stores.set(world, store);
    return store;
  };
  expect(await times(own)).toEqual(await times());
});
