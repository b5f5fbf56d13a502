/** Fleets: several runtimes on one store mean what one does, whichever of them is asked. In real time, in one process. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, createPool, type Database } from "../../../test/postgres/database.ts";
import { type Pooler, pgbouncer, startPooler } from "../../../test/postgres/pooler.ts";
import { findRedis, type RedisServer, startRedis } from "../../../test/redis/server.ts";
import { callerWith, counter, counterWith } from "../../../test/runtime/machines.ts";
import { mortal } from "../../../test/runtime/mortal.ts";
import { defineMachine } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import { migrate } from "../../store/postgres/migrate.ts";
import { type Migration, migrations } from "../../store/postgres/schema.ts";
import { postgres } from "../../store/postgres/store.ts";
import { withRedis } from "../../store/redis/index.ts";
import type { Store } from "../../store/store.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../runtime.ts";

let database: Database;
let pooler: Pooler | undefined;
let redis: RedisServer | undefined;
beforeAll(async () => {
  database = await createDatabase();
  if (pgbouncer !== undefined) pooler = await startPooler(database.socketFolder);
  if (findRedis() !== undefined) redis = await startRedis();
});
afterAll(async () => {
  await pooler?.stop();
  await redis?.stop();
  await database?.drop();
});

let schemas = 0;
const kinds: Readonly<Record<string, () => () => Store>> = {
  memory: () => {
    const store = memory({ shared: true });
    return () => store;
  },
  PostgreSQL: () => {
    const schema = `fleet_${++schemas}`;
    return () => postgres(database.url, { schema });
  },
  "PostgreSQL behind PgBouncer": () => {
    const schema = `fleet_${++schemas}`;
    return () => postgres((pooler as Pooler).url(database.url), { schema, listen: database.url });
  },
  "PostgreSQL behind PgBouncer, deaf": () => {
    const schema = `fleet_${++schemas}`;
    return () => postgres((pooler as Pooler).url(database.url), { schema });
  },
  "PostgreSQL with Redis": () => {
    const schema = `fleet_${++schemas}`;
    const options = { url: (redis as RedisServer).url, prefix: schema, signals: true, bytesMin: 0 };
    return () => withRedis(postgres(database.url, { schema }), options);
  },
};

/** What a kind needs that is not everywhere. */
const isMissing: Readonly<Record<string, boolean>> = {
  "PostgreSQL behind PgBouncer": pgbouncer === undefined,
  "PostgreSQL behind PgBouncer, deaf": pgbouncer === undefined,
  "PostgreSQL with Redis": findRedis() === undefined,
};

