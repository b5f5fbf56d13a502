/** Travel in journals that were pruned, and in forks whose source is gone: what is there is told, the rest is refused. */
import { describe, expect, test } from "vitest";
import { callerWith, counter } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { findAlive } from "../find.ts";
import { defaultTenant } from "../name.ts";
import { openReader } from "../reader.ts";
import type { Run } from "../run.ts";

const note = "n".repeat(limits.contentLengthMin - 1);
const pruned = { code: "JOURNAL_PRUNED" };

/** The right of whoever has it. */
async function epochIn(here: World): Promise<number> {
  return (await (await here.look()).own("nobody", 1, here.clock.now())).epoch;
}

/** Sends notes until the run has a snapshot before its newest step, and prunes its journal up to there. */
async function prune(here: World, run: Pick<Run, "id" | "send" | "head">): Promise<number> {
  do await run.send("note", note);
  while ((await run.head()).snapshotSeq === 0);
  await run.send("add", 1);
  const { tenant, snapshotSeq } = await run.head();
  const name = { tenant, run: run.id };
  expect(await (await here.look()).pruneJournal(name, snapshotSeq, await epochIn(here))).toBe(true);
  return snapshotSeq;
}

const seqsOf = async (run: Pick<Run, "journal">, from?: number): Promise<number[]> => {
  const seqs: number[] = [];
  for await (const { seq } of run.journal(from)) seqs.push(seq);
  return seqs;
};

