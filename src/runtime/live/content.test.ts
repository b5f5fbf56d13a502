/** Large texts: kept once for their subject, however many entries, snapshots, activities and runs use them. */
import { describe, expect, test } from "vitest";
import { callerWith, counter, counterWith } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import type { Json } from "../../index.ts";
import { limits } from "../../limits.ts";
import { encode } from "../../store/codec.ts";
import type { ContentRow } from "../../store/records.ts";

const large = (mark: string) => mark.repeat(limits.contentLengthMin);

/** How many texts were written to the store. */
const written = ({ watch }: Pick<World, "watch">): number =>
  watch.of("commit").reduce((sum, { given: [commits] }) => sum + commits.flatMap(textsOf).length, 0);

type Commit = Parameters<import("../../store/store.ts").Store["commit"]>[0][number];
const textsOf = ({ contents, starts }: Commit): unknown[] => [...contents, ...starts.flatMap(textsOf)];

onEveryStore((world) => {
  describe("a large text", () => {
    test("G1: is stored once, though its event, its patch and later entries have it", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      await run.send("note", large("x"));
      expect(written(here)).toBe(1);
      for (let times = 0; times < 5; times++) await run.send("note", { again: large("x") });
      expect(written(here)).toBe(1);
      const { journal } = await here.stored("a");
      const bytes = journal.reduce((sum, entry) => sum + entry.bytes.length, 0);
      expect(bytes).toBeLessThan(limits.contentLengthMin);
      await run.send("note", large("y"));
      expect(written(here)).toBe(2);
    });

    test("of an event that could not be taken is not stored with the next one, and is when it is needed", async () => {
      const here = await world();
      const send = { type: "note", data: "x".repeat(limits.valueBytesMax), to: { run: "b" } };
      const shouts = counterWith({
        states: {
          open: {
            on: {
              shout: { actions: { send } },
              note: { update: (draft, { event }) => void draft.log.push(event.data as Json) },
            },
          },
        },
      });
      const run = await (await here.boot([shouts])).start(shouts, { id: "a" });
      const [shouted, noted] = await Promise.allSettled([run.send("shout", large("x")), run.send("note", 1)]);
      expect([shouted.status, noted.status]).toEqual(["rejected", "fulfilled"]);
      expect(written(here)).toBe(0);
      await run.send("note", large("x"));
      expect(written(here)).toBe(1);
      expect((await run.state()).context.log).toEqual([1, large("x")]);
    });

    test("G1: one character short of large is kept where it stands", async () => {
      const here = await world();
      const run = await (await here.boot([counter])).start(counter, { id: "a" });
      await run.send("note", large("x").slice(1));
      expect(written(here)).toBe(0);
      await run.send("note", large("x"));
      expect(written(here)).toBe(1);
    });

    test("G1: comes back after a crash, from entries and from a snapshot, and is still stored once", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      const run = await first.start(counter, { id: "a" });
      await run.send("note", large("x"));
      await here.crash(first);
      const second = await here.boot([counter]);
      const again = await second.run("a");
      expect((await again.state()).context).toEqual({ n: 0, log: [large("x")] });
      for (let n = 0; n < 150; n++) await again.send("note", `${n} ${"z".repeat(200)}`);
      expect((await again.head()).snapshotSeq).toBeGreaterThan(0);
      const before = await again.state();
      await here.crash(second);
      const third = await (await here.boot([counter])).run("a");
      expect(await third.state()).toEqual(before);
      await third.send("note", large("x"));
      expect(written(here)).toBe(1);
      const [, entry] = await Promise.all([third.state(), third.journal(2)[Symbol.asyncIterator]().next()]);
      expect(entry.value).toMatchObject({ event: { data: large("x") } });
    });

    test("G1: is shared by the runs of one subject, and by no other", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      for (const [id, subject] of [
        ["a", "ada"],
        ["b", "ada"],
        ["c", "bob"],
      ] as const)
        await (await runtime.start(counter, { id, subject })).send("note", large("x"));
      const store = await here.look();
      const [digest] = here.watch
        .of("commit")
        .flatMap(({ given }) => given[0].flatMap((one) => one.contents));
      for (const [subject, count] of [
        ["ada", 1],
        ["bob", 1],
        ["carl", 0],
      ] as const) {
        const rows = await store.readContents("default", subject, [digest?.digest as string]);
        expect([subject, rows.length]).toEqual([subject, count]);
      }
    });

    test("G1: goes to an activity and comes back from it, through a crash", async () => {
      const here = await world();
      const machine = callerWith({ input: large("x") });
      const hang = () => new Promise(() => {});
      const first = await here.boot([{ machine, activities: { tool: hang } }]);
      await first.start(machine, { id: "a" });
      await here.rest();
      await here.crash(first);
      const echo = (input: Json) => [input, large("y")];
      const run = await (await here.boot([{ machine, activities: { tool: echo } }])).run("a");
      await run.waitFor("done");
      expect((await run.state()).context).toEqual({ got: [large("x"), large("y")] });
      expect(written(here)).toBe(2);
    });

    test("G1: goes to a child and to another run", async () => {
      const here = await world();
      const child = counterWith({ id: "child", start: ({ input }) => ({ n: 0, log: [input] }) });
      const parent = counterWith({
        id: "parent",
        initial: "raising",
        states: { raising: { invoke: { machine: child, input: large("x") } } },
      });
      const runtime = await here.boot([parent, counter]);
      await runtime.start(parent, { id: "p" });
      const kid = await runtime.run("p/1.0");
      expect((await kid.state()).context).toEqual({ n: 0, log: [large("x")] });
      const teller = await runtime.start(counter, { id: "teller" });
      const other = await runtime.start(counter, { id: "other" });
      await teller.send("tell", { run: "other", data: large("y") });
      await here.rest();
      expect((await other.state()).context.log).toEqual([large("y")]);
    });

    test("B4: that is missing is told as damage, and never made up", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      await (await first.start(counter, { id: "a" })).send("note", large("x"));
      await here.crash(first);
      here.watch.alter = ({ verb }, answer) => (verb === "readContents" ? [] : answer);
      const second = await here.boot([counter]);
      const damage = { code: "STORE_CORRUPT", message: expect.stringContaining("content") };
      await expect(second.run("a")).rejects.toMatchObject(damage);
      here.watch.alter = ({ verb }, answer) =>
        verb === "readContents"
          ? (answer as readonly ContentRow[]).map((row) => ({ ...row, bytes: encode(large("y")) }))
          : answer;
      await expect(second.run("a")).rejects.toMatchObject(damage);
    });
  });
});