describe.each(Object.keys(kinds).filter((kind) => !isMissing[kind]))("a fleet on %s", (kind) => {
  const runtimes: Runtime[] = [];
  afterEach(async () => {
    await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
  });

  /** So many runtimes on one store, and what ends each of them without a word. */
  const fleet = (count: number, machines: RuntimeOptions["machines"]) =>
    fleetOfEach(Array.from({ length: count }, () => ({ machines })));

  async function fleetOfEach(each: readonly Omit<RuntimeOptions, "store">[]): Promise<{
    readonly all: Runtime[];
    readonly die: (() => void)[];
    join(options: Omit<RuntimeOptions, "store">): Promise<Runtime>;
  }> {
    const connect = (kinds[kind] as () => () => Store)();
    const all: Runtime[] = [];
    const die: (() => void)[] = [];
    const join = async (options: Omit<RuntimeOptions, "store">): Promise<Runtime> => {
      const connection = mortal(connect());
      const runtime = await createRuntime({ store: connection.store, ...options });
      runtimes.push(runtime);
      all.push(runtime);
      die.push(connection.die);
      return runtime;
    };
    for (const options of each) await join(options);
    return { all, die, join };
  }

  const ids = Array.from({ length: 12 }, (_, index) => `run-${index}`);

  test("B3: whichever of them is asked, a run takes what it is sent once, and all read the same", async () => {
    const { all } = await fleet(3, [counter]);
    const [one, two, three] = all as [Runtime, Runtime, Runtime];
    await Promise.all(ids.map((id) => one.start(counter, { id })));
    for (const runtime of [two, three, one])
      await Promise.all(
        ids.map(async (id) => {
          const receipt = await (await runtime.run(id)).send("add", 1);
          expect((await receipt.handled()).outcome).toBe("taken");
        }),
      );
    for (const runtime of all)
      for (const id of ids) expect((await (await runtime.run(id)).state()).context).toMatchObject({ n: 3 });
  });

  test("steps that wait for a commit are committed when any of them is asked to", async () => {
    const lazy = counterWith({ checkpoint: "manual" });
    const { all } = await fleet(2, [lazy]);
    const [one, two] = all as [Runtime, Runtime];
    await Promise.all(
      ids.map(async (id) => {
        const run = await one.start(lazy, { id });
        await run.sendAll(Array.from({ length: 70 }, () => ({ type: "add", data: 1 })));
        const other = await two.run(id);
        await other.checkpoint();
        expect((await other.journal(71)[Symbol.asyncIterator]().next()).value?.seq).toBe(71);
      }),
    );
  });

  test("B3: what one has answered another one reads at once", async () => {
    const { all } = await fleet(2, [counter]);
    const [one, two] = all as [Runtime, Runtime];
    for (const id of ids.slice(0, 4)) {
      const here = await one.start(counter, { id });
      const there = await two.run(id);
      for (let n = 1; n <= 6; n++) {
        const [writer, reader] = n % 2 === 0 ? [here, there] : [there, here];
        await (await writer.send("add", 1)).handled();
        expect((await reader.state()).context).toMatchObject({ n });
      }
    }
  });

  test("B3: whoever waits for the end of a run hears of it, wherever it comes", async () => {
    const { all } = await fleet(3, [counter]);
    const [one, two, three] = all as [Runtime, Runtime, Runtime];
    await Promise.all(ids.map((id) => one.start(counter, { id, input: 5 })));
    const ends = ids.map(async (id) => (await three.run(id)).finished());
    await Promise.all(ids.map(async (id) => (await two.run(id)).send("end")));
    for (const end of ends) expect(await end).toMatchObject({ status: "done", output: 5 });
  });

  test("B3: of many that start a run in the same moment one does, and the others have the same", async () => {
    const { all } = await fleet(3, [counter]);
    await Promise.all(ids.flatMap((id) => all.map((runtime) => runtime.start(counter, { id, input: 1 }))));
    for (const id of ids) expect((await (await all[0]?.run(id))?.head())?.seq).toBe(1);
  });

  test("B3: an event that asks is answered, wherever its run is at home", async () => {
    const clerk = defineMachine({
      id: "clerk",
      start: { asked: 0 },
      initial: "open",
      states: {
        open: {
          on: {
            question: {
              update: (draft) => void draft.asked++,
              actions: { reply: ({ event }) => ({ to: event.data as string }) },
            },
          },
        },
      },
    });
    const { all } = await fleet(2, [clerk]);
    const [one, two] = all as [Runtime, Runtime];
    for (const id of ids) {
      await one.start(clerk, { id });
      for (const runtime of [one, two])
        expect(await (await runtime.run(id)).ask("question", "why")).toEqual({ to: "why" });
    }
  });

  test("B3: timers fire once, wherever they were set", async () => {
    const alarm = defineMachine({
      id: "alarm",
      start: { rung: 0 },
      initial: "set",
      states: {
        set: { after: { 300: { target: "rung", update: (draft) => void draft.rung++ } } },
        rung: { type: "final", output: ({ context }) => context.rung },
      },
    });
    const { all } = await fleet(3, [alarm]);
    await Promise.all(ids.map((id, index) => all[index % 3]?.start(alarm, { id })));
    for (const [index, id] of ids.entries())
      expect(await (await all[(index + 1) % 3]?.run(id))?.finished()).toMatchObject({ output: 1 });
  });

  test("B3: runs send to each other across the fleet", async () => {
    const { all } = await fleet(2, [counter]);
    const [one, two] = all as [Runtime, Runtime];
    await Promise.all(ids.map((id) => one.start(counter, { id })));
    for (const [index, id] of ids.entries())
      await (await two.run(id)).send("tell", { run: ids[(index + 1) % ids.length] as string, data: id });
    for (const [index, id] of ids.entries()) {
      const next = await one.run(ids[(index + 1) % ids.length] as string);
      await expect.poll(async () => (await next.state()).context).toMatchObject({ log: [id] });
    }
  });

  test("B3: an activity runs once, and one that is cancelled elsewhere is aborted", async () => {
    const caller = callerWith();
    let calls = 0;
    const aborted: string[] = [];
    const tool = (_: unknown, { signal, run }: { signal: AbortSignal; run: string }) =>
      new Promise((_, reject) => {
        calls++;
        signal.addEventListener("abort", () => {
          aborted.push(run);
          reject(new Error("aborted"));
        });
      });
    const { all } = await fleet(2, [{ machine: caller, activities: { tool } } as never]);
    const [one, two] = all as [Runtime, Runtime];
    await Promise.all(ids.map((id) => one.start(caller, { id })));
    expect(calls).toBe(ids.length);
    for (const id of ids) await (await two.run(id)).cancel();
    await expect.poll(() => aborted.length).toBe(ids.length);
    expect(calls).toBe(ids.length);
  });

  test("B3: what one leaves in good order the others take up", async () => {
    const caller = callerWith();
    const calls: string[] = [];
    let isFirst = true;
    const tool = (_: unknown, { run, signal }: { run: string; signal: AbortSignal }) => {
      calls.push(run);
      if (!isFirst) return "done";
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("closing"))));
    };
    const { all } = await fleet(2, [{ machine: caller, activities: { tool } } as never, counter]);
    const [one, two] = all as [Runtime, Runtime];
    await Promise.all(ids.map((id) => one.start(caller, { id })));
    await Promise.all(ids.map((id) => one.start(counter, { id: `counter-${id}` })));
    isFirst = false;
    await one.close();
    for (const id of ids) await (await two.run(id)).waitFor("done");
    for (const id of ids) await (await (await two.run(`counter-${id}`)).send("add", 1)).handled();
    expect(calls.length).toBe(2 * ids.length);
  });

  test("B3: what one that died had under way the others take up, and it is fenced", async () => {
    const caller = callerWith();
    let isFirst = true;
    const tool = () => (isFirst ? new Promise(() => {}) : "done");
    const { all, die } = await fleet(3, [{ machine: caller, activities: { tool } } as never]);
    const [one, two] = all as [Runtime, Runtime];
    await Promise.all(ids.map((id) => one.start(caller, { id })));
    isFirst = false;
    die[0]?.();
    // Nobody closes it any more.
    runtimes.splice(runtimes.indexOf(one), 1);
    for (const id of ids) await (await two.run(id)).waitFor("done");
  });

  test("B9: two versions of a machine side by side: whoever knows a run's version sees to it", async () => {
    const first = counterWith();
    const second = counterWith({ version: 2 });
    const { all } = await fleetOfEach([{ machines: [first] }, { machines: [first, second] }]);
    const [old, young] = all as [Runtime, Runtime];
    await Promise.all(ids.map((id) => old.start(first, { id: `old-${id}` })));
    await Promise.all(ids.map((id) => young.start(second, { id: `young-${id}` })));
    await expect(old.run("young-run-0")).rejects.toMatchObject({ code: "MACHINE_UNKNOWN" });
    // Some of these are at home where nobody can read them.
    await Promise.all(
      ids.map(async (id) => (await (await young.run(`young-${id}`)).send("add", 1)).handled()),
    );
    for (const id of ids) {
      await (await (await old.run(`old-${id}`)).send("add", 1)).handled();
      await (await (await young.run(`old-${id}`)).send("add", 1)).handled();
      expect((await (await old.run(`old-${id}`)).state()).context).toMatchObject({ n: 2 });
      expect((await (await young.run(`young-${id}`)).state()).context).toMatchObject({ n: 1 });
      expect((await (await young.run(`young-${id}`)).head()).version).toBe(2);
    }
  });

  test("G2: activities that wait for their turn go to one that comes, and from one that leaves", async () => {
    const caller = callerWith();
    const ends: (() => void)[] = [];
    const places: string[] = [];
    const entry = (place: string) => ({
      machine: caller,
      activities: {
        tool: () =>
          new Promise((resolve) => {
            places.push(place);
            ends.push(() => resolve("done"));
          }),
      },
    });
    const slots = { flow: { slots: 2 } };
    const { all, join } = await fleetOfEach([{ machines: [entry("one")] as never, ...slots }]);
    const [one] = all as [Runtime];
    await Promise.all(ids.map((id) => one.start(caller, { id })));
    expect(places).toEqual(["one", "one"]);
    const two = await join({ machines: [entry("two")] as never, ...slots });
    await expect.poll(() => places.length).toBe(4);
    expect(places.filter((place) => place === "two").length).toBe(2);
    const draining = one.drain("30s");
    await expect.poll(() => one.members().find(({ isLeaving }) => isLeaving)).toBeDefined();
    // From now on it begins nothing.
    const begun = places.filter((place) => place === "one").length;
    while (ends.length > 0 || places.length < ids.length) {
      for (const end of ends.splice(0)) end();
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await draining).toBe(true);
    expect(places.filter((place) => place === "one").length).toBe(begun);
    await one.close();
    for (const id of ids) await (await two.run(id)).waitFor("done");
    expect(places.length).toBe(ids.length);
  });

  test("G2: a client does what it is asked, and runs nothing", async () => {
    const order = defineMachine({
      id: "order",
      start: { rung: 0 },
      initial: "checking",
      states: {
        checking: { invoke: { activity: "tool", onDone: "waiting" } },
        waiting: { after: { 50: { target: "open", update: (draft) => void draft.rung++ } } },
        open: {
          on: {
            pay: "paying",
            question: { actions: { reply: ({ event }) => ({ to: event.data as string }) } },
          },
        },
        paying: { invoke: { activity: "tool", onDone: "paid" } },
        paid: { type: "final" },
      },
    });
    const calls: string[] = [];
    const entry = (place: string) =>
      ({ machine: order, activities: { tool: () => void calls.push(place) } }) as never;
    const { all, join } = await fleetOfEach([{ machines: [entry("client")], role: "client" }]);
    const [client] = all as [Runtime];
    const runs = await Promise.all(ids.map((id) => client.start(order, { id })));
    expect(await Promise.all(runs.map(async (run) => (await run.state()).configuration))).toEqual(
      ids.map(() => ["checking"]),
    );
    // Longer than what nobody takes up is left alone.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(calls).toEqual([]);
    const worker = await join({ machines: [entry("worker")] });
    for (const run of runs) {
      expect(await run.waitFor("open")).toMatchObject({ context: { rung: 1 } });
      expect(await run.ask("question", "why")).toEqual({ to: "why" });
      // By the time it is asked for, the run may have ended.
      expect(await (await run.send("pay")).handled()).toMatchObject({ outcome: "taken" });
      expect(await run.finished()).toMatchObject({ state: "paid" });
    }
    expect(calls).toEqual(runs.flatMap(() => ["worker", "worker"]));
    const roles = worker.members().map(({ isLeaving, slots }) => [isLeaving, slots]);
    expect(roles).toEqual([
      [true, 0],
      [false, 1000],
    ]);
    expect(await client.drain()).toBe(true);
  });

  test("G2: one that drains leaves what is new to others, lets its activities end, and is none of them any more", async () => {
    const caller = callerWith();
    const ends: ((value: string) => void)[] = [];
    const tool = () => new Promise((resolve) => void ends.push(resolve));
    const { all } = await fleet(2, [{ machine: caller, activities: { tool } } as never, counter]);
    const [one, two] = all as [Runtime, Runtime];
    await one.start(caller, { id: "a" });
    await Promise.all(ids.map((id) => one.start(counter, { id })));
    expect(await one.drain(50)).toBe(false);
    await expect.poll(() => two.members().filter(({ isLeaving }) => !isLeaving).length).toBe(1);
    for (const id of ids) await (await (await one.run(id)).send("add", 1)).handled();
    const drained = one.drain();
    for (const end of ends) end("done");
    expect(await drained).toBe(true);
    await one.close();
    expect(await (await two.run("a")).waitFor("done")).toMatchObject({ context: { got: "done" } });
    expect(ends.length).toBe(1);
    await expect.poll(() => two.members().length).toBe(1);
  });
});

