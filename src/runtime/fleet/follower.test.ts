/** Waiting for what happens elsewhere. */
import { expect, test } from "vitest";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Follower } from "./follower.ts";

const followerOf = (isHearing = true) => {
  const clock = new VirtualClock();
  const follower = new Follower({
    fleet: { readSeqs: async () => [] },
    clock,
    isHearing: () => isHearing,
    followed: () => [],
    live: () => undefined,
    moved: () => {},
  });
  return { follower, clock };
};

const name = { tenant: "default", run: "a" };

test("whoever stops waiting twice takes nobody else's place", async () => {
  const { follower } = followerOf();
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
  const { follower } = followerOf();
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

test("whoever marked when it began asks only once something was heard of the run since", async () => {
  const { follower } = followerOf();
  const other = { tenant: "default", run: "b" };
  let asked = 0;
  const ask = async () => void asked++;
  const [mark, others] = [follower.mark(name), follower.mark(other)];
  const { cancel } = follower.until(name, ask, mark);
  follower.look([other]);
  expect([asked, mark.isPassed, others.isPassed]).toEqual([0, false, true]);
  follower.look([name]);
  expect([asked, mark.isPassed]).toEqual([1, true]);
  cancel();
  // It was heard before anybody waited.
  follower.until(name, ask, mark).cancel();
  expect(asked).toBe(2);
  const later = follower.mark(name);
  expect(later.isPassed).toBe(false);
  follower.look(undefined);
  expect(later.isPassed).toBe(true);
});

test("where nothing is heard it looks soon, and then less and less often until somebody else waits", async () => {
  const { follower, clock } = followerOf(false);
  follower.start();
  const times: number[] = [];
  const ask = async () => void times.push(clock.now());
  follower.until(name, ask, follower.mark(name));
  await clock.advance(1_200);
  expect(times).toEqual([5, 15, 35, 75, 155, 315, 635, 1_135]);
  times.splice(0);
  follower.until(name, async () => undefined, follower.mark(name));
  await clock.advance(20);
  expect(times).toEqual([1_205, 1_215]);
  follower.stop();
});
