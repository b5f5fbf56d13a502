/** Evolution of live runs: migrated, upgraded or pinned, on real stores and through crashes. */
import { describe, expect, test } from "vitest";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, defineMigration, type Json, type MachineDefinition } from "../../index.ts";
import type { Problem } from "../runtime.ts";

interface Order {
  readonly name: string;
  readonly log: readonly Json[];
}

const states: MachineDefinition<Order>["states"] = {
  paying: {
    invoke: { activity: "charge", id: "charge", input: "in", onDone: { target: "paid", update: keep } },
    after: { "10m": "late" },
    defer: ["ship"],
    on: { note: { update: keep } },
  },
  paid: { on: { ship: "sent", note: { update: keep } } },
  late: { on: { ship: "sent" } },
  sent: { on: { note: { update: keep } } },
};

function keep(draft: { log: Json[] }, { event }: { event: { data?: unknown } }): void {
  draft.log.push((event.data ?? null) as Json);
}

const orderWith = (version: number, parts: Partial<MachineDefinition<Order>> = {}) =>
  defineMachine<Order>({
    id: "order",
    version,
    start: { name: "Ada", log: [] },
    initial: "paying",
    states,
    ...parts,
  });

const one = orderWith(1);
/** A state more, and one fewer. */
const { late: _late, ...others } = states;
const two = orderWith(2, {
  states: {
    ...others,
    paying: { ...states.paying, after: { "10m": "held" } },
    held: { on: { ship: "sent" } },
  },
});
/** Everything elsewhere. */
const three = orderWith(3, {
  initial: "open",
  states: {
    open: {
      initial: "billing",
      states: {
        billing: {
          invoke: {
            activity: "bill",
            id: "charge",
            input: "in",
            onDone: { target: "#billed", update: keep },
          },
          after: { "10m": "#billed" },
          defer: ["send"],
          on: { note: { update: keep } },
        },
        billed: { id: "billed", on: { send: "#sent", note: { update: keep } } },
      },
    },
    sent: { id: "sent", on: { note: { update: keep } } },
  },
});
const toThree = defineMigration(two, three, {
  context: ({ name, log }) => ({ name: `${name} Lovelace`, log }),
  states: { paying: "open.billing", paid: "open.billed", held: "open.billed", sent: "sent" },
  events: { ship: "send" },
  activities: { charge: "bill" },
  back: {
    context: ({ name, log }) => ({ name: name.replace(" Lovelace", ""), log }),
    states: { "open.billing": "paying", "open.billed": "paid" },
    events: { send: "ship" },
    activities: { bill: "charge" },
  },
});

function raise(message: string): never {
  throw new Error(message);
}

/** Activities that end when they are told to. */
function tools() {
  const calls: { name: string; end(output: Json): void }[] = [];
  const code = (name: string) => () => new Promise<Json>((end) => void calls.push({ name, end }));
  return { calls, activities: { charge: code("charge"), bill: code("bill") } };
}

const listOf = async <Item>(items: AsyncIterable<Item>): Promise<Item[]> => {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
};