test("one that was closed is no member any more: whoever wants the whole store has it at once", async () => {
  const store = memory({ shared: true });
  const runtime = await createRuntime({ store, machines: [counter] });
  expect((await store.own("tool", 1_000, Date.now())).outcome).toBe("taken");
  await runtime.close();
  await store.open();
  expect((await store.own("tool", 1_000, Date.now())).outcome).toBe("owned");
});

test("a store for one process has no clients", async () => {
  const client = createRuntime({ store: memory(), machines: [counter], role: "client" });
  await expect(client).rejects.toMatchObject({ code: "STORE_UNSUPPORTED" });
});

test("B3: a pool of one connection is not kept from its work by somebody who listens", async () => {
  const pool = createPool(database.url, 1);
  const runtime = await createRuntime({ store: postgres(pool, { schema: "one" }), machines: [counter] });
  const run = await runtime.start(counter, { id: "a" });
  await (await run.send("add", 1)).handled();
  expect((await run.state()).context).toMatchObject({ n: 1 });
  await runtime.close();
  await pool.end();
});

test("G5: a worker goes on when a newer Holdfast has taken the store to its version", async () => {
  const schema = "rolling";
  const open = () => createRuntime({ store: postgres(database.url, { schema }), machines: [counter] });
  const old = await open();
  const run = await old.start(counter, { id: "a" });
  await (await run.send("nap")).handled();
  const next: Migration = (name) => `ALTER TABLE ${name}.run ADD COLUMN of_later text`;
  await migrate(database.pool, schema, [...migrations, next]);
  await (await run.send("note", "after")).handled();
  const others = await Promise.all(["b", "c"].map((id) => old.start(counter, { id })));
  for (const other of others) await (await other.send("add", 1)).handled();
  expect((await others[0]?.state())?.context).toMatchObject({ n: 1 });
  // One that is begun now is told what to do instead.
  await expect(open()).rejects.toMatchObject({ code: "STORE_NEWER" });
  await old.close();
});
