/** Events on their way into a run: fused with their step, kept in the inbox, told apart by keys, ordered and batched. */
import { describe, expect, test } from "vitest";
import { counter, counterWith } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { encode } from "../../store/codec.ts";
import type { CommitOutcome, Store } from "../../store/store.ts";
import { retain } from "../housekeeping/retention.ts";

/** A machine that notes what it takes, `urgent` before the rest. */
const ordered = counterWith({
  priorities: { urgent: 10, "slow.*": -1 },
  on: {
    urgent: { update: (draft, { event }) => void draft.log.push(event.data as never) },
    "slow.*": { update: (draft, { event }) => void draft.log.push(event.data as never) },
  },
});

const notes = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => ({ type: "note", data: from + index }));
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

onEveryStore((world) => {
  describe("an event", () => {
    test("A5: from this process shares one commit with its step, and no inbox row is ever written", async () => {
      const { boot, watch } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const before = watch.calls.length;
      await run.send("add", 1);
      await run.send("add", 2, { key: "k" });
      const since = watch.calls.slice(before);
      expect(since.map(({ verb }) => verb)).toEqual(["commit", "commit"]);
      for (const { given } of watch.of("commit"))
        expect(given[0]).toMatchObject([{ consumed: [], sends: [] }]);
    });

    test("G1: goes into one commit with whatever else is ready, of its run and of others", async () => {
      const { boot, watch } = await world();
      const runtime = await boot([counter]);
      const runs = await Promise.all(numbers(30).map((n) => runtime.start(counter, { id: `${n}` })));
      const before = watch.count("commit");
      await Promise.all(runs.flatMap((run) => numbers(10).map((n) => run.send("add", n))));
      expect(watch.count("commit") - before).toBe(1);
      for (const run of runs) expect(await run.head()).toMatchObject({ seq: 11 });
    });

    test("A5: of a repeated key is taken once, also from concurrent senders and after a crash", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      const receipts = await Promise.all(numbers(10).map(() => run.send("add", 1, { key: "k" })));
      for (const receipt of receipts)
        expect(await receipt.handled()).toMatchObject({ seq: 2, outcome: "taken" });
      await run.send("add", 1, { key: "other" });
      const late = await Promise.all(numbers(3).map(() => run.send("add", 1, { key: "k" })));
      for (const receipt of late) expect(await receipt.handled()).toMatchObject({ seq: 2 });
      await crash(first);
      const again = await (await boot([counter])).run("a");
      expect(await (await again.send("add", 1, { key: "k" })).handled()).toMatchObject({ seq: 2 });
      expect(await again.head()).toMatchObject({ seq: 3 });
      expect((await again.state()).context).toMatchObject({ n: 2 });
    });

    test("A5: of a repeated key is told what became of the first, be it refused", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      await run.send("fly", 1, { key: "k" });
      await crash(first);
      const again = await (await boot([counter])).run("a");
      expect(await (await again.send("add", 1, { key: "k" })).handled()).toMatchObject({
        ...{ seq: 2, outcome: "refused", error: { code: "EVENT_UNKNOWN", retry: "after-fix" } },
      });
    });

    test("A5: of a key that a replaced process put into the inbox unheard is told what became of the first at once", async () => {
      const { boot, look, clock, rest } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const store = await look();
      const place = { tenant: "default", run: "a", subject: "a", at: clock.now(), priority: 0 };
      const bytes = encode({ type: "add", data: 1 });
      await store.enqueue([{ ...place, id: "first", key: "k", bytes }]);
      const told: unknown[] = [];
      void run.send("add", 1, { key: "k" }).then(async (receipt) => told.push(await receipt.handled()));
      await rest();
      expect(told).toMatchObject([{ seq: 2, outcome: "taken" }]);
    });

    test("A5: of a key that still waits is told so when its run ends before anybody has looked", async () => {
      const { boot, watch, look, clock } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const store = await look();
      const place = { tenant: "default", run: "a", subject: "a", at: clock.now(), priority: 0 };
      const bytes = encode({ type: "add", data: 1 });
      await store.enqueue([{ ...place, id: "first", key: "k", bytes }]);
      watch.alter = async ({ verb, given }, answer) => {
        if (verb !== "readKeys") return answer;
        await run.cancel();
        return store.readKeys(...(given as Parameters<Store["readKeys"]>));
      };
      const sent = run.send("add", 1, { key: "k" }).then((receipt) => receipt.handled());
      await expect(sent).rejects.toMatchObject({ code: "RUN_ENDED" });
    });

    test("A5: that its run takes as its last is told so, though one who looks sooner finds that another was not taken", async () => {
      const { boot, watch, look, clock, rest } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const store = await look();
      const place = { tenant: "default", run: "a", subject: "a", at: clock.now(), priority: 0 };
      await store.enqueue([
        { ...place, id: "first", key: "last", bytes: encode({ type: "end" }) },
        { ...place, id: "second", key: "late", bytes: encode({ type: "add", data: 1 }) },
      ]);
      // They are found when the store can be read again.
      watch.failNext("readInbox", "before");
      const taken = run.send("end", undefined, { key: "last" }).then((receipt) => receipt.handled());
      await rest();
      // Somebody sees the other one wait; the run ends; then they look again, and the process itself does not know yet.
      const [made, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      watch.alter = async ({ verb }, answer) => {
        if (verb === "readKeys") await made.promise;
        const [outcome] = verb === "commit" ? (answer as CommitOutcome[]) : [];
        if (outcome?.outcome === "committed") {
          made.resolve();
          await known.promise;
        }
        return answer;
      };
      const late = run.send("add", 1, { key: "late" }).then((receipt) => receipt.handled());
      const passing = clock.advance("10s");
      await expect(late).rejects.toMatchObject({ code: "RUN_ENDED" });
      known.resolve();
      await passing;
      expect(await taken).toMatchObject({ seq: 2, outcome: "taken" });
    });

    test("A5: that waits is told of its run's removal, where nobody here was told that this had ended", async () => {
      const { boot, watch, look, clock, rest } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const store = await look();
      const place = { tenant: "default", run: "a", subject: "a", at: clock.now(), priority: 0 };
      await store.enqueue([{ ...place, id: "first", key: "late", bytes: encode({ type: "add", data: 1 }) }]);
      // It is found when the store can be read again.
      watch.failNext("readInbox", "before");
      const late = run.send("add", 1, { key: "late" }).then((receipt) => receipt.handled());
      await rest();
      watch.failNext("commit", "after");
      await expect(run.cancel()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await clock.advance(10);
      const rules = [{ olderThan: 1 }];
      expect((await retain({ store, clock, epoch: () => 1, rules })).removed).toHaveLength(1);
      const told = expect(late).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
      await clock.advance("10s");
      await told;
    });

    test("A5: of a key that an ended run has taken is answered, any other is refused", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      await run.send("add", 1, { key: "k" });
      await run.send("end", undefined, { key: "last" });
      for (let pass = 0; pass < 2; pass++) {
        const again = pass === 0 ? run : await (await boot([counter])).run("a");
        expect(await (await again.send("add", 1, { key: "k" })).handled()).toMatchObject({ seq: 2 });
        expect(await (await again.send("end", 1, { key: "last" })).handled()).toMatchObject({ seq: 3 });
        const [one] = await again.sendAll([{ type: "add", data: 1, key: "k" }]);
        expect(await one?.handled()).toMatchObject({ seq: 2 });
        await expect(again.send("add", 1, { key: "new" })).rejects.toMatchObject({ code: "RUN_ENDED" });
        await expect(again.sendAll([{ type: "add", key: "new" }])).rejects.toMatchObject({
          code: "RUN_ENDED",
        });
        if (pass === 0) await crash(first);
      }
    });

    test("A5: keys of one run are not those of another", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const one = await runtime.start(counter, { id: "a" });
      const two = await runtime.start(counter, { id: "a k" });
      await one.send("add", 1, { key: "k k" });
      await two.send("add", 1, { key: "k" });
      await two.send("add", 1, { key: "k k" });
      expect([(await one.state()).context.n, (await two.state()).context.n]).toEqual([1, 2]);
    });

    test("A5: goes before those of a lower priority that wait with it", async () => {
      const { boot } = await world();
      const run = await (await boot([ordered])).start(ordered, { id: "a" });
      await Promise.all([
        ...[run.send("slow.one", "slow 1"), run.send("note", "plain 1"), run.send("urgent", "urgent 1")],
        ...[run.send("note", "plain 2"), run.send("urgent", "urgent 2"), run.send("slow.two", "slow 2")],
      ]);
      const { log } = (await run.state()).context;
      expect(log).toEqual(["urgent 1", "urgent 2", "plain 1", "plain 2", "slow 1", "slow 2"]);
    });

    test("A5: that a state defers waits with it, through a crash, and is taken when a state takes it", async () => {
      const { boot, crash, clock } = await world();
      const first = await boot([ordered]);
      const run = await first.start(ordered, { id: "a" });
      await run.send("nap");
      expect(await (await run.send("note", 1, { key: "k" })).handled()).toMatchObject({
        outcome: "deferred",
      });
      await run.send("note", 2);
      await crash(first);
      const again = await (await boot([ordered])).run("a");
      expect((await again.state()).deferred).toMatchObject([{ data: 1 }, { data: 2 }]);
      expect(await (await again.send("note", 1, { key: "k" })).handled()).toMatchObject({
        outcome: "deferred",
      });
      await clock.advance("2m");
      expect((await again.state()).context.log).toEqual([1, 2]);
      expect((await again.state()).deferred).toEqual([]);
    });

    test("A5: from many senders at once is neither lost nor doubled", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      const sender = async (name: number) => {
        for (const n of numbers(20)) {
          const key = `${name} ${n}`;
          await Promise.all([run.send("note", key, { key }), run.send("note", key, { key })]);
        }
      };
      await Promise.all(numbers(20).map(sender));
      await crash(first);
      const again = await (await boot([counter])).run("a");
      const { log } = (await again.state()).context as { log: string[] };
      expect(log.toSorted()).toEqual(
        numbers(20)
          .flatMap((name) => numbers(20).map((n) => `${name} ${n}`))
          .toSorted(),
      );
      for (const name of numbers(20))
        expect(log.filter((key) => key.startsWith(`${name} `))).toEqual(
          numbers(20).map((n) => `${name} ${n}`),
        );
    });
  });

  describe("a batch", () => {
    test("A5: of a few events is taken in order in one commit", async () => {
      const { boot, watch } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const before = watch.calls.length;
      const receipts = await run.sendAll(notes(limits.stepsPerTurnMax));
      expect(watch.calls.slice(before).map(({ verb }) => verb)).toEqual(["commit"]);
      expect((await run.state()).context.log).toEqual(numbers(limits.stepsPerTurnMax));
      expect(await receipts[3]?.handled()).toMatchObject({ seq: 5, outcome: "taken" });
      expect(await run.sendAll([])).toEqual([]);
    });

    test("A5: of more than one turn takes is durable at once and taken in order", async () => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const count = 3 * limits.stepsPerTurnMax;
      const receipts = await run.sendAll(notes(count));
      const handled = await Promise.all(receipts.map((receipt) => receipt.handled()));
      expect(handled.map(({ seq }) => seq)).toEqual(numbers(count).map((n) => n + 2));
      expect((await run.state()).context.log).toEqual(numbers(count));
    });

    test("A5: is not taken at all if one of it is larger than a store keeps", async () => {
      const { boot, stored } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const before = await stored("a");
      const huge = { type: "note", data: "x".repeat(limits.valueBytesMax) };
      await expect(run.sendAll([...notes(1), huge, ...notes(1)])).rejects.toMatchObject({
        code: "VALUE_TOO_LARGE",
      });
      expect([await stored("a"), (await run.state()).context.log]).toEqual([before, []]);
    });

    test("A5: that is durable survives a crash before it is taken, in its order", async () => {
      const { boot, crash, watch, stored } = await world();
      const first = await boot([counter]);
      const run = await first.start(counter, { id: "a" });
      watch.fault = ({ verb }) => (verb === "commit" ? "before" : undefined);
      await run.sendAll(notes(300));
      expect((await stored("a")).inbox.length).toBe(300);
      await crash(first);
      watch.comeBack();
      const again = await (await boot([counter])).run("a");
      await expect.poll(async () => (await again.state()).context.log).toEqual(numbers(300));
      expect((await stored("a")).inbox).toEqual([]);
    });

    test.each([2, 100])("A5: of %i events with one that is no event is refused as a whole", async (count) => {
      const { boot, stored } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const before = await stored("a");
      for (const bad of [
        { type: "note", data: 1n as never },
        { type: "", data: 1 },
        { type: "note", key: "" },
      ])
        await expect(run.sendAll([...notes(count), bad])).rejects.toMatchObject({
          code: expect.stringMatching(/^(NOT_JSON|EVENT_INVALID|NAME_INVALID)$/),
        });
      expect(await stored("a")).toEqual(before);
      expect((await run.state()).context.log).toEqual([]);
    });

    test.each([3, 100])("A5: of %i events with repeated keys takes each key once", async (count) => {
      const { boot } = await world();
      const run = await (await boot([counter])).start(counter, { id: "a" });
      const batch = notes(count).map((event, index) => ({ ...event, key: `k${index}` }));
      const first = await run.sendAll([...batch, ...batch]);
      const again = await run.sendAll(batch);
      for (const receipts of [first.slice(0, count), first.slice(count), again]) {
        const handled = await Promise.all(receipts.map((receipt) => receipt.handled()));
        expect(handled.map(({ seq }) => seq)).toEqual(numbers(count).map((n) => n + 2));
      }
      expect((await run.state()).context.log).toEqual(numbers(count));
    });

    test("A5: that waits and an urgent event of the same key sent at once are one event", async () => {
      const { boot } = await world();
      const run = await (await boot([ordered])).start(ordered, { id: "a" });
      const waiting = run.sendAll(notes(100).map((event, index) => ({ ...event, key: `k${index}` })));
      const urgent = run.send("urgent", "again", { key: "k50" });
      const handled = await Promise.all((await waiting).map((receipt) => receipt.handled()));
      expect(await (await urgent).handled()).toEqual(handled[50]);
      const { log } = (await run.state()).context;
      expect(log.length).toBe(100);
    });

    test("A5: whose run ends on the way is taken until then, and the rest is told so", async () => {
      const { boot } = await world();
      const runtime = await boot([counter]);
      const run = await runtime.start(counter, { id: "a" });
      const receipts = await run.sendAll([...notes(2), { type: "end" }, ...notes(100)]);
      expect(await receipts[2]?.handled()).toMatchObject({ seq: 4 });
      for (const receipt of receipts.slice(3))
        await expect(receipt.handled()).rejects.toMatchObject({ code: "RUN_ENDED" });
      const letters = await listOf(runtime.deadLetters.list());
      expect(letters.length).toBe(100);
    });
  });

  describe("an event between runs", () => {
    test("A5: is delivered once with the step that sent it, in the order it was sent", async () => {
      const { boot, rest } = await world();
      const runtime = await boot([counter]);
      const one = await runtime.start(counter, { id: "one" });
      const two = await runtime.start(counter, { id: "two" });
      await Promise.all(numbers(50).map((data) => one.send("tell", { run: "two", data })));
      await one.send("echo", "mine");
      await rest();
      expect((await one.state()).context.log).toEqual(["mine"]);
      expect((await two.state()).context.log).toEqual(numbers(50));
    });

    test("A5: is delivered once, in order, when the process dies between the step and its delivery", async () => {
      const { boot, crash, watch, stored } = await world();
      const first = await boot([counter]);
      const one = await first.start(counter, { id: "one" });
      await first.start(counter, { id: "two" });
      let commits = 0;
      watch.fault = ({ verb }) => (verb === "commit" && ++commits > 1 ? "before" : undefined);
      await one.sendAll(numbers(50).map((data) => ({ type: "tell", data: { run: "two", data } })));
      await crash(first);
      watch.comeBack();
      expect((await stored("two")).inbox.length).toBe(50);
      const two = await (await boot([counter])).run("two");
      await expect.poll(async () => (await two.state()).context.log).toEqual(numbers(50));
      expect((await two.head()).seq).toBe(51);
    });

    test("A5: wakes a run that is not in memory", async () => {
      const { boot, crash } = await world();
      const first = await boot([counter]);
      await first.start(counter, { id: "one" });
      await first.start(counter, { id: "two" });
      await crash(first);
      const second = await boot([counter]);
      await (await second.run("one")).send("tell", { run: "two", data: 1 });
      const two = await second.run("two");
      await expect.poll(async () => (await two.state()).context.log).toEqual([1]);
    });

    test("A5: is taken by its priority in the machine it goes to", async () => {
      const { boot, crash, watch } = await world();
      const sender = counterWith({
        id: "sender",
        on: {
          both: {
            actions: [
              { send: { type: "note", data: "plain", to: { run: "two" } } },
              { send: { type: "urgent", data: "urgent", to: { run: "two" } } },
            ],
          },
        },
      });
      const first = await boot([ordered, sender]);
      const one = await first.start(sender, { id: "one" });
      const two = await first.start(ordered, { id: "two" });
      await one.send("both");
      await expect.poll(async () => (await two.state()).context.log).toEqual(["urgent", "plain"]);
      let commits = 0;
      watch.fault = ({ verb }) => (verb === "commit" && ++commits > 1 ? "before" : undefined);
      await one.send("both");
      await crash(first);
      watch.comeBack();
      const again = await (await boot([ordered, sender])).run("two");
      await expect
        .poll(async () => (await again.state()).context.log)
        .toEqual(["urgent", "plain", "urgent", "plain"]);
    });
  });
});
