/** Waiting for what happens elsewhere. */
import { expect, test } from "vitest";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Follower } from "./follower.ts";

test("whoever stops waiting twice takes nobody else's place", async () => {
  const follower = new Follower({
    fleet: { readSeqs: async () => [] },
    clock: new VirtualClock(),
    followed: () => [],
    live: () => undefined,
    moved: () => {},
  });
  const name = { tenant: "default", run: "a" };
  const first = follower.until(name, async () => "at once");
  expect(await first.told).toBe("at once");
  let answer: string | undefined;
  const second = follower.until(name, async () => answer);
  first.cancel();
  answer = "later";
  follower.look([name]);
  expect(await second.told).toBe("later");
});

test("a store that is slow to answer is asked once at a time, and again for what happened meanwhile", async () => {
  const follower = new Follower({
    fleet: { readSeqs: async () => [] },
    clock: new VirtualClock(),
    followed: () => [],
    live: () => undefined,
    moved: () => {},
  });
  const name = { tenant: "default", run: "a" };
  const answers: ((answer: string | undefined) => void)[] = [];
  const { told } = follower.until<string>(name, () => new Promise((answer) => answers.push(answer)));
  follower.look([name]);
  follower.look(undefined);
  expect(answers.length).toBe(1);
  answers[0]?.(undefined);
  await new Promise((resolve) => setImmediate(resolve));
  expect(answers.length).toBe(2);
  answers[1]?.("by now");
  expect(await told).toBe("by now");
});
