/** When others are told. */
import { expect, test } from "vitest";
import type { Hint, Signals } from "../../store/signals.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Herald } from "./herald.ts";

/** A herald, what it has sent, and what ends the sending under way. */
function telling() {
  const sent: string[][] = [];
  let isOut = Promise.withResolvers<void>();
  const signals: Signals = {
    send: (names: readonly Hint[]) => {
      sent.push(names.map(({ run, since }) => (since === undefined ? run : `${run} ${since}`)));
      return isOut.promise;
    },
    listen: () => Promise.reject(new Error("deaf")),
  };
  const clock = new VirtualClock();
  const herald = new Herald(signals, clock, { epoch: () => 1, heard: () => {}, deaf: () => {} });
  const out = async () => {
    isOut.resolve();
    isOut = Promise.withResolvers();
    await turn();
  };
  const turn = () => new Promise((pass) => setImmediate(() => setImmediate(pass)));
  const tell = (run: string, since?: number, isUrgent?: boolean) =>
    herald.tell({ tenant: "default", run }, since, isUrgent);
  return { tell, sent, out, turn, clock };
}

test("what is told when nothing has been for a while is told at once, all of a moment together", async () => {
  const { tell, sent, turn } = telling();
  tell("a", 3);
  tell("b");
  tell("a", 2);
  await turn();
  expect(sent).toEqual([["a 2", "b"]]);
});

test("after that, news is gathered for a moment", async () => {
  const { tell, sent, out, turn, clock } = telling();
  tell("a");
  await turn();
  await out();
  tell("b", 1);
  await turn();
  tell("c", 1);
  await turn();
  expect(sent).toEqual([["a"]]);
  await clock.advance(10);
  await turn();
  expect(sent).toEqual([["a"], ["b 1", "c 1"]]);
});

test("what is urgent is told as soon as the news before it is out, with all there is to tell", async () => {
  const { tell, sent, out, turn } = telling();
  tell("a");
  await turn();
  tell("b", 1);
  tell("c", undefined, true);
  tell("d", 4, true);
  await turn();
  expect(sent).toEqual([["a"]]);
  await out();
  expect(sent).toEqual([["a"], ["b 1", "c", "d 4"]]);
});
