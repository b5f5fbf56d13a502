/** Asking: an event whose sender wants a reply, in the same step or a later one, or to hear that there will be none. */
import { describe, expect, test } from "vitest";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, type Json } from "../../index.ts";

interface Desk {
  readonly open: readonly string[];
}

const desk = defineMachine<Desk>({
  id: "desk",
  start: { open: [] },
  initial: "open",
  states: {
    open: {
      on: {
        double: { actions: { reply: ({ event }) => 2 * (event.data as number) } },
        nothing: { actions: { reply: null } },
        /** Answered later, by `decide`. */
        request: { update: (draft, { event }) => void draft.open.push(event.replyTo as string) },
        decide: {
          actions: {
            reply: ({ event }) => event.data as Json,
            to: ({ context }) => context.open[0] as string,
          },
          update: () => {},
        },
        silent: {},
        refuse: { require: { never: () => false } },
        close: "closed",
        end: "over",
        only: { guard: () => false, target: "over" },
      },
    },
    closed: { on: { reopen: "open", lock: "locked" }, defer: ["double"] },
    locked: { on: { reopen: "open" } },
    over: { type: "final" },
  },
});

const unanswered = { code: "ASK_UNANSWERED" };

onEveryStore((world) => {
  const begin = async () => {
    const here = await world();
    const runtime = await here.boot([desk]);
    return { ...here, runtime, run: await runtime.start(desk, { id: "a" }) };
  };

  describe("an event that asks", () => {
    test("A5: gets the reply of the step that took it, once that is durable", async () => {
      const { run } = await begin();
      expect(await run.ask("double", 21)).toBe(42);
      expect(await run.ask("nothing")).toBe(null);
      expect(await Promise.all([1, 2, 3].map((n) => run.ask("double", n)))).toEqual([2, 4, 6]);
      expect((await run.head()).seq).toBe(6);
    });

    test("A5: gets a reply that a later step gives", async () => {
      const { run } = await begin();
      const asked = run.ask("request");
      await run.send("silent");
      await run.send("decide", { granted: true });
      expect(await asked).toEqual({ granted: true });
    });

    test("A5: gets the reply when it was deferred, and none when it was dropped at last", async () => {
      const { run } = await begin();
      await run.send("close");
      const asked = run.ask("double", 4);
      await run.send("reopen");
      expect(await asked).toBe(8);
      await run.send("close");
      const dropped = run.ask("double", 4);
      await run.send("lock");
      await expect(dropped).rejects.toMatchObject(unanswered);
    });

    test("A5: that is refused or ignored is told why there will be no reply", async () => {
      const { run } = await begin();
      await expect(run.ask("refuse")).rejects.toMatchObject({
        ...unanswered,
        message: expect.stringContaining("refused"),
        cause: { code: "CONTRACT_VIOLATED" },
      });
      await expect(run.ask("only")).rejects.toMatchObject({
        ...unanswered,
        message: expect.stringContaining("ignored"),
      });
      await expect(run.ask("fly")).rejects.toMatchObject({ ...unanswered, cause: { code: "EVENT_UNKNOWN" } });
    });

    test("A5: waits no longer than it says, and no shorter", async () => {
      const { run, clock } = await begin();
      let told: unknown;
      const asked = run.ask("request", undefined, { timeout: "30s" }).catch((error: unknown) => {
        told = error;
      });
      await clock.advance(29_999);
      expect(told).toBeUndefined();
      await clock.advance(1);
      await asked;
      expect(told).toMatchObject({ ...unanswered, message: expect.stringContaining("30s") });
      expect((await run.state()).context.open.length).toBe(1);
    });

    test("leaves nobody waiting once its time is up: its step waits for a checkpoint as others do", async () => {
      const { boot, clock, stored } = await world();
      const lazy = defineMachine<Desk>({ ...desk.definition, id: "lazy", checkpoint: "manual" });
      const runtime = await boot([lazy]);
      for (const key of [undefined, "k"]) {
        const run = await runtime.start(lazy, { id: `asked ${key}` });
        await run.pause();
        for (const options of [{ timeout: "1s" }, { timeout: "1s" }]) {
          const asked = run.ask("silent", 1, key === undefined ? options : { ...options, key });
          asked.catch(() => {});
          await clock.advance("1s");
          await expect(asked).rejects.toMatchObject(unanswered);
        }
        await run.retry();
        await clock.advance(0);
        expect((await stored(run.id)).head?.seq).toBe(3);
        await run.checkpoint();
        expect((await stored(run.id)).head?.seq).toBe(key === undefined ? 5 : 4);
      }
    });

    test("A5: of a run that ends, or has ended, is told so", async () => {
      const { run } = await begin();
      const asked = run.ask("request", undefined, { key: "k" });
      asked.catch(() => {});
      await expect.poll(async () => (await run.state()).context.open).toEqual(["k"]);
      await run.send("end");
      await expect(asked).rejects.toMatchObject(unanswered);
      await expect(run.ask("double", 1)).rejects.toMatchObject({ code: "RUN_ENDED" });
      await expect(run.ask("request", undefined, { key: "k" })).rejects.toMatchObject(unanswered);
    });

    test("A5: of a repeated key gets the reply of the first, also after a crash and in a later step", async () => {
      const { run, boot, crash, runtime } = await begin();
      expect(await Promise.all([1, 2].map(() => run.ask("double", 21, { key: "k" })))).toEqual([42, 42]);
      expect((await run.head()).seq).toBe(2);
      const lost = run.ask("request", undefined, { key: "later" });
      lost.catch(() => {});
      await expect.poll(async () => (await run.state()).context.open).toEqual(["later"]);
      await crash(runtime);
      const again = await (await boot([desk])).run("a");
      expect(await again.ask("double", 21, { key: "k" })).toBe(42);
      const asked = again.ask("request", undefined, { key: "later" });
      await again.send("decide", "yes");
      expect(await asked).toBe("yes");
      expect(await again.ask("request", undefined, { key: "later" })).toBe("yes");
      expect((await again.state()).context.open).toEqual(["later"]);
    });

    test("A5: under a key that was sent without asking is told that there is no reply", async () => {
      const { run } = await begin();
      await run.send("double", 1, { key: "k" });
      await expect(run.ask("double", 1, { key: "k" })).rejects.toMatchObject(unanswered);
    });

    test("A5: is in the journal with the reply it got", async () => {
      const { run } = await begin();
      await run.ask("double", 2, { key: "k" });
      for await (const { event, effects } of run.journal(2)) {
        expect(event).toMatchObject({ type: "double", replyTo: "k" });
        expect(effects).toEqual([{ type: "reply", to: "k", data: 4 }]);
      }
    });
  });
});
