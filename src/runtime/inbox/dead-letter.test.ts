/** Dead letters: events that found no run to take them are kept, shown, delivered again or discarded by a person. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore, type World } from "../../../test/runtime/world.ts";
import type { Runtime } from "../runtime.ts";

const lettersOf = (runtime: Runtime, tenant?: string) =>
  listOf(runtime.deadLetters.list(tenant === undefined ? {} : { tenant }));

/** A letter for a run that is not there, with this as its data. */
async function lose({ rest }: World, runtime: Runtime, data: string, run = "nobody"): Promise<void> {
  const sender = await runtime.start(counter, { id: "sender" });
  await sender.send("tell", { run, data });
  await rest();
}

onEveryStore((world) => {
  describe("an event", () => {
    test("B5: for a run that is not there becomes a dead letter with its reason", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      await lose(here, runtime, "hello");
      expect(await lettersOf(runtime)).toEqual([
        {
          ...{ number: expect.any(Number), run: "nobody", reason: "missing", at: here.clock.now() },
          event: { type: "note", data: "hello", origin: "sender" },
        },
      ]);
      expect(await lettersOf(runtime, "other")).toEqual([]);
    });

    test("A5: that comes back while its run commits a repeat is taken at once", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      await lose(here, runtime, "hello");
      const run = await runtime.start(counter, { id: "a" });
      await run.send("note", "first", { key: "k" });
      const [letter] = await lettersOf(runtime);
      let isSent = false;
      here.watch.alter = async ({ verb }, answer) => {
        if (verb !== "commit" || isSent) return answer;
        isSent = true;
        await runtime.deadLetters.redeliver(letter?.number ?? 0, { to: "a" });
        return answer;
      };
      await run.send("note", "again", { key: "k" });
      await here.rest();
      expect((await run.state()).context.log).toEqual(["first", "hello"]);
    });

    test("B5: for a run that has ended becomes a dead letter; from outside it is refused instead", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const over = await runtime.start(counter, { id: "over" });
      await over.send("end");
      await lose(here, runtime, "late", "over");
      expect(await lettersOf(runtime)).toMatchObject([{ run: "over", reason: "ended" }]);
      await expect(over.send("note", 1)).rejects.toMatchObject({ code: "RUN_ENDED" });
      expect(await lettersOf(runtime)).toHaveLength(1);
    });

    test("B5: that waits when its run ends becomes a dead letter, in order, and survives a crash", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      const batch = Array.from({ length: 100 }, (_, data) => ({ type: "note", data }));
      const receipts = await run.sendAll([{ type: "end" }, ...batch]);
      await receipts[0]?.handled();
      await crash(first);
      const letters = await lettersOf(await boot([counter]));
      expect(letters.map(({ event }) => event.data)).toEqual(batch.map(({ data }) => data));
      expect(letters.every(({ reason }) => reason === "ended")).toBe(true);
    });

    test("B5: that only tells of an end nobody waits for does not become one", async () => {
      const { boot, rest } = await world();
      const child = counterWith({ id: "child" });
      const parent = counterWith({
        id: "parent",
        initial: "raising",
        states: { raising: { invoke: { machine: child }, on: { end: "over" } }, over: { type: "final" } },
      });
      const runtime = await boot([parent]);
      const run = await runtime.start(parent, { id: "p" });
      await run.send("end");
      await rest();
      expect((await (await runtime.run("p/1.0")).finished()).status).toBe("cancelled");
      expect(await lettersOf(runtime)).toEqual([]);
    });
  });

  describe("a dead letter", () => {
    test("B5: is delivered again to its run, once that is there", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      await lose(here, runtime, "hello");
      const [letter] = await lettersOf(runtime);
      const number = letter?.number as number;
      await expect(runtime.deadLetters.redeliver(number)).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
      expect(await lettersOf(runtime)).toHaveLength(1);
      const run = await runtime.start(counter, { id: "nobody" });
      await runtime.deadLetters.redeliver(number);
      await here.rest();
      expect((await run.state()).context.log).toEqual(["hello"]);
      expect(await lettersOf(runtime)).toEqual([]);
      await expect(runtime.deadLetters.redeliver(number)).rejects.toMatchObject({ code: "LETTER_UNKNOWN" });
    });

    test("B5: is delivered to another run, and not to one that has ended", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      await lose(here, runtime, "hello");
      const [letter] = await lettersOf(runtime);
      const number = letter?.number as number;
      await (await runtime.start(counter, { id: "over" })).send("end");
      await expect(runtime.deadLetters.redeliver(number, { to: "over" })).rejects.toMatchObject({
        code: "RUN_ENDED",
      });
      const other = await runtime.start(counter, { id: "other" });
      await runtime.deadLetters.redeliver(number, { to: "other" });
      await here.rest();
      expect((await other.state()).context.log).toEqual(["hello"]);
    });

    test("is taken by another run that has had its key for something else, and by that one once", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      const [first, other] = [
        await runtime.start(counter, { id: "a" }),
        await runtime.start(counter, { id: "b" }),
      ];
      await other.send("note", "own", { key: "click-1" });
      await first.pause();
      await first.send("note", "precious", { key: "click-1" });
      await first.cancel();
      const [letter] = await lettersOf(runtime);
      const again = () => runtime.deadLetters.redeliver(letter?.number as number, { to: "b" });
      here.watch.failNext("removeDeadLetter", "before");
      await expect(again()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await again();
      await here.clock.advance("3s");
      expect((await other.state()).context.log).toEqual(["own", "precious"]);
      expect(await lettersOf(runtime)).toEqual([]);
    });

    test("B5: wakes a run that is not in memory, and waits for one that is parked", async () => {
      const here = await world();
      const first = await here.boot([counter]);
      await lose(here, first, "hello");
      await first.start(counter, { id: "nobody" });
      await here.crash(first);
      const runtime = await here.boot([counter]);
      const [letter] = await lettersOf(runtime);
      await runtime.deadLetters.redeliver(letter?.number as number);
      await here.rest();
      expect((await here.stored("nobody")).head?.seq).toBe(2);
    });

    test("A5: is delivered once, though the answer of the store was lost on the way", async () => {
      for (const verb of ["enqueue", "removeDeadLetter"] as const) {
        const here = await world();
        const runtime = await here.boot([counter]);
        await lose(here, runtime, "hello");
        const run = await runtime.start(counter, { id: "nobody" });
        const [letter] = await lettersOf(runtime);
        const number = letter?.number as number;
        here.watch.failNext(verb, verb === "enqueue" ? "after" : "before");
        await expect(runtime.deadLetters.redeliver(number)).rejects.toMatchObject({
          code: "STORE_UNAVAILABLE",
        });
        await here.clock.advance("3s");
        await runtime.deadLetters.redeliver(number);
        await here.clock.advance("3s");
        expect([verb, (await run.state()).context.log]).toEqual([verb, ["hello"]]);
        expect(await lettersOf(runtime)).toEqual([]);
      }
    });

    test("B5: is discarded", async () => {
      const here = await world();
      const runtime = await here.boot([counter]);
      await lose(here, runtime, "one");
      await lose(here, runtime, "two");
      const [one, two] = await lettersOf(runtime);
      await runtime.deadLetters.discard(one?.number as number);
      expect(await lettersOf(runtime)).toEqual([two]);
      await expect(runtime.deadLetters.discard(one?.number as number)).rejects.toMatchObject({
        code: "LETTER_UNKNOWN",
      });
      await expect(
        runtime.deadLetters.discard(two?.number as number, { tenant: "other" }),
      ).rejects.toMatchObject({ code: "LETTER_UNKNOWN" });
    });
  });
});
