/** What is stored of a run is not what was written: as much of it goes on as can, and nothing is made up. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import type { EntryRow } from "../../store/records.ts";
import type { LoadedRun } from "../../store/store.ts";
import type { Problem } from "../runtime.ts";

/** A run with a snapshot and entries after it, whose process was killed. */
async function withSnapshot({ boot, crash, stored }: World): Promise<number> {
  const runtime = await boot([counter]);
  const run = await runtime.start(counter, { id: "a" });
  const note = "n".repeat(limits.contentLengthMin - 1);
  while ((await run.head()).snapshotSeq === 0) await run.send("note", note);
  await run.send("add", 3);
  await crash(runtime);
  return (await stored("a")).head?.seq as number;
}

const spoiled = (bytes: Uint8Array): Uint8Array =>
  bytes.map((byte, index) => (index === 9 ? byte ^ 1 : byte));

onEveryStore((world) => {
  describe("a run", () => {
    test("B4: whose snapshot is damaged is read from its whole journal, and somebody is told", async () => {
      const here = await world();
      const seq = await withSnapshot(here);
      here.watch.alter = ({ verb }, answer) => {
        const loaded = answer as LoadedRun;
        if (verb !== "load" || loaded.snapshot === undefined) return answer;
        return { ...loaded, snapshot: { ...loaded.snapshot, bytes: spoiled(loaded.snapshot.bytes) } };
      };
      const problems: Problem[] = [];
      const second = await here.boot([counter], { onProblem: (problem) => void problems.push(problem) });
      const run = await second.run("a");
      expect((await run.state()).context.n).toBe(3);
      expect(problems).toMatchObject([{ run: "a", error: { code: "STORE_CORRUPT" } }]);
      await run.send("add", 1);
      expect(await run.head()).toMatchObject({ seq: seq + 1, snapshotSeq: seq + 1 });
    });

    test("B4: whose journal is damaged gives an error that names the newest good checkpoint", async () => {
      const here = await world();
      await withSnapshot(here);
      const spoil = (rows: readonly EntryRow[]) =>
        rows.map((row) => (row.seq === 3 ? { ...row, bytes: spoiled(row.bytes) } : row));
      here.watch.alter = ({ verb }, answer) => {
        if (verb === "readJournal") return spoil(answer as EntryRow[]);
        return verb === "load" ? { ...(answer as LoadedRun), snapshot: undefined } : answer;
      };
      const second = await here.boot([counter]);
      await expect(second.run("a")).rejects.toMatchObject({
        ...{ code: "STORE_CORRUPT", details: { run: "a", seq: 3, good: 2 } },
        message: expect.stringContaining('The newest good checkpoint of the run "a" is 2'),
      });
    });

    test("B4: whose journal ends too early gives an error that names the newest good checkpoint", async () => {
      const here = await world();
      const seq = await withSnapshot(here);
      here.watch.alter = ({ verb }, answer) => {
        if (verb === "readJournal") return (answer as EntryRow[]).filter((row) => row.seq < seq);
        return verb === "load" ? { ...(answer as LoadedRun), entries: [] } : answer;
      };
      const second = await here.boot([counter]);
      await expect(second.run("a")).rejects.toMatchObject({
        ...{ code: "STORE_CORRUPT", details: { run: "a", seq, good: seq - 1 } },
      });
    });

    test.each([
      ["status", { status: "done" }],
      ["version", { version: 2 }],
      ["digest", { digest: "another" }],
    ] as const)("whose head tells of another %s than its journal is not gone on with", async (_, wrong) => {
      const here = await world();
      await withSnapshot(here);
      here.watch.alter = ({ verb }, answer) => {
        const loaded = answer as LoadedRun;
        return verb === "load" ? { ...loaded, head: { ...loaded.head, ...wrong } } : answer;
      };
      const second = await here.boot([counter, counterWith({ version: 2 })]);
      await expect(second.run("a")).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    });

    test("B10: that is removed while it is read is not there, and nothing counts as damaged", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.send("note", "n".repeat(limits.contentLengthMin));
      await run.send("end");
      await here.crash(runtime);
      const second = await here.boot([counter]);
      const store = await here.look();
      here.watch.alter = async ({ verb }, answer) => {
        if (verb !== "load") return answer;
        const lease = (await store.scan("lease", { limit: 1 }))[0]?.row;
        await store.removeRuns([{ tenant: "default", run: "a" }], lease?.epoch ?? 0);
        await store.sweep(1_000);
        return answer;
      };
      await expect(second.run("a")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
    });

    test.each(["removed", "pruned"] as const)(
      "B10: that is %s before an entry of it is read counts as that, and not as damaged",
      async (how) => {
        const here = await world();
        const runtime = await here.boot([counter]);
        const run = await runtime.start(counter, { id: "a" });
        const note = "n".repeat(limits.contentLengthMin - 1);
        let notes = 0;
        do await run.send("note", note, { key: `note ${++notes}` });
        while ((await run.head()).snapshotSeq === 0);
        await run.send("end");
        const { tenant, snapshotSeq } = await run.head();
        await here.crash(runtime);
        const again = await (await here.boot([counter])).run("a");
        const store = await here.look();
        here.watch.alter = async (call, answer) => {
          if (call.verb !== "readJournal") return answer;
          const [name, from, count] = call.given as Parameters<typeof store.readJournal>;
          // Just before the journal is read, so that what is read is what is left.
          const epoch = (await store.scan("lease", { limit: 1 }))[0]?.row?.epoch ?? 0;
          if (how === "removed") await store.removeRuns([{ tenant, run: "a" }], epoch);
          else await store.pruneJournal({ tenant, run: "a" }, snapshotSeq, epoch);
          return store.readJournal(name, from, count);
        };
        const sent = again.send("note", note, { key: `note ${notes}` });
        await expect(sent).rejects.toMatchObject({
          code: how === "removed" ? "RUN_UNKNOWN" : "JOURNAL_PRUNED",
        });
      },
    );
  });
});
