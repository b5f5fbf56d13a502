/** The virtual clock: time passes when it is told to, and alarms that only look at the time cost nothing. */
import { describe, expect, test } from "vitest";
import { VirtualClock } from "./virtual-clock.ts";

const rest = async () => {};

describe("a virtual clock", () => {
  test("rings alarms in the order of their times, and shows those times", async () => {
    const clock = new VirtualClock(1_000);
    const rung: unknown[] = [];
    clock.after(20, () => rung.push(["late", clock.now()]));
    clock.after(10, () => rung.push(["early", clock.now()]));
    const stop = clock.after(15, () => rung.push("never"));
    stop();
    await clock.advance("1s");
    expect(rung).toEqual([
      ["early", 1_010],
      ["late", 1_020],
    ]);
    expect(clock.now()).toBe(2_000);
  });

  /** An alarm that looks at the time every 5 seconds, until it is time. */
  const watchfulAlarm = (clock: VirtualClock, at: number) => {
    const looks: number[] = [];
    const look = () => {
      looks.push(clock.now());
      if (clock.now() < at) clock.after(Math.min(5_000, at - clock.now()), look);
    };
    look();
    return looks;
  };

  test("lets an alarm that only looks at the time ring when something is due", async () => {
    const due = 86_400_000;
    const clock = new VirtualClock(0, { rest, nextDue: async () => due });
    const looks = watchfulAlarm(clock, due);
    await clock.advance("2 days");
    expect(looks).toEqual([0, 5_000, due]);
  });

  test("lets it ring each time where nobody knows what is due", async () => {
    const clock = new VirtualClock(0, rest);
    const looks = watchfulAlarm(clock, 20_000);
    await clock.advance("1 min");
    expect(looks).toEqual([0, 5_000, 10_000, 15_000, 20_000]);
  });

  test("lets it ring when another alarm does, and when time stops passing", async () => {
    const clock = new VirtualClock(0, { rest, nextDue: async () => undefined });
    const looks = watchfulAlarm(clock, 1_000_000);
    clock.after(60_000, () => {});
    await clock.advance("2 min");
    expect(looks).toEqual([0, 5_000, 60_000, 120_000]);
  });

  test("can stand while others wait, until something holds or it has waited long enough", async () => {
    const clock = new VirtualClock(500, rest);
    const rung: number[] = [];
    for (const ms of [100, 200, 300, 5_000]) clock.after(ms, () => rung.push(clock.now()));
    await clock.stand(1_000, async () => rung.length === 2);
    expect([clock.now(), rung]).toEqual([500, [500, 500]]);
    await clock.stand(1_000, async () => false);
    expect([clock.now(), rung]).toEqual([500, [500, 500, 500]]);
    await clock.advance("1s");
    expect([clock.now(), rung.length]).toEqual([1_500, 3]);
  });
});
