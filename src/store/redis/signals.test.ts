import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findRedis, type RedisServer, startRedis } from "../../../test/redis/server.ts";
import { limits } from "../../limits.ts";
import { memory } from "../memory/store.ts";
import type { RunName } from "../records.ts";
import { type RedisSignals, redisSignals, withRedis } from "./index.ts";

const nameOf = (run: string): RunName => ({ tenant: "acme", run });

describe.skipIf(findRedis() === undefined)("signals over Redis", () => {
  let server: RedisServer;
  const made: RedisSignals[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterEach(() => Promise.all(made.splice(0).map((signals) => signals.close())));
  afterAll(() => server?.stop());

  function signals(channel = "runs", url = server.url): RedisSignals {
    const one = redisSignals({ url, channel });
    made.push(one);
    return one;
  }

  /** Somebody who listens, and who can wait until it has heard what is wanted. */
  async function listener(one: RedisSignals) {
    const heard: (readonly RunName[] | undefined)[] = [];
    let look = (): void => {};
    const end = await one.listen((names) => {
      heard.push(names);
      look();
    });
    const until = (isEnough: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        look = () => void (isEnough() && resolve());
        look();
      });
    return { heard, end, until, runs: () => heard.flat().map((name) => name?.run) };
  }

  test("C9: what one process sends, every other one hears", async () => {
    const ears = [await listener(signals()), await listener(signals())];
    signals().send([nameOf("a"), { ...nameOf("b"), seq: 5 } as RunName]);
    for (const { until, heard } of ears) {
      await until(() => heard.length > 0);
      expect(heard).toEqual([[nameOf("a"), nameOf("b")]]);
    }
  });

  test("what is sent within a moment goes out together, and each run once", async () => {
    const { heard, until } = await listener(signals());
    const sender = signals();
    for (let round = 0; round < 3; round++) for (const run of ["a", "b"]) sender.send([nameOf(run)]);
    sender.send([]);
    await until(() => heard.length > 0);
    expect(heard).toEqual([[nameOf("a"), nameOf("b")]]);
  });

  test("many runs are told of in several signals, and too many in one that says anything", async () => {
    const { heard, until, runs } = await listener(signals());
    const most = limits.signalledRunsMax * limits.signalsMax;
    const names = Array.from({ length: most + 1 }, (_, index) => nameOf(`run-${index}`));
    const sender = signals();
    sender.send(names.slice(1));
    await until(() => runs().length === most);
    expect(heard.length).toBe(limits.signalsMax);
    expect(new Set(runs()).size).toBe(most);
    heard.length = 0;
    sender.send(names);
    await until(() => heard.length > 0);
    expect(heard).toEqual([undefined]);
  });

  test("garbage on the channel is passed over", async () => {
    const { heard, until } = await listener(signals());
    const long = "x".repeat(limits.nameLengthMax + 1);
    const garbage = [
      "",
      "garbage",
      "{}",
      "null",
      "[1]",
      '[["a"]]',
      '[["a",1]]',
      `[["a","${long}"]]`,
      "[[[]]]",
    ];
    for (const message of garbage) server.command("PUBLISH", "runs", message);
    server.command("PUBLISH", "runs", '[["acme","a"],["acme"]]');
    await until(() => heard.length > 0);
    expect(heard).toEqual([[nameOf("a")]]);
  });

  test("whoever has another channel hears nothing of it", async () => {
    const other = await listener(signals("other"));
    const { until, heard } = await listener(signals());
    signals().send([nameOf("a")]);
    await until(() => heard.length > 0);
    expect(other.heard).toEqual([]);
  });

  test("whoever stopped listening hears nothing more", async () => {
    const one = await listener(signals());
    const other = await listener(signals());
    await one.end();
    signals().send([nameOf("a")]);
    await other.until(() => other.heard.length > 0);
    expect(one.heard).toEqual([]);
  });

  test("after Redis was gone, everybody is told that anything may have been missed, and hears again", async () => {
    const { heard, until, runs } = await listener(signals());
    const sender = signals();
    sender.send([nameOf("before")]);
    await until(() => heard.length > 0);
    await server.kill();
    sender.send([nameOf("lost")]);
    await server.restart();
    await until(() => heard.includes(undefined));
    const again = setInterval(() => sender.send([nameOf("after")]), 50);
    await until(() => runs().includes("after"));
    clearInterval(again);
  });

  test("a Redis that hangs is listened to again when it goes on", async () => {
    const { heard, until, runs } = await listener(signals());
    const silentMs = limits.redisPingMs + limits.redisSilentMsMax + 1_000;
    server.signal("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, silentMs));
    server.signal("SIGCONT");
    await until(() => heard.includes(undefined));
    const sender = signals();
    const again = setInterval(() => sender.send([nameOf("after")]), 50);
    await until(() => runs().includes("after"));
    clearInterval(again);
  });

  test("a Redis that is not there yet is listened to once it is", async () => {
    await server.kill();
    const listening = listener(signals());
    await server.restart();
    const { heard, until } = await listening;
    const sender = signals();
    const again = setInterval(() => sender.send([nameOf("a")]), 50);
    await until(() => heard.flat().some((name) => name?.run === "a"));
    clearInterval(again);
  });

  test("a client of one's own is used to send, and its like to listen", async () => {
    const client = await createClient({ url: server.url, RESP: 2 }).connect();
    const own = redisSignals({ client, channel: "runs" });
    made.push(own);
    const { heard, until } = await listener(own);
    own.send([nameOf("a")]);
    await until(() => heard.length > 0);
    expect(heard).toEqual([[nameOf("a")]]);
    await own.close();
    expect(client.isReady).toBe(true);
    client.destroy();
  });

  test("a store with a warm tier brings them if it is asked to", async () => {
    const [one, other] = [true, true].map((signals) => withRedis(memory(), { url: server.url, signals }));
    expect(withRedis(memory(), { url: server.url }).signals).toBeUndefined();
    await Promise.all([one?.open(), other?.open()]);
    const { heard, until } = await listener(other?.signals as RedisSignals);
    one?.signals?.send([nameOf("a")]);
    await until(() => heard.length > 0);
    expect(heard).toEqual([[nameOf("a")]]);
    await Promise.all([one?.close(), other?.close()]);
  });
});
