/** Runs of every kind are told as sound; one whose row lies, or that has lost something, is found and mended. */
import { expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { decode, encode } from "../../store/codec.ts";
import type { RunHead } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Mending, Stored } from "../../store/upkeep.ts";
import type { ActivityScope } from "../activity/attempt.ts";
import type { Run } from "../run.ts";
import { listOf } from "./finding.ts";
import { repair } from "./repair.ts";
import { verify } from "./verify.ts";

const hang = () => new Promise<never>(() => {});
const spend = (_: never, scope: ActivityScope) => {
  scope.spend({ tokens: 30 });
  scope.spend({ cost: 2 });
};

onEveryStore((world) => {
  /** Changes rows as no runtime would, once none has the store. */
  const change = async ({ look, clock }: World, ...changes: Mending[]) => {
    const store = await look();
    const lease = await store.own("a tool", 1_000, clock.now());
    expect(await store.mend(changes, lease.epoch as number)).toBe(true);
    await store.release("a tool", lease.epoch as number, clock.now());
  };
  const placeOf = async ({ look }: World, run: string): Promise<string> =>
    (await listOf(await look(), "run")).find(({ row }) => row?.run === run)?.place as string;
  const problemsOf = async ({ look }: World) =>
    (await verify({ store: await look() })).problems.map(({ run, problem }) => `${run}: ${problem}`);
  const mended = async ({ look, clock }: World) => repair({ store: await look(), clock });

  /** A store with one run for each thing that a row and a journal can tell, and nobody who has it. */
  const furnished = async () => {
    const here = await world();
    const caller = callerWith();
    // Events of users may be called what the platform's own are.
    const parking = counterWith({
      id: "parking",
      states: { open: { on: { park: { update: (draft) => void draft.n++ } } } },
    });
    const runtime = await here.boot([counter, parking, { machine: caller, activities: { tool: spend } }]);
    await (await runtime.start(parking, { id: "parking" })).send("park");
    const begin = async (id: string, limits?: object) => {
      const run = await runtime.start(counter, { id, ...(limits && { limits }) });
      await run.sendAll([1, 2, 3].map((data) => ({ type: "add", data })));
      return run;
    };
    const fork = await (await begin("source")).fork({ id: "fork", at: 2 });
    await fork.send("add", 5);
    await (await fork.fork({ id: "fork of a fork" })).send("add", 6);
    await (await begin("parked")).pause();
    const retried = await begin("retried");
    await retried.pause();
    await retried.retry();
    const back = await begin("rolled back");
    await back.pause();
    await back.rollback({ to: 2 });
    await (await begin("cancelled")).cancel();
    await (await begin("done")).send("end");
    await begin("timed", { time: "1h" });
    const paid = await runtime.start(caller, { id: "paid" });
    await paid.waitFor("done");
    await paid.send("again");
    await here.rest();
    await paid.waitFor("done");
    await here.close(runtime);
    return here;
  };

  test("runs that were forked, parked, taken back, ended, limited and paid for are sound", async () => {
    const here = await furnished();
    expect(await problemsOf(here)).toEqual([]);
    const spent = (await here.stored("paid")).head?.spent;
    expect(spent).toEqual({ tokens: 60, cost: 4 });
  });

  test("a row that lies is found by what it says, and says the truth again once it is mended", async () => {
    const here = await furnished();
    const lies: readonly (readonly [run: string, lie: Partial<RunHead>, told: string])[] = [
      ["source", { machine: "another" }, "machine"],
      ["source", { version: 7 }, "version"],
      ["source", { status: "parked" }, "status"],
      ["parked", { status: "active" }, "status"],
      ["rolled back", { status: "parked" }, "status"],
      ["retried", { status: "parked" }, "status"],
      ["cancelled", { completedAt: 5 }, "completedAt"],
      ["done", { completedAt: 5 }, "completedAt"],
      ["timed", { wakeAt: 5 }, "wakeAt"],
      ["paid", { spent: { tokens: 30, cost: 4 } }, "spent"],
      ["paid", { spent: { tokens: 60, cost: 3 } }, "spent"],
    ];
    for (const [run, lie, told] of lies) {
      const { head } = await here.stored(run);
      const place = await placeOf(here, run);
      await change(here, { change: "set", run: place, head: { ...(head as RunHead), ...lie } });
      expect(await problemsOf(here), JSON.stringify(lie)).toEqual([
        `${run}: its journal tells otherwise of its ${told}`,
      ]);
      expect((await mended(here)).runs).toMatchObject([{ run, lost: undefined }]);
      expect((await here.stored(run)).head).toEqual(head);
    }
  });

  test("a snapshot that can be read and is of another state is found, and made anew", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a" });
    for (let notes = 0; notes < 20; notes++) await run.send("note", "n".repeat(900));
    const state = await run.state();
    await here.close(runtime);
    const place = await placeOf(here, "a");
    const [snapshot] = await listOf(await here.look(), "snapshot", place);
    const { seq = 0, bytes = new Uint8Array() } = (snapshot as Stored<"snapshot">).row ?? {};
    const other = JSON.parse(JSON.stringify(decode(bytes, "it")).replace('"n":0', '"n":1000'));
    const wrong = { seq, bytes: encode(other), kept: true } as const;
    await change(here, { change: "snapshot", run: place, snapshot: wrong });
    expect(await problemsOf(here)).toEqual(["a: it is not the state that the journal leads to"]);
    expect((await mended(here)).runs).toMatchObject([{ run: "a", lost: undefined }]);
    expect(await problemsOf(here)).toEqual([]);
    const anew = await listOf(await here.look(), "snapshot", place);
    expect(
      anew.map(({ row }) => [row?.seq, row?.kept]),
      "and kept as it was",
    ).toEqual([[seq, true]]);
    expect(await (await (await here.boot([counter])).run("a")).state()).toEqual(state);
  });

  test("however many runs and entries there are, all are looked at", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "long" });
    for (let sent = 0; sent < 250; sent++) await run.send("add", 1);
    await Promise.all(
      Array.from({ length: 210 }, (_, index) => runtime.start(counter, { id: `short-${index}` })),
    );
    await here.close(runtime);
    const store = await here.look();
    expect(await verify({ store })).toEqual({ problems: [], runs: 211, entries: 251 + 210 });
  });

  /** A store of which somebody changes a run right after its row was read, so many times. */
  const changing = (store: Store, change: () => Promise<unknown>, times: number): Store => {
    let left = times;
    const scan = async (...given: Parameters<Store["scan"]>) => {
      const rows = await store.scan(...given);
      if (given[0] === "run" && left-- > 0) await change();
      return rows;
    };
    return new Proxy(store, {
      get: (_, name: keyof Store) => (name === "scan" ? scan : store[name]?.bind(store)),
    });
  };

  test("a run that others step while it is looked at is looked at again, until it stands still", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a" });
    let isParked = false;
    const toggle = async () => {
      await (isParked ? run.retry() : run.pause());
      isParked = !isParked;
    };
    const store = await here.look();
    expect(await verify({ store: changing(store, toggle, 3) })).toMatchObject({ problems: [], runs: 1 });
  });

  test("a run that is removed while it is looked at is not damaged", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a" });
    const store = await here.look();
    const remove = async () => {
      await run.cancel();
      await here.close(runtime);
      const lease = await store.own("a tool", 1_000, here.clock.now());
      expect(await store.removeRuns([{ tenant: "default", run: "a" }], lease.epoch as number)).toEqual([
        true,
      ]);
    };
    expect(await verify({ store: changing(store, remove, 1) })).toMatchObject({ problems: [], runs: 0 });
  });

  test("a store that refuses what would mend it is told as somebody else's", async () => {
    const here = await furnished();
    const { head } = await here.stored("source");
    const lie = { ...(head as RunHead), version: 7 };
    await change(here, { change: "set", run: await placeOf(here, "source"), head: lie });
    const store = await here.look();
    const refusing = new Proxy(store, {
      get: (_, name: keyof Store) => (name === "mend" ? async () => false : store[name]?.bind(store)),
    });
    await expect(repair({ store: refusing, clock: here.clock })).rejects.toMatchObject({
      code: "STORE_OWNED",
    });
  });

  /** A run whose activity has begun and whose row is lost, and how often it was called. */
  const lostActivity = async (once: boolean, before: (run: Run) => Promise<unknown> = async () => {}) => {
    const here = await world();
    const machine = callerWith({ once });
    let calls = 0;
    const entry = { machine, activities: { tool: () => (++calls === 1 ? hang() : "again") } };
    const runtime = await here.boot([entry]);
    const run = await runtime.start(machine, { id: "a" });
    await here.rest();
    await before(run as unknown as Run);
    await here.crash(runtime);
    const place = await placeOf(here, "a");
    const [row] = await listOf(await here.look(), "activity", place);
    await change(here, { change: "remove", kind: "activity", place: (row as Stored<"activity">).place });
    const { key } = (row as Stored<"activity">).row as { key: string };
    const goOn = async () => {
      const again = await (await here.boot([entry])).run("a");
      await here.rest();
      await here.clock.advance("1m");
      return [calls, (await again.state()).configuration];
    };
    return { here, key, goOn };
  };

  /** Mends the run for another reason. */
  const mendedOtherwise = async (here: World) => {
    const head = { ...((await here.stored("a")).head as RunHead), version: 7 };
    await change(here, { change: "set", run: await placeOf(here, "a"), head });
    return (await mended(here)).runs;
  };

  test("an activity that was lost begins again, unless it may happen once", async () => {
    for (const once of [false, true]) {
      const { here, key, goOn } = await lostActivity(once);
      expect(await problemsOf(here)).toEqual([`a: the activity ${key} is not there`]);
      expect((await mended(here)).left).toEqual([]);
      expect(await goOn()).toEqual(once ? [1, ["unknown"]] : [2, ["done"]]);
    }
  });

  test("an activity whose result waits to be taken is not missing, and does not begin again", async () => {
    const { here, key, goOn } = await lostActivity(false);
    const store = await here.look();
    const event = { type: "done.invoke.call", data: "out", kind: "platform", invokeId: "call" };
    const row = { tenant: "default", run: "a", subject: "a", id: "e", priority: 0, at: here.clock.now() };
    await store.enqueue([{ ...row, bytes: encode({ ...event, invocation: key }) }]);
    expect(await problemsOf(here)).toEqual([]);
    expect(await mendedOtherwise(here)).toMatchObject([{ run: "a", notes: [] }]);
    expect(await goOn()).toEqual([1, ["done"]]);
  });

  test("an activity of a parked run that is not there may have ended, and does not begin again", async () => {
    const { here, goOn } = await lostActivity(false, (run) => run.pause());
    expect(await problemsOf(here)).toEqual([]);
    expect(await mendedOtherwise(here)).toMatchObject([{ run: "a", notes: [] }]);
    expect(await goOn()).toEqual([1, ["calling"]]);
  });
});
