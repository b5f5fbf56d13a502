/** Checkpoint policies: which steps wait for a later commit, what forces one, and what a crash costs. */
import { describe, expect, test } from "vitest";
import { type Counter, counterWith } from "../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../test/runtime/world.ts";
import type { CheckpointPolicy } from "../core/bounds.ts";
import type { Run } from "./runtime.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A counter with a policy, and one without that sends it notes: events between runs are those that may wait. */
async function begin({ boot }: World, checkpoint: CheckpointPolicy<Counter>) {
  const patient = counterWith({ id: "patient", checkpoint });
  const runtime = await boot([patient, counterWith()]);
  const run = await runtime.start(patient, { id: "run" });
  const other = await runtime.start(counterWith(), { id: "other" });
  const tell = async (...notes: number[]) => {
    for (const data of notes) await other.send("tell", { run: "run", data });
  };
  /** All of them at once, so that they are taken in one turn. */
  const tellAll = (...notes: number[]) =>
    other.sendAll(notes.map((data) => ({ type: "tell", data: { run: "run", data } })));
  return { patient, runtime, run, tell, tellAll };
}

const seqOf = async (run: Pick<Run, "head">) => (await run.head()).seq;

onEveryStore((world) => {
  describe("a checkpoint", () => {
    test("B2: is made after every step unless something else is said", async () => {
      const here = await world();
      const { run, tell } = await begin(here, "step");
      await tell(1, 2, 3);
      await here.rest();
      expect(await seqOf(run)).toBe(4);
    });

    test("B2: is made every so many steps", async () => {
      const here = await world();
      const { run, tell } = await begin(here, { every: 3 });
      const before = here.watch.count("commit");
      await tell(1, 2);
      await here.rest();
      expect([await seqOf(run), here.watch.count("commit") - before]).toEqual([1, 2]);
      expect((await here.stored("run")).inbox.length).toBe(2);
      await tell(3);
      await here.rest();
      expect([await seqOf(run), here.watch.count("commit") - before]).toEqual([4, 4]);
      expect((await run.state()).context.log).toEqual([1, 2, 3]);
      expect((await here.stored("run")).inbox).toEqual([]);
    });

    test("B2: is made when something worth it has changed", async () => {
      const here = await world();
      const worth: CheckpointPolicy<Counter> = {
        when: ({ before, after }) => before.context.log.length < 3 && after.context.log.length >= 3,
      };
      const { run, tell } = await begin(here, worth);
      await tell(1, 2);
      await here.rest();
      expect(await seqOf(run)).toBe(1);
      await tell(3);
      await here.rest();
      expect(await seqOf(run)).toBe(4);
      await tell(4);
      await here.rest();
      expect(await seqOf(run)).toBe(4);
    });

    test("B2: is not made for what only all that waits has changed: each step is asked about by itself", async () => {
      const here = await world();
      const asked: number[] = [];
      const { run, tell, tellAll } = await begin(here, {
        when: ({ before, after }) => {
          asked.push(after.context.log.length);
          return after.context.log.length > before.context.log.length + 1;
        },
      });
      await tell(1, 2, 3);
      await here.rest();
      expect(await seqOf(run)).toBe(1);
      // And once, however many turns it waits.
      expect(asked).toEqual([1, 2, 3]);
      await tellAll(4, 5, 6);
      await here.rest();
      expect([await seqOf(run), asked]).toEqual([1, [1, 2, 3, 4, 5, 6]]);
    });

    test("B2: is made at once where the question itself fails", async () => {
      const here = await world();
      const { run, tell, runtime } = await begin(here, {
        when: () => {
          throw new Error("cannot say");
        },
      });
      await tell(1);
      await here.rest();
      expect([await seqOf(run), (await run.state()).context.log]).toEqual([2, [1]]);
      expect((await runtime.start(counterWith(), { id: "fine" })).id).toBe("fine");
    });

    test("B2: is made by hand, and does nothing where nothing waits", async () => {
      const here = await world();
      const { run, tell } = await begin(here, "manual");
      await run.checkpoint();
      await tell(1, 2, 3, 4);
      await here.rest();
      expect(await seqOf(run)).toBe(1);
      const before = here.watch.count("commit");
      await run.checkpoint();
      expect([await seqOf(run), here.watch.count("commit") - before]).toEqual([5, 1]);
      await run.checkpoint();
      expect(here.watch.count("commit") - before).toBe(1);
      expect((await run.state()).context.log).toEqual([1, 2, 3, 4]);
    });

    test("A5: is made for the repeat of an event whose step waits, so that its sender hears of it", async () => {
      const here = await world();
      const { run } = await begin(here, "manual");
      await run.pause();
      await run.send("note", 1, { key: "k" });
      await run.retry();
      await here.rest();
      const before = await seqOf(run);
      const { handled } = await run.send("note", 2, { key: "k" });
      expect(await handled()).toMatchObject({ seq: before + 1, outcome: "taken" });
      expect((await run.state()).context.log).toEqual([1]);
    });

    test("is made for whoever waits for an event when another who waited for it does so no more", async () => {
      const here = await world();
      const { run } = await begin(here, "manual");
      await run.pause();
      await run.send("note", 1, { key: "k" });
      const [one, other] = [await run.send("note", 2, { key: "k" }), await run.send("note", 3, { key: "k" })];
      const told = one.handled();
      await here.rest();
      here.watch.breakDown();
      await expect(other.handled()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      here.watch.comeBack();
      await run.retry();
      expect(await told).toMatchObject({ outcome: "taken" });
      expect((await run.state()).context.log).toEqual([1]);
    });

    test("B2: is made before more is read of an inbox that grew meanwhile", async () => {
      const here = await world();
      const { run, tell } = await begin(here, "manual");
      await run.pause();
      await tell(1);
      let isTold = false;
      here.watch.alter = async ({ verb }, answer) => {
        if (verb !== "readInbox" || isTold) return answer;
        isTold = true;
        await tell(2);
        return answer;
      };
      await run.retry();
      await here.rest();
      await run.checkpoint();
      expect((await run.state()).context.log).toEqual([1, 2]);
    });

    test("B2: that a crash came before costs recomputation and no event", async () => {
      const here = await world();
      const { runtime, patient, tell } = await begin(here, "manual");
      await tell(1, 2, 3);
      await here.rest();
      await here.crash(runtime);
      const second = await here.boot([patient, counterWith()]);
      const run = await second.run("run");
      await here.rest();
      expect(await seqOf(run)).toBe(1);
      await run.checkpoint();
      expect([await seqOf(run), (await run.state()).context.log]).toEqual([4, [1, 2, 3]]);
    });

    test("B2: is forced by an effect, a receipt, a timer and an end", async () => {
      const here = await world();
      const { run, tell } = await begin(here, "manual");
      await tell(1);
      await here.rest();
      await run.send("note", 2);
      expect([await seqOf(run), (await run.state()).context.log]).toEqual([3, [1, 2]]);
      await tell(3);
      await here.rest();
      await run.send("nap");
      expect(await seqOf(run)).toBe(5);
      await tell(4);
      await here.rest();
      expect(await seqOf(run)).toBe(5);
      await here.clock.advance("2m");
      expect([await seqOf(run), (await run.state()).context.log]).toEqual([7, [1, 2, 3, 4]]);
    });

    test("B2: is forced by an end that came through the inbox", async () => {
      const here = await world();
      const ending = counterWith({ id: "patient", checkpoint: "manual", on: { over: "closed" } });
      const sender = counterWith({
        on: { finish: { actions: { send: { type: "over", to: { run: "run" } } } } },
      });
      const runtime = await here.boot([ending, sender]);
      const run = await runtime.start(ending, { id: "run" });
      await (await runtime.start(sender, { id: "other" })).send("finish");
      expect(await run.finished()).toMatchObject({ status: "done" });
    });

    test("B2: is forced when too many steps wait, whatever the policy", async () => {
      const here = await world();
      const { run } = await begin(here, "manual");
      const count = 2_500;
      await run.sendAll(numbers(count).map((data) => ({ type: "note", data })));
      // Steps that wait call no store, so there is no telling from outside when they rest.
      for (let tries = 0; tries < 100 && (await seqOf(run)) < 2_001; tries++) await here.rest();
      expect(await seqOf(run)).toBeGreaterThanOrEqual(2_001);
      await run.checkpoint();
      expect((await run.state()).context.log).toEqual(numbers(count));
    });
  });
});