onEveryStore((world) => {
  /** A run of the first version: its activity under way, a timer set, an event deferred. */
  const begin = async () => {
    const here = await world();
    const { calls, activities } = tools();
    const problems: Problem[] = [];
    const entry = (machine: typeof one, parts: object = {}) => ({ machine, activities, ...parts });
    const runtime = await here.boot([entry(one)], { onProblem: (problem) => void problems.push(problem) });
    const run = await runtime.start(one, { id: "a" });
    await run.send("ship");
    await here.rest();
    return { ...here, runtime, run, calls, entry, problems };
  };

  describe("a run that is migrated", () => {
    test("B9: takes along its activity, its timer and its deferred event, in one step", async () => {
      const { runtime, run, calls, entry, rest } = await begin();
      runtime.register(entry(two));
      const { reports, outcome } = await run.migrate();
      expect(outcome).toBe("moved");
      expect(reports[0]?.survived.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
        "activity charge",
        "event ship",
        "timer after.paying.0",
      ]);
      const [, second] = runtime.machines.list("order");
      expect(await run.head()).toMatchObject({ version: 2, hash: second?.hash, seq: 3 });
      const [entryOf] = await listOf(run.journal(3));
      expect(entryOf).toMatchObject({ event: { type: "migrate", data: { from: 1, to: 2 } } });
      calls[0]?.end("money");
      await run.waitFor("sent");
      await rest();
      expect([(await run.state()).context.log, calls.length]).toEqual([["money"], 1]);
    });

    test("B9: goes on by its new version after a crash, with what has another name there", async () => {
      const { runtime, run, calls, entry, boot, crash, rest } = await begin();
      const all = [entry(one), entry(two), entry(three, { migrations: [toThree] })];
      for (const each of all.slice(1)) runtime.register(each);
      const { reports } = await run.migrate();
      expect(reports.map(({ from, to }) => [from, to])).toEqual([
        [1, 2],
        [2, 3],
      ]);
      await crash(runtime);
      const again = await (await boot(all)).run("a");
      await rest();
      expect(calls.map(({ name }) => name)).toEqual(["charge", "bill"]);
      calls[1]?.end("paid");
      await again.waitFor("sent");
      expect(await again.state()).toMatchObject({ version: 3, context: { name: "Ada Lovelace" } });
    });

    test("B9: goes back where that is declared, and is what it was", async () => {
      const { runtime, run, entry } = await begin();
      runtime.register(entry(two));
      runtime.register(entry(three, { migrations: [toThree] }));
      await run.migrate({ to: 2 });
      const before = await run.state();
      await run.migrate({ to: 3 });
      await run.migrate({ to: 2 });
      expect({ ...(await run.state()), seq: 0 }).toEqual({ ...before, seq: 0 });
    });

    test("B9: is refused with every reason, and stays as it is; on trial it is only told", async () => {
      const { runtime, run, entry, clock, stored } = await begin();
      await clock.advance("11m");
      expect((await run.state()).configuration).toEqual(["sent"]);
      const gone = orderWith(4, { states: { paying: {}, lost: {} } });
      runtime.register(entry(gone));
      const before = await stored("a");
      expect(await run.migrate({ dryRun: true })).toMatchObject({
        outcome: "refused",
        reports: [{ refused: [{ path: "configuration[0]" }] }],
      });
      await expect(run.migrate()).rejects.toMatchObject({
        code: "MIGRATION_REFUSED",
        message: expect.stringContaining("sent"),
      });
      await expect(run.migrate({ to: 9 })).rejects.toMatchObject({ code: "MACHINE_UNKNOWN" });
      expect(await stored("a")).toEqual(before);
      await run.cancel();
      await expect(run.migrate()).rejects.toMatchObject({ code: "RUN_ENDED" });
    });

    test("B9: lets go of what cannot come along where that is asked, and the journal says of what", async () => {
      const { runtime, run, calls, entry, rest } = await begin();
      const bare = orderWith(5, { states: { paying: { on: { note: { update: keep } } } } });
      runtime.register(entry(bare));
      await expect(run.migrate()).rejects.toMatchObject({ code: "MIGRATION_REFUSED" });
      const { reports } = await run.migrate({ drop: true });
      expect(reports[0]?.dropped.map(({ kind }) => kind).sort()).toEqual(["activity", "event", "timer"]);
      await rest();
      const [entryOf] = await listOf(run.journal(3));
      expect(entryOf?.event.data).toMatchObject({ dropped: [{}, {}, {}] });
      calls[0]?.end("too late");
      await run.send("note", 1);
      expect(await run.state()).toMatchObject({ version: 5, context: { log: [1] }, activities: [] });
    });
  });

  describe("runs of earlier versions", () => {
    test("B9: stay with theirs unless their machine says otherwise", async () => {
      const { runtime, run, entry } = await begin();
      await runtime.machines.deploy(entry(two));
      await run.send("note", 1);
      expect((await run.head()).version).toBe(1);
      const second = await runtime.start(two, { id: "b" });
      expect((await second.head()).version).toBe(2);
    });

    test("B9: are upgraded by a process that has both, as soon as they can be", async () => {
      const { runtime, entry, boot, crash, rest } = await begin();
      await crash(runtime);
      const picky = orderWith(6, {
        states: { ...states, paying: undefined as never, wait: {} },
        initial: "wait",
      });
      const second = await boot([entry(one), entry(picky, { evolution: "upgrade" })]);
      const run = await second.run("a");
      await rest();
      expect((await run.head()).version).toBe(1);
      await crash(second);
      const third = await boot([entry(one), entry(two, { evolution: "upgrade" })]);
      await rest();
      const again = await third.run("a");
      expect((await again.head()).version).toBe(2);
      expect((await again.replay()).divergence).toBeUndefined();
    });

    test("B9: are upgraded after the step that brings them where they can be", async () => {
      const { runtime, run, entry, calls, rest } = await begin();
      const later = orderWith(6, { initial: "paid", states: { paid: states.paid!, sent: states.sent! } });
      await runtime.machines.deploy(entry(later, { evolution: "upgrade" }), { leave: true });
      await run.send("note", 1);
      expect((await run.head()).version).toBe(1);
      calls[0]?.end("money");
      await run.waitFor("sent");
      await rest();
      expect(await run.head()).toMatchObject({ version: 6 });
    });

    test("of which one cannot even be looked at stay with theirs; that is told, and everybody goes on", async () => {
      const { runtime, run, entry, boot, crash, rest, problems } = await begin();
      const broken = { ...toThree, from: 1 };
      Object.defineProperty(broken, "mapping", { get: () => raise("the mapping is lost") });
      const parts = { evolution: "upgrade", migrations: [broken] };
      runtime.register(entry(three, parts));
      await run.send("note", 1);
      await rest();
      expect(problems).toMatchObject([{ run: "a", error: { message: "the mapping is lost" } }]);
      expect(await run.head()).toMatchObject({ version: 1, seq: 3 });
      // It is told once of a run and a version, however many steps the run takes, until it is something else.
      const other = await runtime.start(one, { id: "b" });
      for (const each of [run, other, run, other]) await each.send("note", 0);
      await rest();
      expect(problems.map((problem) => problem.run)).toEqual(["a", "b"]);
      const next = Object.defineProperty({ ...toThree, from: 1, to: 4 }, "mapping", {
        get: () => raise("another"),
      });
      runtime.register(entry(orderWith(4), { ...parts, migrations: [next] }));
      for (const each of [run, run]) await each.send("note", 0);
      await rest();
      expect(problems.slice(2)).toMatchObject([{ run: "a", error: { message: "another" } }]);
      await crash(runtime);
      const again = await boot([entry(one), entry(three, parts)], { onProblem: (one) => problems.push(one) });
      await (await again.run("a")).send("note", 2);
      await rest();
      expect(problems.length).toBeGreaterThan(3);
      expect((await (await again.run("a")).state()).context.log).toEqual([1, 0, 0, 0, 0, 2]);
    });

    test("B9: stay where they are while it is not decided whether a version comes in", async () => {
      const { runtime, run, entry, calls, rest, watch } = await begin();
      const other = await runtime.start(one, { id: "b" });
      await other.send("note", 1);
      calls[0]?.end("money");
      await run.waitFor("sent");
      const later = orderWith(6, { initial: "paid", states: { paid: states.paid!, sent: states.sent! } });
      let noted = () => {};
      const isNoted = new Promise<void>((resolve) => {
        noted = resolve;
      });
      watch.alter = async ({ verb }, answer) => {
        if (verb === "writeDocument") await isNoted;
        return answer;
      };
      const deploy = runtime.machines.deploy(entry(later, { evolution: "upgrade" }));
      await run.send("note", 2);
      noted();
      await expect(deploy).rejects.toMatchObject({
        code: "DEPLOY_REFUSED",
        details: { runs: [{ run: "b" }] },
      });
      await rest();
      for (const each of [run, other]) expect((await each.head()).version).toBe(1);
    });

    test("B9: of which some would break keep a version from coming in, with their list", async () => {
      const { runtime, run, entry } = await begin();
      const other = await runtime.start(one, { id: "b" });
      const gone = orderWith(4, { initial: "lost", states: { lost: {} } });
      await expect(runtime.machines.deploy(entry(gone, { evolution: "upgrade" }))).rejects.toMatchObject({
        code: "DEPLOY_REFUSED",
        message: expect.stringMatching(/2 runs.*\ba\b.*\bb\b/s),
        details: { runs: [{ run: "a" }, { run: "b" }] },
      });
      for (const each of [run, other]) expect((await each.head()).version).toBe(1);
      expect(runtime.machines.list("order")).toMatchObject([
        { version: 1, status: "active" },
        { version: 4, status: "draft" },
      ]);
      await expect(runtime.start(gone, { id: "c" })).rejects.toMatchObject({ code: "MACHINE_INACTIVE" });
      const moved = await runtime.machines.deploy(entry(two, { evolution: "upgrade" }));
      expect(moved).toMatchObject({ moved: [{ run: "a" }, { run: "b" }], left: [] });
      expect((await run.head()).version).toBe(2);
    });

    test("B9: that end or are removed when their turn comes keep no other from going along", async () => {
      const { runtime, run, entry, watch, look, clock } = await begin();
      const [ended, removed] = [await runtime.start(one, { id: "b" }), await runtime.start(one, { id: "c" })];
      const last = await runtime.start(one, { id: "d" });
      runtime.register(entry(two));
      watch.alter = async ({ verb, given }, answer) => {
        const { run: name } = (verb === "readAt" ? given[0] : {}) as { run?: string };
        if (name === "b") await ended.cancel();
        if (verb !== "readHead" || (given[0] as { run: string }).run !== "c") return answer;
        await removed.cancel();
        const store = await look();
        const { epoch } = await store.own("nobody", 1, clock.now());
        await store.removeRuns([given[0] as never], epoch);
        return answer;
      };
      const moved = await listOf(runtime.machines.migrate("order"));
      expect(moved.map(({ run: name, outcome }) => [name, outcome])).toEqual([
        ["a", "moved"],
        ["d", "moved"],
      ]);
      for (const each of [run, last]) expect((await each.head()).version).toBe(2);
    });

    test("go to no version that is not a number, though there is one that reads like it", async () => {
      const { runtime, run, entry, stored } = await begin();
      runtime.register(entry(two));
      const before = await stored("a");
      const invalid = { code: "OPTIONS_INVALID", message: expect.stringContaining("migrate({ to: version") };
      for (const to of ["2", true, [2], Number.NaN, null, 2n] as never[]) {
        await expect(run.migrate({ to })).rejects.toMatchObject(invalid);
        await expect(listOf(runtime.machines.migrate("order", { to }))).rejects.toMatchObject(invalid);
      }
      for (const options of [null, "x"] as never[])
        await expect(listOf(runtime.machines.migrate("order", options))).rejects.toMatchObject(invalid);
      expect(await stored("a")).toEqual(before);
    });

    test("B9: are all looked at on trial, and nothing is changed", async () => {
      const { runtime, run, entry, stored } = await begin();
      runtime.register(entry(two));
      const before = await stored("a");
      const plans = await listOf(runtime.machines.migrate("order", { dryRun: true }));
      expect(plans).toMatchObject([{ run: "a", from: 1, to: 2, outcome: "moved" }]);
      expect(await stored("a")).toEqual(before);
      await listOf(runtime.machines.migrate("order"));
      expect((await run.head()).version).toBe(2);
    });
  });

  describe("the catalog of machines", () => {
    test("takes no standing that there is not, and no machine that is none", async () => {
      const { runtime, entry } = await begin();
      for (const status of ["retire", "", null, 5, undefined] as never[]) {
        await expect(runtime.machines.mark("order", 1, status)).rejects.toMatchObject({
          code: "OPTIONS_INVALID",
          message: expect.stringContaining('"deprecated" or "retired"'),
        });
      }
      for (const machine of [null, undefined, 5, "order", {}, { machine: null }] as never[])
        await expect(runtime.machines.deploy(machine)).rejects.toMatchObject({ code: "MACHINE_INVALID" });
      await expect(runtime.machines.deploy(entry(two), null as never)).rejects.toMatchObject({
        code: "OPTIONS_INVALID",
      });
      expect(runtime.machines.list("order")).toMatchObject([{ version: 1, status: "active" }]);
    });

    test("E4: knows every version there was, its hash and where it stands, through restarts", async () => {
      const { runtime, run, entry, boot, crash, problems } = await begin();
      runtime.register(entry(two));
      await runtime.machines.mark("order", 1, "deprecated");
      await runtime.start(one, { id: "old" });
      expect(problems.at(-1)).toMatchObject({ run: "old", error: { code: "MACHINE_DEPRECATED" } });
      await expect(runtime.machines.mark("order", 1, "retired")).rejects.toMatchObject({
        code: "MACHINE_IN_USE",
        message: expect.stringContaining("a"),
      });
      await expect(runtime.machines.mark("order", 9, "retired")).rejects.toMatchObject({
        code: "MACHINE_UNKNOWN",
      });
      await run.migrate();
      await (await runtime.run("old")).cancel();
      await runtime.machines.mark("order", 1, "retired");
      await expect(runtime.start(one, { id: "new" })).rejects.toMatchObject({ code: "MACHINE_INACTIVE" });
      await crash(runtime);
      const again = await boot([entry(two)]);
      expect(again.machines.list()).toMatchObject([
        { id: "order", version: 1, status: "retired", loaded: false },
        { id: "order", version: 2, status: "active", loaded: true, hash: expect.any(String) },
      ]);
    });

    test("B9: a process that lacks the machine of a run that is alive does not begin, where it must know all", async () => {
      const { runtime, entry, boot, crash } = await begin();
      await crash(runtime);
      await expect(boot([entry(two)], { mustKnowAll: true })).rejects.toMatchObject({
        code: "DEPLOY_REFUSED",
        message: expect.stringContaining("a (order@1)"),
      });
      await boot([entry(one), entry(two)], { mustKnowAll: true });
    });
  });
});
