/** Floods: many senders, inboxes longer than what is read at a time, parking in between, and nothing lost or doubled. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { defineMachine, type Json } from "../../index.ts";
import { limits } from "../../limits.ts";
import { encode } from "../../store/codec.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Takes notes while it calls a tool again and again, whose result it refuses unless `isFixed`. */
const pickyWith = (isFixed: () => boolean) =>
  defineMachine<{ got: Json[] }>({
    id: "picky",
    start: { got: [] },
    initial: "calling",
    states: {
      calling: {
        invoke: {
          activity: "tool",
          onDone: { target: "calling", reenter: true, require: { fixed: isFixed } },
        },
        on: { note: { update: (draft, { event }) => void draft.got.push(event.data as Json) } },
      },
    },
  });

onEveryStore((world) => {
  describe("a flood of events", () => {
    test("A5: that waited in the inbox is taken in order, with those that come while it is read", async () => {
      const { boot, crash, look, clock, stored, watch } = await world();
      const first = await boot([counter]);
      await first.start(counter, { id: "a" });
      await crash(first);
      const count = 2 * limits.inboxLoadedMax + 300;
      const row = { tenant: "default", run: "a", subject: "a", priority: 0, at: clock.now() };
      const store = await look();
      await store.enqueue(
        numbers(count).map((n) => ({
          ...{ ...row, id: `0 ${String(n).padStart(6, "0")}` },
          bytes: encode({ type: "note", data: n }),
        })),
      );
      const runtime = await boot([counter]);
      const run = await runtime.run("a");
      const other = await runtime.start(counter, { id: "b" });
      const sent = numbers(60).map(async (n) => {
        if (n % 3 === 0) await run.send("note", `direct ${n}`);
        else if (n % 3 === 1) await other.send("tell", { run: "a", data: `from b ${n}` });
        else await run.sendAll([{ type: "note", data: `batch ${n}` }]);
      });
      await Promise.all(sent);
      await clock.advance("1s");
      const { log } = (await run.state()).context as { log: Json[] };
      expect(log.filter((one) => typeof one === "number")).toEqual(numbers(count));
      expect(new Set(log).size).toBe(log.length);
      expect(log.length).toBe(count + 60);
      for (const kind of ["direct", "from b", "batch"]) {
        const own = log.filter((one) => typeof one === "string" && one.startsWith(kind));
        expect(own).toEqual(numbers(60).flatMap((n) => (log.includes(`${kind} ${n}`) ? `${kind} ${n}` : [])));
        expect(own.length).toBe(20);
      }
      expect((await stored("a")).inbox).toEqual([]);
      expect(watch.refused).toEqual([]);
    });

    test("A5: from many senders, while the run is parked and brought back, is neither lost nor doubled", async () => {
      const { boot, clock, rest, stored, watch } = await world();
      const code = { fixed: false };
      const machine = pickyWith(() => code.fixed);
      const tool = () => new Promise((resolve) => clock.after(1_000, () => resolve("out")));
      const runtime = await boot([{ machine, activities: { tool } }, counter]);
      const run = await runtime.start(machine, { id: "a" });
      const others = await Promise.all(numbers(5).map((n) => runtime.start(counter, { id: `other ${n}` })));
      const accepted: string[] = [];
      const send = async (sender: number) => {
        for (const n of numbers(40)) {
          const data = `${sender} ${n}`;
          const key = sender % 2 === 0 ? data : undefined;
          if (sender < 10) await run.send("note", data, key === undefined ? {} : { key });
          else await others[sender - 10]?.send("tell", { run: "a", data });
          if (key !== undefined && sender < 10 && n % 7 === 0) await run.send("note", data, { key });
          accepted.push(data);
        }
      };
      const senders = Promise.all(numbers(15).map(send));
      let parks = 0;
      for (let done = false; !done; ) {
        const over = senders.then(() => true);
        await clock.advance("1s");
        if ((await run.head()).status === "parked") {
          parks++;
          code.fixed = true;
          await run.retry();
          await rest();
          code.fixed = false;
        }
        done = await Promise.race([over, new Promise<boolean>((resolve) => setImmediate(resolve, false))]);
      }
      code.fixed = true;
      await run.retry();
      await clock.advance(0);
      const { got } = (await run.state()).context as unknown as { got: string[] };
      expect(got.toSorted()).toEqual(accepted.toSorted());
      for (const sender of numbers(15))
        expect(got.filter((one) => one.startsWith(`${sender} `))).toEqual(
          numbers(40).map((n) => `${sender} ${n}`),
        );
      expect((await stored("a")).inbox).toEqual([]);
      expect(watch.refused.filter(({ outcome }) => outcome !== "duplicate")).toEqual([]);
      expect(parks).toBeGreaterThan(0);
    });

    test("A5: through crashes at any moment loses and doubles nothing that was accepted", async () => {
      const { boot, crash, clock } = await world();
      const accepted = new Set<string>();
      for (const round of numbers(6)) {
        const runtime = await boot([counter]);
        const run = await runtime.start(counter, { id: "a" });
        const other = await runtime.start(counter, { id: "b" });
        let alive = true;
        const sender = async (name: string, send: (data: string) => Promise<unknown>) => {
          for (let n = 0; alive && n < 6; n++) {
            const data = `${round} ${name} ${n}`;
            await send(data);
            accepted.add(data);
          }
        };
        const key = (data: string) => ({ key: data });
        // What a process that was killed had asked for is never answered.
        void sender("direct", (data) => run.send("note", data, key(data)));
        void sender("between", (data) => other.send("tell", { run: "a", data }));
        void sender("batch", (data) =>
          run.sendAll(numbers(70).map((n) => ({ type: "note", data: n === 0 ? data : `${data}+${n}` }))),
        );
        for (const enough = accepted.size + 4 + round; accepted.size < enough; )
          await new Promise((resolve) => setImmediate(resolve));
        alive = false;
        await crash(runtime);
      }
      const runtime = await boot([counter]);
      await clock.advance("2s");
      const { log } = (await (await runtime.run("a")).state()).context as unknown as { log: string[] };
      expect(new Set(log).size).toBe(log.length);
      expect([...accepted].filter((data) => !log.includes(data))).toEqual([]);
      expect(accepted.size).toBeGreaterThan(20);
    });

    test("A5: goes to the urgent first, also where more waits than is read at a time", async () => {
      const { boot } = await world();
      const machine = counterWith({
        priorities: { urgent: 1 },
        on: { urgent: { update: (draft) => void draft.log.push("urgent") } },
      });
      const runtime = await boot([machine]);
      const run = await runtime.start(machine, { id: "a" });
      const batch = numbers(limits.inboxLoadedMax + 50).map((data) => ({ type: "note", data }));
      const receipts = await run.sendAll([...batch, { type: "urgent" }]);
      await Promise.all(receipts.map((receipt) => receipt.handled()));
      const { log } = (await run.state()).context;
      expect(log.indexOf("urgent")).toBeLessThan(limits.stepsPerTurnMax);
      const entries = await listOf(run.journal());
      expect(entries.length).toBe(batch.length + 2);
    });
  });
});