onEveryStore((world) => {
  describe("a journal that was pruned", () => {
    test("B7: is told from its first entry on, and replayed from the state before it", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a", input: 5 });
      const base = await prune(here, run as never);
      await run.send("add", 2);
      expect(await seqsOf(run as never)).toEqual([base + 1, base + 2]);
      const { recorded, replayed, steps, divergence } = await run.replay();
      expect([replayed, steps, divergence]).toEqual([recorded, 2, undefined]);
      const reader = await openReader({ store: here.place.connect() });
      const seen: number[] = [];
      for await (const { state } of reader.steps("a")) seen.push(state.context.n as number);
      expect(seen).toEqual([6, 8]);
      if (here.place.path !== undefined) await reader.close();
    });

    test("B7: has no states, ways back and forks before its snapshot, and all of them after it", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const base = await prune(here, run as never);
      await expect(run.at(base - 1)).rejects.toMatchObject(pruned);
      expect((await run.at(base)).seq).toBe(base);
      await expect(run.diff(1)).rejects.toMatchObject(pruned);
      for (const to of [1, base]) await expect(run.rollback({ to })).rejects.toMatchObject(pruned);
      await expect(run.fork({ at: 1, id: "b" })).rejects.toMatchObject(pruned);
      const twin = await run.fork({ at: base + 1, id: "b" });
      await run.send("add", 4);
      expect(await run.rollback({ to: base + 1 })).toBe(base + 3);
      expect((await run.state()).context.n).toBe(1);
      expect((await twin.state()).context.n).toBe(1);
    });

    test("B7: tells who changed what since, and refuses to guess who did before", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const base = await prune(here, run as never);
      expect((await run.lastChange("$.n"))?.entry.seq).toBe(base + 1);
      await expect(run.lastChange("$.log")).rejects.toMatchObject(pruned);
      const twin = await run.fork({ at: base + 1, id: "b" });
      expect(await twin.lastChange("$.n")).toMatchObject({ run: "a", entry: { seq: base + 1 } });
      const other = await runtime.start(counter, { id: "c" });
      await expect(runtime.diff(run, other)).rejects.toMatchObject(pruned);
    });

    test("B7: does not go back to an activity whose beginning was pruned", async () => {
      const here = await world();
      const ends: (() => void)[] = [];
      const machine = callerWith();
      const activities = { tool: () => new Promise<string>((end) => void ends.push(() => end("x"))) };
      const runtime = await here.boot([{ machine, activities }]);
      const run = await runtime.start(machine, { id: "a" });
      const base = await prune(here, run as never);
      await here.rest();
      ends[0]?.();
      await run.waitFor("done");
      await expect(run.rollback({ to: base + 1 })).rejects.toMatchObject(pruned);
    });
  });

  test("B7: a fork that was pruned stands on its own, and outlives its source", async () => {
    const here = await world();
    const first = await here.boot([counter]);
    const run = await first.start(counter, { id: "a", input: 5 });
    await run.send("add", 1);
    const twin = await run.fork({ id: "b" });
    const base = await prune(here, twin as never);
    await run.send("end");
    const store = await here.look();
    const source = { tenant: defaultTenant, run: "a" };
    expect(await store.removeRuns([source], await epochIn(here))).toEqual([true]);
    await here.crash(first);
    const again = await (await here.boot([counter])).run("b");
    expect((await again.state()).context.n).toBe(7);
    expect(await seqsOf(again as never)).toEqual([base + 1]);
    const { recorded, replayed } = await again.replay();
    expect(replayed).toBe(recorded);
    await expect(again.at(1)).rejects.toMatchObject(pruned);
    expect((await again.lastChange("$.n"))?.entry.seq).toBe(base + 1);
  });

  test("B7: a fork of a fork keeps the run that both are worked out from", async () => {
    const here = await world();
    const first = await here.boot([counter]);
    const run = await first.start(counter, { id: "a", input: 5 });
    await run.send("add", 1);
    const twin = await run.fork({ id: "b" });
    const store = await here.look();
    const source = { tenant: defaultTenant, run: "a" };
    do await twin.send("note", note);
    while ((await store.readForks(source)).some(({ stands }) => stands));
    const second = await twin.fork({ id: "c", at: 1 });
    await second.send("add", 1);
    await run.send("end");
    const epoch = await epochIn(here);
    expect(await store.removeRuns([source], epoch)).toEqual([false]);
    await here.crash(first);
    expect((await (await (await here.boot([counter])).run("c")).state()).context.n).toBe(7);
  });

  test("B7: a fork does not take another run for its source that has its name by now", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a", input: 5 });
    await run.send("add", 1);
    const twin = await run.fork({ id: "b" });
    const store = await here.look();
    const source = { tenant: defaultTenant, run: "a" };
    // Until it has a snapshot that is kept, and needs its source no more.
    do await twin.send("note", note);
    while ((await store.readForks(source)).some(({ stands }) => stands));
    expect(await twin.lastChange("$.n")).toMatchObject({ run: "a", entry: { seq: 2 } });
    await run.send("end");
    expect(await store.removeRuns([source], await epochIn(here))).toEqual([true]);
    for (const [input, amount, times] of [
      [50, 1, 3],
      [5, 2, 3],
      [5, 1, 0],
    ] as const) {
      const other = await runtime.start(counter, { id: "a", input });
      for (let count = 0; count < times; count++) await other.send("add", amount);
      await expect(twin.lastChange("$.n"), `${input} ${amount} ${times}`).rejects.toMatchObject(pruned);
      await expect(runtime.diff(other, twin)).rejects.toMatchObject(pruned);
      await other.send("end");
      expect(await store.removeRuns([source], await epochIn(here))).toEqual([true]);
    }
  });

  test("a fork that still stands on a source that is not there is damaged, and not pruned", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a", input: 5 });
    const twin = await run.fork({ id: "b" });
    here.watch.alter = ({ verb, given }, answer) =>
      verb === "readHead" && (given[0] as { run: string }).run === "a" ? undefined : answer;
    await expect(twin.lastChange("$.n")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });

  test("B7: a fork whose source is removed while it begins is refused, and nobody waits for it", async () => {
    const here = await world();
    const runtime = await here.boot([counter]);
    const run = await runtime.start(counter, { id: "a" });
    await run.send("add", 1);
    await run.send("end");
    const source = { tenant: defaultTenant, run: "a" };
    here.watch.alter = async ({ verb }, answer) => {
      if (verb === "readAt") await (await here.look()).removeRuns([source], await epochIn(here));
      return answer;
    };
    await expect(run.fork({ at: 2, id: "b" })).rejects.toMatchObject(pruned);
    await expect(runtime.run("b")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    await runtime.start(counter, { id: "b" });
  });

  test("runs that are alive are found of all tenants, and of one machine", async () => {
    const here = await world();
    const runtime = await here.boot([counter, { machine: callerWith(), activities: { tool: () => "x" } }]);
    await (await runtime.start(counter, { id: "over" })).send("end");
    await (await runtime.start(counter, { id: "a" })).pause();
    await runtime.start(counter, { id: "a", tenant: "globex" });
    await runtime.start(callerWith(), { id: "b", tenant: "initech" });
    const found = async (machine?: string): Promise<string[]> => {
      const heads: string[] = [];
      for await (const { tenant, run, status } of findAlive(await here.look(), machine))
        heads.push(`${tenant} ${run} ${status}`);
      return heads.sort();
    };
    const counters = ["default a parked", "globex a active"];
    expect(await found("counter")).toEqual(counters);
    expect(await found()).toEqual([...counters, "initech b active"]);
  });
});
