/** Runs in memory: they make room for others when nobody asks for them, and come back when somebody does. */
import { describe, expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { onEveryStore } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { createRegistry } from "../registry.ts";
import { type LiveRun, newRun } from "./live-run.ts";
import { Residents } from "./residents.ts";

const bound = createRegistry([counter as never]).read("counter");
const nameOf = (run: number | string) => ({ tenant: "default", run: `${run}` });
const runOf = (run: number | string): LiveRun =>
  newRun(nameOf(run), bound, { subject: "s", attributes: {} }, 0);

describe("the runs in memory", () => {
  const fill = (residents: Residents, from: number, count: number) => {
    for (let n = from; n < from + count; n++) residents.add(runOf(n));
  };

  test("G1: are at most twice the limit, and those that nobody asked for go first", () => {
    const residents = new Residents(() => false);
    fill(residents, 0, limits.liveRunsMax);
    expect(residents.read(nameOf(0))).toBeDefined();
    fill(residents, limits.liveRunsMax, limits.liveRunsMax);
    expect(residents.read(nameOf(0))).toBeDefined();
    fill(residents, 2 * limits.liveRunsMax, limits.liveRunsMax);
    expect(residents.read(nameOf(0))).toBeDefined();
    expect(residents.read(nameOf(1))).toBeUndefined();
    let left = 0;
    for (let n = 0; n < 3 * limits.liveRunsMax; n++) if (residents.read(nameOf(n)) !== undefined) left++;
    expect(left).toBeLessThanOrEqual(2 * limits.liveRunsMax);
  });

  test("G1: are never put out while they are busy", () => {
    const busy = runOf("busy");
    const residents = new Residents((run) => run === busy);
    residents.add(busy);
    fill(residents, 0, 5 * limits.liveRunsMax);
    expect(residents.read(nameOf("busy"))).toBe(busy);
  });

  test("G1: are read once, however many ask at once", async () => {
    const residents = new Residents(() => false);
    let loads = 0;
    const load = async () => {
      loads++;
      await Promise.resolve();
      const run = runOf("a");
      residents.add(run);
      return run;
    };
    const found = await Promise.all([1, 2, 3].map(() => residents.find(nameOf("a"), load)));
    expect([loads, new Set(found).size]).toEqual([1, 1]);
  });

  test("G1: are removed only by the one that is in", () => {
    const residents = new Residents(() => false);
    const [one, other] = [runOf("a"), runOf("a")];
    residents.add(one);
    residents.remove(other);
    expect(residents.read(nameOf("a"))).toBe(one);
    residents.remove(one);
    expect(residents.read(nameOf("a"))).toBeUndefined();
  });
});

onEveryStore((world, kind) => {
  test.runIf(kind === "memory")("G1: more runs than fit into memory go on as if they did", async () => {
    const { boot, watch, clock } = await world();
    const runtime = await boot([counter]);
    const count = 2 * limits.liveRunsMax + 500;
    const first = await runtime.start(counter, { id: "first" });
    await first.send("nap");
    for (let n = 0; n < count; n += 1_000)
      await Promise.all(
        Array.from({ length: 1_000 }, (_, index) => runtime.start(counter, { id: `${n + index}` })),
      );
    const before = watch.count("load");
    const zero = await runtime.run("0");
    expect(watch.count("load") - before).toBe(1);
    await zero.send("tell", { run: "1", data: "hello" });
    await clock.advance("2m");
    expect((await (await runtime.run("1")).state()).context).toMatchObject({ log: ["hello"] });
    expect((await first.state()).configuration).toEqual(["open"]);
  });
});
