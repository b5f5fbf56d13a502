/** Whose turn it is to deliver, as whoever waits for it sees it. */
import { hostname } from "node:os";
import { expect, test } from "vitest";
import type { NotedChange, Outbox, Taken } from "../../store/postgres/changes/outbox.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { workerName } from "../worker.ts";
import { Consumer, type ConsumerWorld } from "./consumer.ts";

/** A consumer that finds the turn another's, and whose turns it has ended before it waits or is closed. */
async function endedTurns(holder: string): Promise<readonly string[]> {
  const ended: string[] = [];
  const outbox: Pick<Outbox, "take" | "release"> = {
    take: async (): Promise<Taken> =>
      ended.includes(holder) ? { outcome: "empty" } : { outcome: "theirs", holder, forMs: 5_000 },
    release: async (of) => void ended.push(of),
  };
  const consumer = new Consumer({
    ...{ outbox, clock: new VirtualClock(), holder: "its own", isListening: () => false },
  } as Partial<Record<keyof ConsumerWorld, unknown>> as ConsumerWorld);
  consumer.wake();
  await new Promise((pass) => setImmediate(pass));
  await consumer.close();
  return ended;
}

test("the turn of one that was killed on this machine is ended at once, and nobody else's", async () => {
  // Greater than any id of a process.
  const killed = `${hostname()} ${2 ** 30} id`;
  expect(await endedTurns(killed)).toEqual([killed, "its own"]);
  for (const alive of [workerName("id"), "elsewhere 1 id"])
    expect(await endedTurns(alive)).toEqual(["its own"]);
});

test("what is under way when it is closed is settled before it is over, and nothing more is begun", async () => {
  const said: string[] = [];
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const outbox: Pick<Outbox, "take" | "settle" | "release"> = {
    take: async () => ({ outcome: "ours", changes: [1, 2].map((number) => ({ number }) as NotedChange) }),
    settle: async (numbers) => void said.push(`settled ${numbers}`),
    release: async () => void said.push("released"),
  };
  const address = (change: NotedChange) => ({
    ...{ change, place: "a run" },
    deliver: () => arrived.then(() => ({ outcome: "delivered" })),
  });
  const consumer = new Consumer({
    ...{ outbox, address, clock: new VirtualClock(), holder: "its own", isListening: () => false },
  } as Partial<Record<keyof ConsumerWorld, unknown>> as ConsumerWorld);
  consumer.wake();
  await new Promise((pass) => setImmediate(pass));
  const closing = consumer.close().then(() => said.push("closed"));
  arrive();
  await closing;
  expect(said).toEqual(["settled 1", "released", "closed"]);
});

test("what keeps it from delivering is told until it is over", async () => {
  const clock = new VirtualClock();
  const [away, busy] = [new Error("the database is away"), new Error("not now")];
  const ours: Taken = { outcome: "ours", changes: [{ number: 1 } as NotedChange] };
  const takes: (() => Promise<Taken>)[] = [
    () => Promise.reject(away),
    async () => ({ outcome: "empty" }),
    async () => ours,
    async () => ours,
    // It is about to look again.
    () => new Promise(() => {}),
  ];
  const fates = [{ outcome: "later", error: busy }, { outcome: "delivered" }];
  const address = (change: NotedChange) => ({
    ...{ change, place: "a run" },
    deliver: async () => fates.shift(),
  });
  const outbox = { take: () => takes.shift()?.(), settle: async () => {} };
  const consumer = new Consumer({
    ...{ outbox, address, clock, holder: "its own", isListening: () => false },
  } as Partial<Record<keyof ConsumerWorld, unknown>> as ConsumerWorld);
  consumer.wake();
  const told: unknown[] = [];
  for (const ms of [0, 1_000, 50, 1_000]) {
    await clock.advance(ms);
    await new Promise((pass) => setImmediate(pass));
    told.push(consumer.problem);
  }
  expect(told).toEqual([away, undefined, busy, undefined]);
});
