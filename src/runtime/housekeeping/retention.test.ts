/** What goes and what stays, on every kind of store. */
import { describe, expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { defineMachine } from "../../index.ts";
import { limits } from "../../limits.ts";
import type { Commit, Store } from "../../store/store.ts";
import { type Clock, systemClock } from "../clock.ts";
import { defaultTenant as tenant, unknownRunError } from "../name.ts";
import type { Runtime } from "../runtime.ts";
import { type Canceller, expire } from "./expire.ts";
import { hold, readHolds, release } from "./hold.ts";
import { prune } from "./prune.ts";
import { retain } from "./retention.ts";
import { sweep } from "./sweep.ts";
import { verify } from "./verify.ts";

/** Short, since a runtime looks at its clock every few seconds. */
const day = 60_000;

/** Runs that ended on "days" 1 to `count`, one each, called `r1` and so on. */
async function endedRuns({ boot, clock }: World, count: number): Promise<Runtime> {
  const runtime = await boot([counter]);
  for (let number = 1; number <= count; number++) {
    await clock.advance(day);
    const run = await runtime.start(counter, { id: `r${number}`, attributes: { odd: number % 2 === 1 } });
    await run.send("end");
  }
  return runtime;
}

const namesOf = (runs: readonly { readonly run: string }[]): string[] =>
  runs.map(({ run }) => run).toSorted();

async function leftIn(store: Store): Promise<string[]> {
  return namesOf(await store.findRuns({ tenant, limit: 100 }));
}

/** A store in which something happens right before a verb is done for the first time. */
function meanwhile(
  store: Store,
  verb: "removeRuns" | "pruneJournal",
  happens: (store: Store) => Promise<void>,
): Store {
  let done = false;
  return new Proxy(store, {
    get: (_, name) => {
      const value = store[name as keyof Store] as (...given: unknown[]) => unknown;
      return async (...given: unknown[]) => {
        if (name === verb && !done) {
          done = true;
          await happens(store);
        }
        return value.apply(store, given);
      };
    },
  });
}

/** A fork of a run at a checkpoint, as it is stored. */
async function forkOf(store: Store, run: string, seq: number, epoch: number): Promise<void> {
  const head = await store.readHead({ tenant, run });
  const [entry] = await store.readJournal({ tenant, run }, seq, 1);
  if (head === undefined || entry === undefined) throw new Error("There is nothing to fork");
  const { completedAt: _completedAt, ...rest } = head;
  const first: Commit = {
    ...{ expect: 0, epoch, entries: [{ ...entry, seq: 1 }], snapshot: undefined, contents: [], consumed: [] },
    ...{ keys: [], begun: [], ended: [], sends: [], starts: [] },
    head: {
      ...rest,
      ...{ run: `${run}-fork`, seq: 1, digest: entry.digest, updatedAt: entry.at, fork: { run, seq } },
      status: "active",
    },
  };
  expect(await store.commit([first])).toEqual([{ outcome: "committed" }]);
}

onEveryStore((world) => {
  describe("retention", () => {
    test("B10: removes by age, and what it removes can be swept", async () => {
      const here = await world();
      const runtime = await endedRuns(here, 5);
      await runtime.start(counter, { id: "alive" });
      await here.close(runtime);
      const store = await here.look();
      const options = { store, clock: here.clock, rules: [{ olderThan: 2 * day }] };
      const dry = await retain({ ...options, dryRun: true });
      expect(namesOf(dry.removed)).toEqual(["r1", "r2"]);
      expect((await leftIn(store)).length).toBe(6);
      const { removed, kept } = await retain(options);
      expect([removed, kept]).toEqual([dry.removed, []]);
      expect(await leftIn(store)).toEqual(["alive", "r3", "r4", "r5"]);
      expect(await sweep({ store })).toBeGreaterThan(0);
      expect((await verify({ store })).problems).toEqual([]);
      expect(await retain(options)).toEqual({ removed: [], kept: [] });
    });

    test("B10: keeps so many of the newest, by status, machine and attributes", async () => {
      const here = await world();
      const runtime = await endedRuns(here, 6);
      const cancelled = await runtime.start(counter, { id: "cancelled" });
      await cancelled.cancel();
      await here.close(runtime);
      const store = await here.look();
      const apply = async (rule: object) =>
        namesOf((await retain({ store, clock: here.clock, rules: [rule], dryRun: true })).removed);
      expect(await apply({ keep: 5 })).toEqual(["r1", "r2"]);
      expect(await apply({ keep: 2, status: "done" })).toEqual(["r1", "r2", "r3", "r4"]);
      expect(await apply({ keep: 0, status: ["cancelled", "failed"] })).toEqual(["cancelled"]);
      expect(await apply({ keep: 0, attributes: { odd: true } })).toEqual(["r1", "r3", "r5"]);
      expect(await apply({ keep: 1, olderThan: 3 * day, attributes: { odd: true } })).toEqual(["r1"]);
      expect(await apply({ keep: 0, machine: "another" })).toEqual([]);
    });

    test("B10: leaves what is held, on a run or a subject, until the hold is taken back", async () => {
      const here = await world();
      await here.close(await endedRuns(here, 3));
      const store = await here.look();
      const { clock } = here;
      await hold({ store, clock }, { run: "r1", reason: "a lawsuit" });
      await hold({ store, clock }, { subject: "r2", reason: "an audit" });
      await hold({ store, clock }, { run: "r1", reason: "another" });
      const rules = [{ keep: 0 }];
      const { removed, kept } = await retain({ store, clock, rules });
      expect([namesOf(removed), namesOf(kept)]).toEqual([["r3"], ["r1", "r2"]]);
      expect(kept.find(({ run }) => run === "r1")).toMatchObject({
        why: "held",
        hold: { reason: "a lawsuit" },
      });
      expect([await release({ store }, { run: "r1" }), await release({ store }, { run: "r1" })]).toEqual([
        true,
        false,
      ]);
      expect((await readHolds({ store })).length).toBe(1);
      await retain({ store, clock, rules });
      expect(await leftIn(store)).toEqual(["r2"]);
    });

    test("B10: leaves what is held between the last look and the removal, and removes the rest", async () => {
      const here = await world();
      await here.close(await endedRuns(here, 3));
      const { clock } = here;
      const store = meanwhile(await here.look(), "removeRuns", (put) =>
        hold({ store: put, clock }, { run: "r2", reason: "just now" }),
      );
      const { removed, kept } = await retain({ store, clock, rules: [{ keep: 0 }] });
      expect([namesOf(removed), namesOf(kept)]).toEqual([["r1", "r3"], ["r2"]]);
      expect(kept[0]).toMatchObject({ why: "held", hold: { reason: "just now" } });
      expect(await leftIn(store)).toEqual(["r2"]);
    });

    test("B10: leaves what a fork stands on", async () => {
      const here = await world();
      await here.close(await endedRuns(here, 2));
      const store = await here.look();
      const { clock } = here;
      const { epoch } = await store.own("w", 1_000, clock.now());
      await forkOf(store, "r1", 1, epoch);
      await store.release("w", epoch, clock.now());
      const { removed, kept } = await retain({ store, clock, rules: [{ keep: 0 }] });
      expect([namesOf(removed), kept]).toEqual([["r2"], [{ tenant, run: "r1", why: "forked" }]]);
      expect((await verify({ store })).problems).toEqual([]);
    });

    test("goes by when a run ended, and not by when it began", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const slow = await runtime.start(counter, { id: "slow" });
      await (await runtime.start(counter, { id: "quick" })).send("end");
      await here.clock.advance(5 * day);
      await slow.send("end");
      await here.clock.advance(day);
      await here.close(runtime);
      const store = await here.look();
      const { removed } = await retain({ store, clock: here.clock, rules: [{ olderThan: 3 * day }] });
      expect([namesOf(removed), await leftIn(store)]).toEqual([["quick"], ["slow"]]);
    });

    test("removes a fork together with what it stands on, and tells the same before", async () => {
      const here = await world();
      const runtime = await endedRuns(here, 1);
      await here.clock.advance(day);
      const fork = await (await runtime.run("r1")).fork({ at: 1, id: "fork" });
      await fork.send("end");
      await here.close(runtime);
      const store = await here.look();
      const options = { store, clock: here.clock, rules: [{ keep: 0 }] };
      const dry = await retain({ ...options, dryRun: true });
      expect([namesOf(dry.removed), dry.kept]).toEqual([["fork", "r1"], []]);
      expect(await retain(options)).toEqual(dry);
      expect(await leftIn(store)).toEqual([]);
    });

    test("leaves what a run has started that has not ended", async () => {
      const here = await world();
      const parent = defineMachine({
        id: "parent",
        initial: "waiting",
        states: {
          waiting: { invoke: { machine: counter, id: "kid", onDone: "over" } },
          over: { on: { end: "closed" } },
          closed: { type: "final" },
        },
      });
      const runtime = await here.boot([parent, counter]);
      const run = await runtime.start(parent, { id: "p" });
      await here.rest();
      const kid = (await leftIn(await here.look())).find((one) => one !== "p") as string;
      await (await runtime.run(kid)).send("end");
      await run.waitFor("over");
      const store = await here.look();
      const apply = () => retain({ store, clock: here.clock, rules: [{ keep: 0 }] });
      await here.close(runtime);
      expect(await apply()).toEqual({ removed: [], kept: [{ tenant, run: kid, why: "parent" }] });
      const again = await here.boot([parent, counter]);
      await (await again.run("p")).send("end");
      await here.close(again);
      expect(namesOf((await apply()).removed)).toEqual([kid, "p"].toSorted());
    });

    test("removes all it is to remove, however many they are, and tells what has changed meanwhile", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
      for (const id of ids) await (await runtime.start(counter, { id })).send("end");
      await here.close(runtime);
      const { clock } = here;
      const store = meanwhile(await here.look(), "removeRuns", async (put) => {
        const { epoch } = (await put.scan("lease", { limit: 1 }))[0]?.row ?? { epoch: 0 };
        await forkOf(put, "r59", 1, epoch);
      });
      const { removed, kept } = await retain({ store, clock, rules: [{ keep: 0 }] });
      expect([removed.length, kept]).toEqual([59, [{ tenant, run: "r59", why: "changed" }]]);
      expect(await leftIn(store)).toEqual(["r59", "r59-fork"]);
    });

    test("leaves a run that is forked between the last look and the removal", async () => {
      const here = await world();
      await here.close(await endedRuns(here, 1));
      const store = meanwhile(await here.look(), "removeRuns", async (put) => {
        const { epoch } = (await put.scan("lease", { limit: 1 }))[0]?.row ?? { epoch: 0 };
        await forkOf(put, "r1", 1, epoch);
      });
      const outcome = await retain({ store, clock: here.clock, rules: [{ keep: 0 }] });
      expect(outcome).toEqual({ removed: [], kept: [{ tenant, run: "r1", why: "changed" }] });
    });

    test("is refused while somebody owns the store, and for rules that say nothing", async () => {
      const here = await world();
      await endedRuns(here, 1);
      const store = await here.look();
      const { clock } = here;
      await expect(retain({ store, clock, rules: [{ keep: 0 }] })).rejects.toMatchObject({
        code: "STORE_OWNED",
      });
      for (const rule of [
        {},
        { keep: -1 },
        { keep: 1.5 },
        { olderThan: "soon" },
        { keep: 0, status: "active" as const },
      ])
        await expect(retain({ store, clock, epoch: () => 1, rules: [rule] })).rejects.toMatchObject({
          code: "RULE_INVALID",
        });
    });
  });

  test("B10: a run that has been idle for too long is cancelled, and ages out from then on", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    for (const id of ["idle", "busy", "held"]) await runtime.start(counter, { id });
    await runtime.schedule("nightly", { cron: "0 0 1 1 *", start: { machine: counter } });
    await here.clock.advance(10 * day);
    await (await runtime.run("busy")).send("add", 1);
    const store = await here.look();
    const { clock } = here;
    await hold({ store, clock }, { run: "held", reason: "a lawsuit" });
    const options = { runtime, store, clock, rules: [{ idleFor: 7 * day }] };
    expect(namesOf((await expire({ ...options, dryRun: true })).cancelled)).toEqual(["idle"]);
    expect(await expire(options)).toEqual({
      cancelled: [{ tenant, run: "idle" }],
      kept: [{ tenant, run: "held", why: "held" }],
    });
    expect((await store.readHead({ tenant, run: "idle" }))?.status).toBe("cancelled");
    expect((await store.readHead({ tenant, run: "busy" }))?.status).toBe("active");
    expect((await expire(options)).cancelled).toEqual([]);
  });

  test("a run that begins after the clock was set back is not idle, though idle runs were looked for before", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    await runtime.start(counter, { id: "new" });
    const began = here.clock.now();
    const times = [began + 10 * day];
    const clock: Clock = { ...systemClock, now: () => times.shift() ?? began };
    const options = { runtime, store: await here.look(), rules: [{ idleFor: 7 * day }] };
    expect((await expire({ ...options, clock })).cancelled).toEqual([]);
    expect(times, "the clock was asked before").toEqual([]);
  });

  test("an idle run that was removed since it was found does not keep others from being cancelled", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    for (const id of ["gone", "idle"]) await runtime.start(counter, { id });
    await here.clock.advance(10 * day);
    const late: Canceller = {
      async run(id, options) {
        if (id === "gone") throw unknownRunError({ tenant, run: id });
        return runtime.run(id, options);
      },
    };
    const options = { store: await here.look(), clock: here.clock, rules: [{ idleFor: 7 * day }] };
    const { cancelled } = await expire({ ...options, runtime: late });
    expect(cancelled).toEqual([{ tenant, run: "idle" }]);
  });

  test("B10: old entries are pruned up to a snapshot, and the run goes on as if nothing had happened", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a", input: 5 });
    const note = "n".repeat(limits.contentLengthMin - 1);
    while ((await run.head()).snapshotSeq === 0)
      await run.send("note", note, { key: `k${(await run.head()).seq}` });
    const { snapshotSeq } = await run.head();
    await here.clock.advance(30 * day);
    for (let more = 0; more < 3; more++) await run.send("add", 1);
    const before = await run.state();
    await here.close(runtime);
    const store = await here.look();
    const { clock } = here;
    const rules = [{ olderThan: 7 * day }];
    await hold({ store, clock }, { run: "a", reason: "a lawsuit" });
    expect(await prune({ store, clock, rules })).toEqual({
      pruned: [],
      kept: [{ tenant, run: "a", why: "held" }],
    });
    await release({ store }, { run: "a" });
    const held = meanwhile(store, "pruneJournal", () => hold({ store, clock }, { run: "a", reason: "now" }));
    expect((await prune({ store: held, clock, rules })).kept).toEqual([{ tenant, run: "a", why: "held" }]);
    await release({ store }, { run: "a" });
    expect((await prune({ store, clock, rules })).pruned).toEqual([{ tenant, run: "a", seq: snapshotSeq }]);
    await sweep({ store });
    expect((await verify({ store })).problems).toEqual([]);
    expect((await store.readJournal({ tenant, run: "a" }, 1, 9))[0]?.seq).toBe(snapshotSeq + 1);
    const second = await here.boot([counter]);
    const again = await second.run("a");
    expect(await again.state()).toEqual(before);
    await again.send("add", 1);
    const entries: number[] = [];
    for await (const { seq } of again.journal()) entries.push(seq);
    expect(entries[0]).toBe(snapshotSeq + 1);
    await expect(
      again.send("note", note, { key: "k1" }),
      "it was taken, and no more is known",
    ).rejects.toMatchObject({
      code: "JOURNAL_PRUNED",
    });
    await second.start(counter, { id: "a", input: 5 });
    expect(await prune({ store, clock, epoch: () => 0, rules })).toEqual({ pruned: [], kept: [] });
  });

  test("an entry that is not old enough stays, also where it is the one with the snapshot", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const note = "n".repeat(limits.contentLengthMin - 1);
    const sample = await runtime.start(counter, { id: "sample" });
    while ((await sample.head()).snapshotSeq === 0) await sample.send("note", note);
    const { snapshotSeq } = await sample.head();
    const run = await runtime.start(counter, { id: "a" });
    while ((await run.head()).seq < snapshotSeq - 1) await run.send("note", note);
    await here.clock.advance(3 * day);
    for (let more = 0; more < 3; more++) await run.send("note", note);
    expect((await run.head()).snapshotSeq).toBe(snapshotSeq);
    // One that is parked may be given back what an old entry holds.
    await sample.send("add", 1);
    await sample.pause();
    await here.close(runtime);
    const store = await here.look();
    const { clock } = here;
    expect((await prune({ store, clock, rules: [{ olderThan: 2 * day }] })).pruned).toEqual([]);
    await clock.advance(3 * day);
    const rules = [{ olderThan: 2 * day }, { olderThan: "soon" }];
    await expect(prune({ store, clock, rules })).rejects.toMatchObject({ code: "RULE_INVALID" });
    expect(await prune({ store, clock, rules: rules.slice(0, 1) })).toEqual({
      pruned: [{ tenant, run: "a", seq: snapshotSeq }],
      kept: [],
    });
    expect(await prune({ store, clock, rules: rules.slice(0, 1) })).toEqual({ pruned: [], kept: [] });
  });

  test("B10: a runtime keeps house by itself, at its times, while runs go on and after a crash", async () => {
    const here = await world();
    const problems: unknown[] = [];
    const housekeeping = {
      ...{ every: day / 4, retain: [{ olderThan: 2 * day - 1 }], expire: [{ idleFor: 3 * day }] },
    };
    const boot = () =>
      here.boot([counter], { housekeeping, onProblem: (problem) => void problems.push(problem) });
    await here.crash(await endedRuns(here, 3));
    const first = await boot();
    await here.clock.advance(1);
    const store = await here.look();
    expect(await leftIn(store)).toEqual(["r2", "r3"]);
    await here.crash(first);
    const runtime = await boot();
    await here.clock.advance(3 * day);
    expect(await leftIn(store)).toEqual([]);
    await runtime.start(counter, { id: "new" });
    await here.clock.advance(4 * day);
    expect((await store.readHead({ tenant, run: "new" }))?.status).toBe("cancelled");
    await here.clock.advance(3 * day);
    expect([await leftIn(store), problems]).toEqual([[], []]);
  });

  test("B10: a runtime does not begin with a plan that cannot be kept", async () => {
    const here = await world();
    const boot = here.boot([counter], { housekeeping: { retain: [], every: "soon" } });
    await expect(boot).rejects.toMatchObject({ code: "RULE_INVALID" });
    await here.boot([counter]);
  });
});
