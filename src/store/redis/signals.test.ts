import { createClient } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findRedis, type RedisServer, startRedis } from "../../../test/redis/server.ts";
import { limits } from "../../limits.ts";
import { memory } from "../memory/store.ts";
import type { RunName } from "../records.ts";
import type { Signals } from "../signals.ts";
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

  function signals(channel = "runs"): RedisSignals {
    const one = redisSignals({ url: server.url, channel });
    made.push(one);
    return one;
  }

  /** Somebody who listens, and who can wait until it has heard enough, or hears nothing any more. */
  async function listener(one: Signals) {
    const heard: (readonly [names: readonly RunName[] | undefined, from: number | undefined])[] = [];
    let look = (): void => {};
    let isDeaf = false;
    const end = await one.listen(
      (...said) => {
        heard.push(said);
        look();
      },
      () => {
        isDeaf = true;
        look();
      },
    );
    const until = (isEnough: () => boolean): Promise<void> =>
      new Promise((resolve) => {
        look = () => void (isEnough() && resolve());
        look();
      });
    return { heard, end, until, isDeaf: () => isDeaf };
  }

  test("C9: what one process sends, every other one hears, and from whom", async () => {
    const ears = [await listener(signals()), await listener(signals())];
    signals().send([nameOf("a"), { ...nameOf("b"), seq: 5 } as RunName, { ...nameOf("c"), since: 9 }], 7);
    for (const { until, heard } of ears) {
      await until(() => heard.length > 0);
      expect(heard).toEqual([[[nameOf("a"), nameOf("b"), { ...nameOf("c"), since: 9 }], 7]]);
    }
  });

  test("many runs are told of in several signals, and too many or none in one that says any", async () => {
    const { heard, until } = await listener(signals());
    const most = limits.signalledRunsMax * limits.signalsMax;
    const names = Array.from({ length: most + 1 }, (_, index) => nameOf(`run-${index}`));
    const sender = signals();
    sender.send(names.slice(1), 1);
    await until(() => heard.flatMap(([names]) => names).length === most);
    expect(heard.length).toBe(limits.signalsMax);
    expect(new Set(heard.flatMap(([names]) => names?.map(({ run }) => run))).size).toBe(most);
    heard.length = 0;
    sender.send(names, 2);
    sender.send([], 3);
    await until(() => heard.length > 1);
    expect(heard).toEqual([
      [undefined, 2],
      [undefined, 3],
    ]);
  });

  test("garbage on the channel is passed over", async () => {
    const { heard, until } = await listener(signals());
    const long = "x".repeat(limits.nameLengthMax + 1);
    const garbage = [
      "",
      "garbage",
      "{}",
      "null",
      "*",
      "[1]",
      "[1,{}]",
      "[1,[]]",
      '[1,[["a"]]]',
      '[1,[["a",1]]]',
    ];
    garbage.push(`[1,[["a","${long}"]]]`, "[[[]]]", '["1",[["acme","a"]]]', "[null,null]", "[1.5,null]");
    for (const message of garbage) server.command("PUBLISH", "runs", message);
    server.command("PUBLISH", "runs", '[1,[["acme","a"],["acme"]]]');
    await until(() => heard.length > 0);
    expect(heard).toEqual([[[nameOf("a")], 1]]);
  });

  test("whoever has another channel, or stopped listening, hears nothing of it", async () => {
    const others = [await listener(signals("other")), await listener(signals())];
    await others[1]?.end();
    const { until, heard } = await listener(signals());
    signals().send([nameOf("a")], 1);
    await until(() => heard.length > 0);
    expect(others.map((other) => [other.heard, other.isDeaf()])).toEqual([
      [[], false],
      [[], false],
    ]);
  });

  test("whoever listens is told when Redis is gone, and can listen again when it is back", async () => {
    const one = signals();
    const { until, isDeaf } = await listener(one);
    const sender = signals();
    await server.kill();
    await until(isDeaf);
    sender.send([nameOf("meanwhile")], 1);
    await server.restart();
    const { heard, until: untilAgain } = await listener(one);
    const again = setInterval(() => sender.send([nameOf("after")], 1), 50);
    await untilAgain(() => heard.some(([names]) => names?.[0]?.run === "after"));
    clearInterval(again);
  });

  test("whoever listens is told when Redis hangs", async () => {
    const { until, isDeaf } = await listener(signals());
    server.signal("SIGSTOP");
    try {
      await until(isDeaf);
    } finally {
      server.signal("SIGCONT");
    }
  });

  test("a Redis that is not there cannot be listened to", async () => {
    const nobody = redisSignals({ url: "redis://127.0.0.1:1" });
    await expect(nobody.listen(...([() => {}, () => {}] as const))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
    });
    nobody.send([nameOf("a")], 1);
    await nobody.close();
  });

  test("a client of one's own is used to send, and its like to listen", async () => {
    const client = await createClient({ url: server.url, RESP: 2 }).connect();
    const own = redisSignals({ client, channel: "runs" });
    made.push(own);
    const { heard, until } = await listener(own);
    own.send([nameOf("a")], 1);
    await until(() => heard.length > 0);
    expect(heard).toEqual([[[nameOf("a")], 1]]);
    await own.close();
    expect(client.isReady).toBe(true);
    client.destroy();
  });

  test("a store that is shared has them in the place of its own, if it is asked to", async () => {
    class Fleet {
      readonly #members = ["ada"];
      readonly signals = signals("of the store itself");
      members(): readonly string[] {
        return this.#members;
      }
    }
    const shared = () => Object.assign(memory(), { fleet: new Fleet() });
    type Shared = ReturnType<typeof shared>;
    const plain = shared();
    expect((withRedis(plain, { url: server.url }) as Shared).fleet).toBe(plain.fleet);
    const stores = [shared(), shared()].map(
      (store) => withRedis(store, { url: server.url, signals: true }) as Shared,
    );
    const [one, other] = stores as [Shared, Shared];
    expect(one.fleet.members()).toEqual(["ada"]);
    await Promise.all(stores.map((store) => store.open()));
    const elsewhere = withRedis(shared(), { url: server.url, signals: true, prefix: "another" }) as Shared;
    await elsewhere.open();
    const stranger = await listener(elsewhere.fleet.signals);
    const { heard, until } = await listener(other.fleet.signals);
    one.fleet.signals.send([nameOf("a")], 1);
    await until(() => heard.length > 0);
    expect(heard).toEqual([[[nameOf("a")], 1]]);
    await elsewhere.fleet.signals.send([nameOf("b")], 2);
    await stranger.until(() => stranger.heard.length > 0);
    expect(stranger.heard, "another store is told nothing of it").toEqual([[[nameOf("b")], 2]]);
    await elsewhere.close();
    await Promise.all(stores.map((store) => store.close()));
  });
});
