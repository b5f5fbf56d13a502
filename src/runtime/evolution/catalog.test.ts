/** The catalog of machines and what is deployed with it: what a version brings along, and what becomes of those before it. */
import { describe, expect, test } from "vitest";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, defineMigration, type MachineDefinition } from "../../index.ts";

interface Seen {
  readonly seen: readonly unknown[];
}

const jobWith = (version: number, states: NonNullable<MachineDefinition<Seen>["states"]>) =>
  defineMachine<Seen>({
    id: "job",
    version,
    start: { seen: [] },
    initial: Object.keys(states)[0] as string,
    on: { poke: {} },
    states,
  });

const one = jobWith(1, { open: { on: { shut: "shut" } }, shut: {} });
/** Has no state of its own for a job that is open. */
const two = jobWith(2, { begun: {}, shut: {} });
const toTwo = defineMigration(one, two, { states: { open: "begun" } });
const three = jobWith(3, { ready: { on: { shut: "shut" } }, shut: {} });
const upgrade = { evolution: "upgrade" as const };

onEveryStore((world) => {
  describe("a version that is deployed", () => {
    test("and would break runs comes in when it is deployed once more with a migration", async () => {
      const here = await world();
      const runtime = await here.boot([one]);
      const run = await runtime.start(one, { id: "a" });
      const refused = { code: "DEPLOY_REFUSED", message: expect.stringContaining("give a migration") };
      await expect(runtime.machines.deploy({ machine: two, ...upgrade })).rejects.toMatchObject(refused);
      const again = { machine: two, ...upgrade, migrations: [toTwo] };
      expect(await runtime.machines.deploy(again)).toMatchObject({ moved: [{ run: "a" }], left: [] });
      expect(await run.state()).toMatchObject({ version: 2, configuration: ["begun"] });
      expect(runtime.machines.list("job")).toMatchObject([{ status: "active" }, { status: "active" }]);
      // The migration that came last is the one that counts.
      const elsewhere = defineMigration(one, two, { states: { open: "shut" } });
      await runtime.machines.deploy({ ...again, migrations: [elsewhere] });
      const other = await runtime.start(one, { id: "b" });
      await other.migrate();
      expect((await other.state()).configuration).toEqual(["shut"]);
    });

    test("again with another policy keeps to that from then on, unless that would break runs", async () => {
      const here = await world();
      const runtime = await here.boot([one, two]);
      const [run, other] = [await runtime.start(one, { id: "a" }), await runtime.start(one, { id: "b" })];
      await other.send("shut");
      const entry = { machine: two, ...upgrade };
      await expect(runtime.machines.deploy(entry)).rejects.toMatchObject({ code: "DEPLOY_REFUSED" });
      await other.send("poke");
      await here.rest();
      // Nothing has changed, not even for those that could go.
      expect([(await run.head()).version, (await other.head()).version]).toEqual([1, 1]);
      const again = { ...entry, migrations: [toTwo] };
      expect((await runtime.machines.deploy(again)).moved.map((each) => each.run).sort()).toEqual(["a", "b"]);
      const late = await runtime.start(one, { id: "c" });
      await late.send("poke");
      await here.rest();
      expect((await late.head()).version).toBe(2);
      await runtime.machines.deploy({ machine: two, evolution: "pin" });
      // One that says nothing of it leaves it at that.
      await runtime.machines.deploy(two);
      const latest = await runtime.start(one, { id: "d" });
      await latest.send("poke");
      await here.rest();
      expect((await latest.head()).version).toBe(1);
      runtime.register({ machine: two, ...upgrade });
      await latest.send("poke");
      await here.rest();
      expect((await latest.head()).version).toBe(2);
    });

    test("has the activities that its entry makes for the runtime", async () => {
      const here = await world();
      const runtime = await here.boot([one]);
      const asking = jobWith(2, { asking: { invoke: { activity: "ask", onDone: "shut" } }, shut: {} });
      const entry = { machine: asking, activitiesOf: (own: unknown) => ({ ask: () => own === runtime }) };
      await runtime.machines.deploy(entry);
      const run = await runtime.start(asking, { id: "a" });
      expect(await run.waitFor("shut")).toMatchObject({ version: 2 });
      await expect(runtime.machines.deploy({ id: "nothing" } as never)).rejects.toMatchObject({
        code: "MACHINE_INVALID",
      });
    });

    test("lets runs go on whose machine was not there", async () => {
      const here = await world();
      const timed = jobWith(1, { open: { after: { "2m": "shut" } }, shut: {} });
      const first = await here.boot([timed]);
      await first.start(timed, { id: "a" });
      await here.crash(first);
      const second = await here.boot([]);
      await here.clock.advance("5m");
      await second.machines.deploy(timed);
      await here.clock.advance(0);
      expect((await here.stored("a")).head?.seq).toBe(2);
    });

    test("again stays where it stands in its life", async () => {
      const here = await world();
      const runtime = await here.boot([one]);
      const entry = { machine: two, ...upgrade, migrations: [toTwo] };
      await runtime.machines.deploy(entry);
      await runtime.machines.mark("job", 2, "deprecated");
      await runtime.machines.deploy(entry);
      expect(runtime.machines.list("job")[1]).toMatchObject({ version: 2, status: "deprecated" });
    });

    test("lets go of what cannot survive where that is asked, and says who did", async () => {
      const here = await world();
      const waiting = jobWith(1, { open: { after: { "2m": "shut" } }, shut: {} });
      const bare = jobWith(2, { open: {}, shut: {} });
      const runtime = await here.boot([waiting]);
      const run = await runtime.start(waiting, { id: "a" });
      const entry = { machine: bare, ...upgrade };
      await expect(runtime.machines.deploy(entry)).rejects.toMatchObject({ code: "DEPLOY_REFUSED" });
      const { moved } = await runtime.machines.deploy(entry, { drop: true, by: "ada" });
      expect(moved).toMatchObject([{ run: "a", reports: [{ dropped: [{ kind: "timer" }] }] }]);
      expect((await listOf(run.journal())).at(-1)?.event).toMatchObject({ type: "migrate", by: "ada" });
    });

    test("leaves runs of later versions where they are", async () => {
      const here = await world();
      const runtime = await here.boot([one, three]);
      const early = await runtime.start(one, { id: "a" });
      // One that could go to the version between, and one that could not.
      const [could, late] = [
        await runtime.start(three, { id: "b" }),
        await runtime.start(three, { id: "c" }),
      ];
      await could.send("shut");
      const entry = { machine: two, ...upgrade, migrations: [toTwo] };
      const deployed = await runtime.machines.deploy(entry);
      expect(deployed).toMatchObject({ moved: [{ run: "a", from: 1, to: 2 }], left: [] });
      const versions = [early, could, late].map(async (run) => (await run.head()).version);
      expect(await Promise.all(versions)).toEqual([2, 3, 3]);
    });

    test("is refused for runs that it would break, also where others go by it already", async () => {
      const here = await world();
      const runtime = await here.boot([one]);
      const [run, other] = [await runtime.start(one, { id: "a" }), await runtime.start(one, { id: "b" })];
      await other.send("shut");
      const entry = { machine: two, ...upgrade };
      const { moved, left } = await runtime.machines.deploy(entry, { leave: true });
      expect([moved.map((each) => each.run), left.map((each) => each.run)]).toEqual([["b"], ["a"]]);
      await expect(runtime.machines.deploy(entry)).rejects.toMatchObject({ code: "DEPLOY_REFUSED" });
      expect(runtime.machines.list("job")[1]).toMatchObject({ version: 2, status: "active" });
      expect([(await run.head()).version, (await other.head()).version]).toEqual([1, 2]);
    });

    test("is refused with what stands in the way at the last of several hops, and with as many names as there is room for", async () => {
      const here = await world();
      const runtime = await here.boot([one, { machine: two, migrations: [toTwo] }]);
      for (let count = 0; count < 22; count++) await runtime.start(one, { id: `r${count}` });
      const gone = defineMigration(two, three, { states: { shut: "ready" } });
      const refused = runtime.machines.deploy({ machine: three, ...upgrade, migrations: [gone] });
      await expect(refused).rejects.toThrow(
        /would break 22 runs.*configuration\[0\] is "begun".*, .* and 2 more/s,
      );
    });
  });

  describe("the catalog", () => {
    test("keeps statuses and times through restarts, and notes a definition that is another one by now", async () => {
      const here = await world();
      const first = await here.boot([one, two]);
      const since = here.clock.now();
      await here.clock.advance("1m");
      await first.machines.mark("job", 1, "retired");
      const changedAt = here.clock.now();
      const [before] = first.machines.list("job");
      expect(before).toMatchObject({ status: "retired", since, changedAt });
      await here.crash(first);
      await here.clock.advance("1m");
      const other = jobWith(1, { open: {}, another: {} });
      const second = await here.boot([other, two]);
      const [after] = second.machines.list("job");
      expect(after).toMatchObject({ status: "retired", since, changedAt });
      expect(after?.hash).not.toBe(before?.hash);
      await expect(second.start(other, { id: "a" })).rejects.toMatchObject({ code: "MACHINE_INACTIVE" });
      await here.crash(second);
      const third = await here.boot([two]);
      expect(third.machines.list("job")[0]).toEqual({ ...after, loaded: false });
    });

    test("makes no draft of a version that runs go by", async () => {
      const here = await world();
      const runtime = await here.boot([one, two]);
      await runtime.start(one, { id: "a" });
      await expect(runtime.machines.mark("job", 1, "draft")).rejects.toMatchObject({
        code: "MACHINE_IN_USE",
      });
      await runtime.machines.mark("job", 2, "draft");
      expect(runtime.machines.list("job")).toMatchObject([{ status: "active" }, { status: "draft" }]);
    });

    test("has what users deploy, and none of the platform's own machines", async () => {
      const here = await world();
      const undone = defineMachine({
        id: "trip",
        initial: "booking",
        states: {
          booking: { invoke: { activity: "book", compensate: { activity: "unbook" }, onDone: "booked" } },
          booked: {},
        },
      });
      const runtime = await here.boot([undone]);
      expect(runtime.machines.list().map(({ id }) => id)).toEqual(["trip"]);
    });

    test("keeps what is said of several versions at once, and what is said after a write that failed", async () => {
      const here = await world();
      const first = await here.boot([one, two, three]);
      await Promise.all([1, 2].map((version) => first.machines.mark("job", version, "deprecated")));
      for (const fault of ["before", "after"] as const) {
        here.watch.failNext("writeDocument", fault);
        const marked = first.machines.mark("job", 3, "draft");
        await expect(marked).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
        here.watch.failNext("writeDocument", fault);
        const deployed = first.machines.deploy(jobWith(fault === "before" ? 4 : 5, { open: {} }));
        await expect(deployed).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      }
      await first.machines.mark("job", 3, "retired");
      await here.crash(first);
      const second = await here.boot([one]);
      expect(second.machines.list("job").map(({ status }) => status)).toEqual([
        ...["deprecated", "deprecated", "retired"],
        ...["active", "active"],
      ]);
    });
  });

  describe("a run", () => {
    test("that is taken to two versions at once comes to both, one after the other", async () => {
      const here = await world();
      const twin = (version: number) => jobWith(version, { open: {}, shut: {} });
      const runtime = await here.boot([twin(1), twin(2), twin(3)]);
      const run = await runtime.start(twin(1), { id: "a" });
      const [near, far] = await Promise.all([run.migrate({ to: 2 }), run.migrate({ to: 3 })]);
      expect([near.reports.length, far]).toMatchObject([1, { from: 2, to: 3, outcome: "moved" }]);
      expect((await run.head()).version).toBe(3);
      const last = (await listOf(run.journal())).map(({ event }) => event.data);
      expect(last.slice(1)).toMatchObject([
        { from: 1, to: 2 },
        { from: 2, to: 3 },
      ]);
    });

    test("takes a step when its turn comes, and is told as refused where it cannot go from there", async () => {
      const here = await world();
      const runtime = await here.boot([one, jobWith(2, { open: {} })]);
      const run = await runtime.start(one, { id: "a" });
      await runtime.start(one, { id: "b" });
      let isShut = false;
      here.watch.alter = async ({ verb, given }, answer) => {
        if (verb !== "readAt" || (given[0] as { run: string }).run !== "a" || isShut) return answer;
        isShut = true;
        await run.send("shut");
        return answer;
      };
      const all = await listOf(runtime.machines.migrate("job"));
      expect(all).toMatchObject([
        { run: "a", outcome: "refused", reports: [{ refused: [{ path: "configuration[0]" }] }] },
        { run: "b", outcome: "moved" },
      ]);
      expect((await listOf(runtime.machines.migrate("job"))).map((each) => each.run)).toEqual(["a"]);
      const nobody = listOf(runtime.machines.migrate("nothing", { by: "" }));
      await expect(nobody).rejects.toMatchObject({ code: "NAME_INVALID" });
    });

    test("that is parked goes to a newer version when it comes back", async () => {
      const here = await world();
      const first = await here.boot([one]);
      await (await first.start(one, { id: "a" })).pause();
      await here.crash(first);
      const second = await here.boot([one, { machine: two, ...upgrade, migrations: [toTwo] }]);
      const run = await second.run("a");
      await run.breakpoints([]);
      await here.rest();
      expect(await run.head()).toMatchObject({ version: 1, status: "parked" });
      await run.retry();
      await here.rest();
      expect(await run.head()).toMatchObject({ version: 2, status: "active" });
    });

    test("sees who takes it along, and its journal tells what is elsewhere", async () => {
      const here = await world();
      const seeing = jobWith(2, {
        begun: {
          always: {
            target: "shut",
            update: (draft, { event }) => void draft.seen.push(event.type, event.by),
          },
        },
        shut: {},
      });
      const moving = defineMigration(one, seeing, { states: { open: "begun" } });
      const runtime = await here.boot([one, { machine: seeing, migrations: [moving] }]);
      const run = await runtime.start(one, { id: "a" });
      await run.migrate({ by: "ada" });
      expect((await run.state()).context.seen).toEqual(["migrate", "ada"]);
      expect((await listOf(run.journal())).at(-1)?.event.data).toMatchObject({
        moved: [{ from: "open", to: ["begun"] }],
      });
    });
  });
});
