/** Asking together. */
import { expect, test } from "vitest";
import { VirtualClock } from "../testing/virtual-clock.ts";
import { Together } from "./together.ts";

/** Answers with lengths when it is told to, and keeps what it was asked. */
function lengths(max = 10) {
  const calls: { readonly asked: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const together = new Together<string, number>({
    clock: new VirtualClock(),
    max,
    sizeOf: (asked) => asked.length,
    call: (asked) =>
      new Promise((resolve, reject) => {
        calls.push({ asked, answer: () => resolve(asked.map(({ length }) => length)), fail: reject });
      }),
  });
  const turn = () => new Promise((pass) => setImmediate(() => setImmediate(pass)));
  const asked = () => calls.map((call) => call.asked);
  return { together, calls, asked, turn };
}

test("what is asked in one moment is one call", async () => {
  const { together, calls, asked, turn } = lengths();
  const answers = ["a", "bb", "a"].map((one) => together.ask(one));
  await turn();
  calls[0]?.answer();
  expect(await Promise.all(answers)).toEqual([1, 2, 1]);
  expect(asked()).toEqual([["a", "bb", "a"]]);
});

test("T1: what is asked while a call is under way is the next call, all of it", async () => {
  const { together, calls, asked, turn } = lengths();
  const first = together.ask("a");
  await turn();
  const others = [together.ask("bb")];
  await turn();
  others.push(together.ask("ccc"));
  await turn();
  expect(asked()).toEqual([["a"]]);
  calls[0]?.answer();
  expect(await first).toBe(1);
  await turn();
  calls[1]?.answer();
  expect(await Promise.all(others)).toEqual([2, 3]);
  expect(asked()).toEqual([["a"], ["bb", "ccc"]]);
});

test("a call takes no more than it may, and what is more than that goes by itself", async () => {
  const { together, calls, asked, turn } = lengths(4);
  const answers = ["aa", "bb", "c", "ddddd", "e"].map((one) => together.ask(one));
  for (let call = 0; call < 4; call++) {
    await turn();
    calls[call]?.answer();
  }
  expect(await Promise.all(answers)).toEqual([2, 2, 1, 5, 1]);
  expect(asked()).toEqual([["aa", "bb"], ["c"], ["ddddd"], ["e"]]);
});

test("a store that cannot be reached is an error for all who asked, and is asked again", async () => {
  const { together, calls, turn } = lengths();
  const both = ["a", "b"].map((one) => together.ask(one));
  await turn();
  calls[0]?.fail(new Error("down"));
  for (const one of both) await expect(one).rejects.toThrow("down");
  const again = together.ask("a");
  await turn();
  calls[1]?.answer();
  expect(await again).toBe(1);
});
