/** Who did it: whoever acts on a run may say so, and the journal tells it as the `by` of the event that follows. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../test/runtime/world.ts";
import { defineMachine, type Event, type Json } from "../index.ts";
import { limits } from "../limits.ts";
import type { Run } from "./runtime.ts";

const ada = { by: "ada" };

/** What was done to a run, and by whom. */
async function deedsOf(run: Pick<Run<unknown>, "journal">): Promise<[string, string | undefined][]> {
  return (await listOf(run.journal())).map(({ event: { type, by } }) => [type, by]);
}

/** Keeps who sent what, by every way that handlers see an event. */
const witness = defineMachine<{ seen: Json[] }>({
  id: "witness",
  start: { seen: [] },
  entry: { update: see },
  exit: { update: see },
  initial: "open",
  states: {
    open: {
      on: {
        note: { guard: ({ event }) => event.by !== "mallory", update: see },
        question: { actions: { reply: ({ event }) => event.by ?? null } },
        nap: "asleep",
      },
    },
    asleep: { defer: ["note"], on: { wake: "open" } },
  },
});

function see(draft: { seen: Json[] }, { event }: { event: Event }): void {
  draft.seen.push([event.type, event.by ?? null]);
}

onEveryStore((world) => {
  describe("who did it", () => {
    test("B8: is in the journal of everything that somebody does to a run, and of nothing else", async () => {
      const { boot } = await world();
      const runtime = await boot([counter, counterWith({ version: 2 })]);
      const run = await runtime.start(counter, { id: "a", ...ada });
      await run.send("note", 1, ada);
      await run.sendAll([
        { type: "note", data: 3, by: "bob" },
        { type: "note", data: 4 },
      ]);
      await run.breakpoints([], ada);
      await run.pause(ada);
      await run.advance(1, ada);
      await run.send("note", 5, ada);
      await run.retry({ by: "bob" });
      await run.rollback({ by: 1 }, ada);
      const fork = await run.fork({ by: "bob" });
      await run.migrate({ to: 2, ...ada });
      await run.cancel({ by: "bob" });
      expect(await deedsOf(run)).toEqual([
        ...[
          ["start", "ada"],
          ["note", "ada"],
          ["note", "bob"],
          ["note", undefined],
        ],
        ...[
          ["debug", "ada"],
          ["park", "ada"],
          ["retry", "ada"],
          ["note", "ada"],
          ["park", undefined],
        ],
        ...[
          ["retry", "bob"],
          ["rollback", "ada"],
          ["migrate", "ada"],
          ["cancel", "bob"],
        ],
      ]);
      expect(await deedsOf(fork)).toEqual([["fork", "bob"]]);
      await fork.prune(ada);
      expect(await deedsOf(fork)).toEqual([["prune", "ada"]]);
    });

    test("B8: is seen by guards, updates, entry and exit actions, and by whoever answers", async () => {
      const { boot } = await world();
      const runtime = await boot([witness]);
      const run = await runtime.start(witness, ada);
      await run.send("note", 1, { by: "bob" });
      await run.send("note", 1, { by: "mallory" });
      expect(await run.ask("question", undefined, { by: "eve" })).toBe("eve");
      expect(await run.ask("question")).toBe(null);
      await run.cancel(ada);
      const { seen } = (await run.state()).context;
      expect(seen).toEqual([
        ["start", "ada"],
        ["note", "bob"],
        ["cancel", "ada"],
      ]);
    });

    test("B8: stays with an event that is deferred, waits in an inbox, or comes back after a crash", async () => {
      const { boot, crash } = await world();
      const first = await boot([witness]);
      const run = await first.start(witness, { id: "a" });
      await run.send("nap");
      await run.send("note", 1, ada);
      await run.pause();
      await run.send("wake", undefined, { by: "bob" });
      await crash(first);
      const again = await (await boot([witness])).run("a");
      expect((await again.state()).deferred).toEqual([{ type: "note", data: 1, by: "ada" }]);
      await again.retry();
      await again.waitFor("open");
      expect((await again.state()).context.seen).toEqual([
        ["start", null],
        ["note", "ada"],
      ]);
      expect((await deedsOf(again)).slice(-2)).toEqual([
        ["retry", undefined],
        ["wake", "bob"],
      ]);
    });

    test("B8: stays with a dead letter, and with what is delivered again", async () => {
      const { boot, rest } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      await run.pause();
      await run.send("note", 1, ada);
      await run.cancel();
      await rest();
      const [letter] = await listOf(runtime.deadLetters.list());
      expect(letter?.event).toEqual({ type: "note", data: 1, by: "ada" });
      const other = await runtime.start(counter, { id: "b" });
      await runtime.deadLetters.redeliver(letter?.number as number, { to: "b" });
      await rest();
      expect(await deedsOf(other)).toEqual([
        ["start", undefined],
        ["note", "ada"],
      ]);
    });

    test("B8: is what cancels the run that a singleton replaces", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const singleton = { key: "k", policy: "replace" } as const;
      const before = await runtime.start(counter, { singleton });
      const after = await runtime.start(counter, { singleton, ...ada });
      expect((await deedsOf(before)).at(-1)).toEqual(["cancel", "ada"]);
      expect(await deedsOf(after)).toEqual([["start", "ada"]]);
    });

    test("B8: is no part of what makes a start or a key the same", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a", ...ada });
      await runtime.start(counter, { id: "a", by: "bob" });
      await run.send("note", 1, { key: "k", ...ada });
      await run.send("note", 1, { key: "k", by: "bob" });
      expect(await deedsOf(run)).toEqual([
        ["start", "ada"],
        ["note", "ada"],
      ]);
    });

    const tooLong = "x".repeat(limits.nameLengthMax + 1);
    test.each([
      ["no text", 5, "not text"],
      ["nothing", "", "empty"],
      ["too long", tooLong, "512"],
    ])("F5: is refused if it is %s, and nothing is done", async (_, given, named) => {
      const { boot, stored } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const before = await stored("a");
      const by = { by: given as string };
      const refused = expect.objectContaining({
        code: "NAME_INVALID",
        message: expect.stringContaining(named),
      });
      const batch = [
        { type: "note", data: 1 },
        { type: "note", data: 2, ...by },
      ];
      for (const act of [
        () => runtime.start(counter, { id: "b", ...by }),
        () => runtime.start(counter, { singleton: "k", ...by }),
        () => runtime.machines.deploy(counterWith({ version: 2 }), by),
        () => run.send("note", 1, by),
        () => run.sendAll(batch),
        () => run.ask("note", 1, by),
        ...[() => run.cancel(by), () => run.retry(by), () => run.pause(by), () => run.prune(by)],
        ...[() => run.advance(1, by), () => run.breakpoints([], by), () => run.migrate(by)],
        ...[() => run.rollback({ to: 1 }, by), () => run.fork({ id: "b", ...by })],
      ])
        await expect(act()).rejects.toEqual(refused);
      expect(await stored("a")).toEqual(before);
      expect((await stored("b")).head).toBeUndefined();
      await run.send("note", 1, { by: "x".repeat(limits.nameLengthMax) });
    });

    test("F5: is named where options are none", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const wrong = { code: "OPTIONS_INVALID", message: expect.stringContaining("{ by }") };
      await expect(run.cancel("ada" as never)).rejects.toMatchObject(wrong);
      await expect(run.pause(null as never)).rejects.toMatchObject(wrong);
    });
  });
});
