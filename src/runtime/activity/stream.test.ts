/** Streams: what an activity says while it runs, in pieces that are durable before anybody reads them. */
import { describe, expect, test, vi } from "vitest";
import { callerWith } from "../../../test/runtime/machines.ts";
import { listOf, onEveryStore } from "../../../test/runtime/world.ts";
import { HoldfastError, type Json } from "../../index.ts";
import { encode } from "../../store/codec.ts";
import type { Store } from "../../store/store.ts";
import { systemClock } from "../clock.ts";
import { noSeal } from "../seal.ts";
import { Waiters } from "../waiters.ts";
import type { ActivityScope } from "./attempt.ts";
import { type Chunk, Streams } from "./stream.ts";

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const unstorable = () => new HoldfastError("VALUE_UNSTORABLE", "It cannot be kept");
const dataOf = (chunks: readonly Chunk[]) => chunks.map(({ data }) => data);

onEveryStore((world) => {
  /** A run whose tool says what it is told to, and ends when it is told to. */
  const begin = async (options: object = {}) => {
    const here = await world();
    const machine = callerWith(options);
    const scopes: ActivityScope[] = [];
    let end: (value: unknown) => void = () => {};
    let fail: (error: Error) => void = () => {};
    const tool = (_: never, scope: ActivityScope) => {
      scopes.push(scope);
      return new Promise((resolve, reject) => {
        end = resolve;
        fail = reject;
      });
    };
    const entry = { machine, activities: { tool } };
    const problems: unknown[] = [];
    const observers = [{ problem: ({ error }: { error: unknown }) => void problems.push(error) }];
    const runtime = await here.boot([entry], { observers });
    const run = await runtime.start(machine, { id: "a" });
    await here.rest();
    const say = async (...pieces: Json[]) => {
      const said = pieces.map((piece) => scopes.at(-1)?.write(piece));
      await here.clock.advance(50);
      await Promise.all(said);
    };
    const ends = { end: () => end("out"), fail: (error: Error) => fail(error) };
    return { ...here, ...ends, entry, machine, runtime, run, scopes, say, problems };
  };

  describe("a stream", () => {
    test("B12: gives every piece in order, without gaps, and ends with its activity", async () => {
      const { run, say, end } = await begin();
      const read = listOf(run.stream("call"));
      await say("a", "b");
      await say({ c: 1 });
      end();
      expect(await read).toEqual(["a", "b", { c: 1 }].map((data, offset) => ({ offset, attempt: 1, data })));
    });

    test("B12: ends for a reader that has gone, whatever its activity does", async () => {
      const { run, say } = await begin();
      const stop = new AbortController();
      const read = listOf(run.stream("call", 0, { signal: stop.signal }));
      await say("a");
      stop.abort();
      expect(dataOf(await read)).toEqual(["a"]);
      expect(await listOf(run.stream("call", 0, { signal: stop.signal }))).toEqual([]);
    });

    test("B12: ends with an activity that fails, and with one that is cancelled", async () => {
      const failing = await begin();
      const failed = listOf(failing.run.stream("call"));
      await failing.say(1);
      failing.fail(new Error("no"));
      expect(dataOf(await failed)).toEqual([1]);
      const stopping = await begin();
      const stopped = listOf(stopping.run.stream("call"));
      await stopping.say(1);
      await stopping.run.send("stop");
      expect(dataOf(await stopped)).toEqual([1]);
      const cancelling = await begin();
      const cancelled = listOf(cancelling.run.stream("call"));
      await cancelling.run.cancel();
      expect(await cancelled).toEqual([]);
    });

    test("B12: is read from any offset, by several, also when its activity is over", async () => {
      const { run, say, end } = await begin();
      await say(...numbers(10));
      const readers = [0, 4, 9, 10].map((from) => listOf(run.stream("call", from)));
      await say(10);
      end();
      const read = await Promise.all(readers);
      expect(read.map(dataOf)).toEqual([0, 4, 9, 10].map((from) => numbers(11).slice(from)));
      await run.waitFor("done");
      expect(dataOf(await listOf(run.stream("1.0", 8)))).toEqual([8, 9, 10]);
    });

    test("B12: gives what was said before a crash, and marks what the next attempt says by a higher number", async () => {
      const { run, say, runtime, crash, boot, entry, scopes, rest, clock, end } = await begin();
      const before: Chunk[] = [];
      const reading = (async () => {
        for await (const chunk of run.stream("call")) before.push(chunk);
      })();
      reading.catch(() => {});
      await say("one", "two");
      expect(before.length).toBe(2);
      await crash(runtime);
      const again = await (await boot([entry])).run("a");
      await rest();
      expect(scopes.length).toBe(2);
      const rest1 = listOf(again.stream("call", before.length));
      void scopes.at(-1)?.write("eins");
      await clock.advance(50);
      end();
      expect([...before, ...(await rest1)]).toEqual([
        { offset: 0, attempt: 1, data: "one" },
        { offset: 1, attempt: 1, data: "two" },
        { offset: 2, attempt: 2, data: "eins" },
      ]);
    });

    test("B12: marks what an attempt after a failure says by a higher number", async () => {
      const { run, say, fail, end, clock } = await begin({ retry: { attempts: 3, first: "10ms" } });
      const read = listOf(run.stream("call"));
      await say("one");
      fail(new Error("busy"));
      await clock.advance("1s");
      await say("two");
      fail(new Error("busy"));
      await clock.advance("1s");
      await say("three");
      end();
      expect(await read).toEqual(
        ["one", "two", "three"].map((data, offset) => ({ offset, attempt: offset + 1, data })),
      );
    });

    test("B12: keeps what was said just before a failure, though nobody waited for it", async () => {
      const { run, fail, end, clock, scopes, rest } = await begin({ retry: { attempts: 3, first: 0 } });
      const read = listOf(run.stream("call"));
      void scopes[0]?.write("last words");
      fail(new Error("busy"));
      await rest();
      void scopes[1]?.write("first words");
      await clock.advance(50);
      end();
      expect(await read).toEqual([
        { offset: 0, attempt: 1, data: "last words" },
        { offset: 1, attempt: 2, data: "first words" },
      ]);
    });

    test("B12: shows nothing that is not durable", async () => {
      const { run, scopes, watch, clock } = await begin();
      const seen: Chunk[] = [];
      const reading = (async () => {
        for await (const chunk of run.stream("call")) seen.push(chunk);
      })();
      reading.catch(() => {});
      watch.fault = ({ verb }) => (verb === "appendChunks" ? "before" : undefined);
      let isWritten = false;
      const written = scopes[0]?.write("secret").then(() => {
        isWritten = true;
      });
      await clock.advance("5s");
      expect([seen, isWritten]).toEqual([[], false]);
      watch.comeBack();
      await clock.advance("1s");
      await written;
      expect(dataOf(seen)).toEqual(["secret"]);
    });

    test.each(["readChunks", "appendChunks"] as const)(
      "costs no activity what it gives, nor a piece of it, while the store cannot be reached: %s",
      async (verb) => {
        const { run, end, scopes, watch, clock, problems } = await begin({ once: true });
        watch.fault = (call) => (call.verb === verb ? "before" : undefined);
        void scopes[0]?.write("paying");
        end();
        await clock.advance("5s");
        expect((await run.state()).configuration).toEqual(["calling"]);
        watch.failNext(verb, "after");
        await clock.advance("5s");
        expect((await run.state()).context.got).toBe("out");
        expect(dataOf(await listOf(run.stream("1.0")))).toEqual(["paying"]);
        expect(problems).toEqual([]);
      },
    );

    test("that the store cannot reach keeps no activity that is not wanted any more, nor its runtime", async () => {
      const { run, runtime, scopes, watch, clock, close, problems } = await begin();
      watch.fault = ({ verb }) => (verb === "appendChunks" ? "before" : undefined);
      const refused = expect(scopes[0]?.write("lost")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      await clock.advance("5s");
      await run.send("stop");
      await refused;
      await close(runtime);
      expect(problems).toEqual([]);
    });

    test("B12: is written in its order: nothing before what was said earlier", async () => {
      const { watch, scopes, clock, run, end } = await begin();
      let answer = () => {};
      const answered = new Promise<void>((resolve) => {
        answer = resolve;
      });
      const before = watch.count("appendChunks");
      watch.alter = async ({ verb }, given) => {
        if (verb === "appendChunks") await answered;
        return given;
      };
      const [scope] = scopes as [ActivityScope];
      const said = [scope.write("one")];
      const passing = clock.advance(50);
      while (watch.count("appendChunks") === before) await new Promise((resolve) => setImmediate(resolve));
      said.push(scope.write("two"));
      end();
      await new Promise((resolve) => setImmediate(resolve));
      expect(watch.count("appendChunks") - before).toBe(1);
      answer();
      await passing;
      await Promise.all(said);
      expect((await listOf(run.stream("1.0"))).map(({ data }) => data)).toEqual(["one", "two"]);
    });

    test("B12: gathers what is said in one moment into one write", async () => {
      const { say, watch } = await begin();
      const before = watch.count("appendChunks");
      await say(...numbers(100));
      expect(watch.count("appendChunks") - before).toBe(1);
    });

    test("B12: that could not be kept fails its attempt, and does not hurt the process", async () => {
      const { run, fail, scopes, watch, clock, problems } = await begin();
      watch.fault = ({ verb }) => (verb === "appendChunks" ? "before" : undefined);
      watch.error = unstorable;
      scopes[0]?.write("lost").catch(fail);
      await clock.advance(100);
      await run.waitFor("failed");
      expect((await run.state()).context.got).toMatchObject({ code: "VALUE_UNSTORABLE" });
      expect(problems).toEqual([]);
    });

    test("that could not be kept is a problem, and no failure of an activity that did not wait for it", async () => {
      const { run, end, scopes, watch, clock, problems } = await begin({ once: true });
      watch.fault = ({ verb }) => (verb === "appendChunks" ? "before" : undefined);
      watch.error = unstorable;
      void scopes[0]?.write("lost");
      end();
      await clock.advance(100);
      expect((await run.state()).context.got).toBe("out");
      expect(problems).toMatchObject([{ code: "VALUE_UNSTORABLE" }]);
    });

    test("B12: of thousands of pieces is read page by page", async () => {
      const { run, say, end } = await begin();
      await say(...numbers(1_800));
      const read = listOf(run.stream("call"));
      end();
      expect(dataOf(await read)).toEqual(numbers(1_800));
    });

    test("F5: of an activity that is not under way is found by its key only", async () => {
      const { run } = await begin();
      await expect(listOf(run.stream("other"))).rejects.toMatchObject({ code: "ACTIVITY_UNKNOWN" });
      expect(await listOf(run.stream("9.9"))).toEqual([]);
    });

    test("tells its readers when the runtime is closed", async () => {
      const { run, runtime, close, say } = await begin();
      const read = listOf(run.stream("call"));
      await say(1);
      const told = expect(read).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
      await close(runtime);
      await told;
    });
  });
});

test("a reader that breaks off, and one that fails, leaves nobody behind who waits for news", async () => {
  const waiting = vi.spyOn(Waiters.prototype, "wait");
  let isBroken = false;
  const readChunks = async () => {
    if (isBroken) throw new Error("no answer");
    return [{ offset: 0, attempt: 1, bytes: encode("piece") }];
  };
  const store = { readChunks } as unknown as Store;
  const streams = new Streams(store, systemClock, noSeal, { epoch: 1, isShared: false });
  const read = () =>
    streams.read(
      { tenant: "t", run: "a", key: "1.0" },
      { tenant: "t", subject: "s" },
      0,
      new Promise(() => {}),
    );
  for await (const { data } of read()) {
    expect(data).toBe("piece");
    break;
  }
  isBroken = true;
  await expect(listOf(read())).rejects.toThrow("no answer");
  expect((waiting.mock.contexts as Waiters<void>[]).map(({ size }) => size)).toEqual([0, 0]);
  waiting.mockRestore();
});
