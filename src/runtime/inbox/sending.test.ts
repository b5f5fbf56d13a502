/** Events on their way into inboxes. */
import { expect, test } from "vitest";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { eventOf } from "../../store/conformance/sample.ts";
import type { InboxRow } from "../../store/records.ts";
import type { EnqueueOutcome } from "../../store/store.ts";
import { systemClock } from "../clock.ts";
import { Sending } from "./sending.ts";

/** A store that keeps what it was given to write, call by call, and accepts it unless `refuse` throws. */
function sendingTo(refuse: (rows: readonly InboxRow[]) => void = () => {}) {
  const calls: string[][] = [];
  const enqueue = async (rows: readonly InboxRow[]): Promise<readonly EnqueueOutcome[]> => {
    calls.push(rows.map(({ id }) => id));
    refuse(rows);
    return rows.map(({ id }) => (id.startsWith("again") ? "duplicate" : "accepted"));
  };
  return { sending: new Sending({ enqueue }, systemClock), calls };
}

test("what is sent in one moment is one write, in its order, and each sender hears of its own", async () => {
  const { sending, calls } = sendingTo();
  const sent = [
    [eventOf("a"), eventOf("again b")],
    [],
    [eventOf("c", { run: "run-2" })],
    [eventOf("again d")],
  ];
  expect(await Promise.all(sent.map((rows) => sending.send(rows)))).toEqual([
    ["accepted", "duplicate"],
    [],
    ["accepted"],
    ["duplicate"],
  ]);
  expect(calls).toEqual([["a", "again b", "c", "again d"]]);
});

test("what cannot be kept harms nobody else who sends at the same time", async () => {
  const { sending, calls } = sendingTo((rows) => {
    if (rows.some(({ id }) => id === "bad")) throw new HoldfastError("VALUE_UNSTORABLE", "no");
  });
  const [good, bad, other] = await Promise.allSettled(
    ["good", "bad", "other"].map((id) => sending.send([eventOf(id)])),
  );
  expect([good, other]).toEqual([
    { status: "fulfilled", value: ["accepted"] },
    { status: "fulfilled", value: ["accepted"] },
  ]);
  expect(bad).toMatchObject({ status: "rejected", reason: { code: "VALUE_UNSTORABLE" } });
  expect(calls).toEqual([["good", "bad", "other"], ["good"], ["bad"], ["other"]]);
});

test("of a write whose answer was lost nobody knows anything, and it is not made again", async () => {
  const { sending, calls } = sendingTo(() => {
    throw new HoldfastError("STORE_UNAVAILABLE", "lost");
  });
  const fates = await Promise.allSettled(["a", "b"].map((id) => sending.send([eventOf(id)])));
  for (const fate of fates)
    expect(fate).toMatchObject({ status: "rejected", reason: { code: "STORE_UNAVAILABLE" } });
  expect(calls).toEqual([["a", "b"]]);
});

test("a write has no more bytes than it may, and a large one goes by itself", async () => {
  const { sending, calls } = sendingTo();
  const large = new Uint8Array(limits.sentTogetherBytesMax - 3_000);
  const rows = [eventOf("a"), eventOf("b", { bytes: large }), eventOf("c"), eventOf("d")];
  await Promise.all(rows.map((row) => sending.send([row])));
  expect(calls).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
});
