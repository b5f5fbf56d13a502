/** Stages: a request that comes while machines are loaded anew is answered by the next stage, not refused. */
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Loaded } from "./load-machines.ts";
import type { Stage } from "./stage.ts";
import { Stages } from "./stages.ts";

/** A clock whose timers are let go by hand. */
function handClock(): Clock & { ring(): void } {
  const timers = new Map<object, () => void>();
  return {
    now: () => 0,
    after: (ms, run) => {
      expect(ms).toBe(limits.reloadMsMax);
      const timer = {};
      timers.set(timer, run);
      return () => void timers.delete(timer);
    },
    soon: (run) => void setImmediate(run),
    ring: () => {
      for (const run of timers.values()) run();
    },
  };
}

/** Stages that say their names, open when they are let, and refuse once they drain. */
function theatre() {
  const clock = handClock();
  const opening: { name: string; open: () => void; fail: (error: Error) => void }[] = [];
  const closed: string[] = [];
  const stages = new Stages(({ machines: [name] }) => {
    const { promise, resolve, reject } = Promise.withResolvers<Stage>();
    const text = String(name);
    let isDraining = false;
    const server = {
      fetch: () => new Response(text, { status: isDraining ? 503 : 200 }),
      drain: async (withinMs: number) => {
        expect(withinMs).toBe(limits.reloadDrainMs);
        isDraining = true;
        return true;
      },
      close: () => closed.push(text),
    };
    const stage = { server, runtime: {}, close: async () => {} } as unknown as Stage;
    opening.push({ name: text, open: () => resolve(stage), fail: reject });
    return promise;
  }, clock);
  const next = async (name: string) => {
    await expect.poll(() => opening[0]?.name).toBe(name);
    return opening.shift() as (typeof opening)[number];
  };
  const ask = async () => {
    const response = await stages.fetch(new Request("http://127.0.0.1/"));
    return `${response.status} ${await response.text()}`;
  };
  return { clock, stages, next, ask, closed };
}

const named = (name: string, dev?: Loaded["dev"]): Loaded => ({ machines: [name as never], dev });

async function entered(name: string) {
  const house = theatre();
  const entering = house.stages.enter(named(name));
  (await house.next(name)).open();
  await entering;
  return house;
}

test("G5: a request that comes between two stages waits, and the next one answers it", async () => {
  const { stages, next, ask, closed } = await entered("one");
  expect(await ask()).toBe("200 one");
  const entering = stages.enter(named("two"));
  const asked = ask();
  const two = await next("two");
  expect(closed).toEqual(["one"]);
  const late = ask();
  two.open();
  await entering;
  expect([await asked, await late, await ask()]).toEqual(["200 two", "200 two", "200 two"]);
});

test("G5: machines that cannot be run change nothing for those who wait", async () => {
  const { stages, next, ask } = await entered("one");
  const entering = stages.enter(named("broken"));
  const asked = ask();
  (await next("broken")).fail(new Error("No such thing"));
  (await next("one")).open();
  await expect(entering).rejects.toThrow("No such thing");
  expect([await asked, await ask()]).toEqual(["200 one", "200 one"]);
});

test("G5: machines that open and cannot be played are left for those before", async () => {
  const { stages, next, ask, closed } = await entered("one");
  const entering = stages.enter(
    named("two", () => {
      throw new Error("Not like that");
    }),
  );
  (await next("two")).open();
  (await next("one")).open();
  await expect(entering).rejects.toThrow("Not like that");
  expect(closed).toEqual(["one", "two"]);
  expect(await ask()).toBe("200 one");
});

test("G5: a request waits no longer than the bound, and is told to come again", async () => {
  const { clock, stages, next, ask } = await entered("one");
  const entering = stages.enter(named("two"));
  const asked = ask();
  const two = await next("two");
  clock.ring();
  expect(await asked).toMatch(/^503 .*SERVER_DRAINING/);
  two.open();
  await entering;
  expect(await ask()).toBe("200 two");
});

test("G5: where nothing can be opened any more, whoever asks is told so until something can", async () => {
  const { stages, next, ask } = await entered("one");
  const entering = stages.enter(named("broken"));
  const asked = ask();
  (await next("broken")).fail(new Error("No such thing"));
  (await next("one")).fail(new Error("The disk is gone"));
  await expect(entering).rejects.toThrow("No such thing");
  expect(await asked).toMatch(/^500 .*SERVER_FAILED/);
  const mending = stages.enter(named("two"));
  (await next("two")).open();
  await mending;
  expect(await ask()).toBe("200 two");
});
