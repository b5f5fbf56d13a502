/** Steps of other members in the feed, with reading that takes as long as the test wants. */
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Committed } from "../runtime/run.ts";
import type { Principal } from "../security/identity.ts";
import { Elsewhere } from "./elsewhere.ts";
import { Feed } from "./feed.ts";
import { Sink } from "./sink.ts";

const somebody: Principal = { id: "k", tenant: "acme", role: "viewer", via: "key" };

class Listening extends Sink {
  readonly told: string[] = [];
  override send(frame: Uint8Array): void {
    const [, event, text = "{}"] = /event: (\w+)\ndata: (.*)/.exec(new TextDecoder().decode(frame)) ?? [];
    if (event === undefined) return;
    const { run, seq } = JSON.parse(text) as { run?: string; seq?: number };
    this.told.push(event === "gap" ? "gap" : `${run}:${seq}`);
  }
}

const committed = (run: string, first: number, last = first, tenant = "acme"): Committed =>
  ({
    head: { tenant, run, machine: "m", version: 0, status: "active", attributes: {}, seq: last },
    state: { configuration: ["open"] },
    steps: Array.from({ length: last - first + 1 }, (_, index) => ({
      ...{ seq: first + index, at: 1, event: { type: "add" }, outcome: "taken", effects: [] },
    })),
  }) as unknown as Committed;

/** A feed that is followed, and a journal that is read when it is let. */
function open() {
  const alarms = new Map<object, { ms: number; run: () => void }>();
  const clock: Clock = {
    now: () => 0,
    after: (ms, run) => {
      const alarm = {};
      alarms.set(alarm, { ms, run });
      return () => void alarms.delete(alarm);
    },
    soon: () => {},
  };
  const feed = new Feed("boot", clock);
  const reads: { name: string; since: number; last: (seq: number) => void; fail: () => void }[] = [];
  const elsewhere = new Elsewhere({
    feed,
    read: ({ run }, since) => {
      const { promise, resolve, reject } = Promise.withResolvers<Committed>();
      const last = (seq: number) => resolve(committed(run, since + 1, seq));
      reads.push({ name: run, since, last, fail: () => reject(new Error("gone")) });
      return promise;
    },
  });
  const follow = (lastEventId?: string) => {
    const sink = new Listening(somebody, () => {});
    feed.follow(sink, lastEventId);
    return sink;
  };
  return { alarms, feed, elsewhere, reads, follow };
}

const soon = () => new Promise<void>((over) => setImmediate(over));
const moved = (run: string, since: number, tenant = "acme") => ({ tenant, run, since });

test("D1: steps that are taken here while those before are still read are told after them, each once", async () => {
  const { elsewhere, reads, follow } = open();
  const { told } = follow();
  elsewhere.heard([moved("a", 4)]);
  elsewhere.here(committed("a", 6));
  expect(told).toEqual([]);
  reads.shift()?.last(5);
  await soon();
  // What was done here meanwhile is read as well.
  expect(reads.map(({ since }) => since)).toEqual([5]);
  reads.shift()?.last(6);
  await soon();
  elsewhere.here(committed("a", 6));
  elsewhere.here(committed("a", 7));
  expect(told).toEqual(["a:5", "a:6", "a:7"]);
});

test("D1: a step that others took and nobody told of is noticed by the next one, here or there", async () => {
  const { elsewhere, reads, follow } = open();
  const { told } = follow();
  elsewhere.here(committed("a", 1, 2));
  elsewhere.here(committed("a", 4));
  expect(reads.map(({ since }) => since)).toEqual([2]);
  reads.shift()?.last(4);
  await soon();
  elsewhere.heard([moved("a", 6)]);
  expect(reads.map(({ since }) => since)).toEqual([4]);
  reads.shift()?.last(7);
  await soon();
  expect(told).toEqual(["a:1", "a:2", "a:3", "a:4", "a:5", "a:6", "a:7"]);
});

test("D1: what cannot be read is a gap, and so are more runs than may wait; one fewer is none", async () => {
  const { elsewhere, reads, follow } = open();
  const { told } = follow();
  elsewhere.heard([moved("a", 0)]);
  reads.shift()?.fail();
  await soon();
  expect(told).toEqual(["gap"]);
  const many = (count: number) => Array.from({ length: count }, (_, index) => moved(`r-${index}`, 0));
  elsewhere.heard(many(limits.feedWaitingMax));
  expect(told).toEqual(["gap"]);
  elsewhere.heard([moved("one", 0), ...many(limits.feedWaitingMax)]);
  expect(told).toEqual(["gap", "gap"]);
});

test("D1: of a tenant that nobody follows nothing is read, and whoever follows later is told of a gap", async () => {
  const { alarms, feed, elsewhere, reads, follow } = open();
  elsewhere.heard([moved("a", 0), moved("b", 0, "globex")]);
  expect(reads).toEqual([]);
  const first = follow();
  elsewhere.here(committed("a", 1));
  expect(first.told).toEqual(["a:1"]);
  first.end();
  // For a while it goes on: whoever lost a connection comes back.
  elsewhere.heard([moved("a", 1)]);
  reads.shift()?.last(2);
  await soon();
  const again = follow("boot.1");
  expect(again.told).toEqual(["a:2"]);
  expect(alarms.size).toBe(0);
  again.end();
  expect([...alarms.values()].map(({ ms }) => ms)).toEqual([limits.feedLingerMs]);
  for (const { run } of [...alarms.values()]) run();
  elsewhere.heard([moved("a", 2)]);
  expect(reads).toEqual([]);
  elsewhere.here(committed("a", 4));
  expect(follow("boot.2").told).toEqual(["gap"]);
  feed.close();
});
