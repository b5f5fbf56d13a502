/** The supervisor keeps a runtime up, in real time: one that was put out, or could not begin yet, is followed by another. */
import { expect, test, vi } from "vitest";
import { counter } from "../../test/runtime/machines.ts";
import { HoldfastError } from "../errors.ts";
import { createRuntime, type Runtime } from "../runtime/runtime.ts";
import { fleetOf } from "../store/fleet.ts";
import { memory } from "../store/memory/store.ts";
import { backoffMs, Supervisor } from "./supervisor.ts";

test("a runtime that was put out is followed by another", async () => {
  const store = memory({ shared: true });
  const stop = new AbortController();
  const ups: Runtime[] = [];
  const notes: string[] = [];
  const supervisor = new Supervisor({
    open: () => createRuntime({ store, machines: [counter] }),
    up: (runtime) => {
      ups.push(runtime);
      const [member] = runtime.members();
      if (ups.length === 2) stop.abort();
      else void fleetOf(store)?.leave(member?.epoch as number, Date.now());
    },
    note: (line) => notes.push(line),
  });
  await supervisor.keepUp(stop.signal);
  expect(ups).toHaveLength(2);
  expect(supervisor.runtime).toBe(ups[1]);
  expect(notes).toEqual([expect.stringContaining("STORE_OWNED")]);
  await supervisor.runtime?.close();
});

test("one that stopped by itself is closed, and is nobody's any more while the next is waited for", async () => {
  const stop = new AbortController();
  let isClosed = false;
  const runtime = {
    stopped: Promise.resolve(new HoldfastError("STORE_OWNED", "It is taken")),
    close: async () => {
      isClosed = true;
    },
  } as unknown as Runtime;
  const supervisor = new Supervisor({
    open: async () => runtime,
    up: () => expect(supervisor.runtime).toBe(runtime),
    note: () => {
      expect([isClosed, supervisor.runtime]).toEqual([true, undefined]);
      stop.abort();
    },
  });
  await supervisor.keepUp(stop.signal);
  expect(isClosed).toBe(true);
});

test("what befalls one that was up for long is not counted with what was before", async () => {
  const waits: number[] = [];
  const stop = new AbortController();
  let now = 0;
  const clock = vi.spyOn(Date, "now").mockImplementation(() => (now += 30_000));
  const supervisor = new Supervisor({
    open: () => Promise.reject(new HoldfastError("STORE_UNAVAILABLE", "It is away")),
    up: () => {},
    note: (line) => {
      waits.push(Number(/(\d+) ms$/.exec(line)?.[1]));
      if (waits.length === 3) stop.abort();
    },
  });
  await supervisor.keepUp(stop.signal);
  clock.mockRestore();
  expect(Math.max(...waits)).toBeLessThanOrEqual(250);
});

test("what may be better later is tried again, and anything else ends it", async () => {
  const errors = [
    new HoldfastError("STORE_UNAVAILABLE", "It is away"),
    new HoldfastError("STORE_OWNED", "It is taken"),
    new HoldfastError("STORE_NEWER", "It is newer"),
  ];
  const notes: string[] = [];
  const supervisor = new Supervisor({
    open: () => Promise.reject(errors.shift()),
    up: () => {},
    note: (line) => notes.push(line),
  });
  await expect(supervisor.keepUp(new AbortController().signal)).rejects.toMatchObject({
    code: "STORE_NEWER",
  });
  expect(notes).toHaveLength(2);
});

test("it stops at once while it waits", async () => {
  const stop = new AbortController();
  const supervisor = new Supervisor({
    open: () => Promise.reject(new HoldfastError("STORE_UNAVAILABLE", "It is away")),
    up: () => {},
    note: () => stop.abort(),
  });
  await supervisor.keepUp(stop.signal);
  expect(supervisor.runtime).toBeUndefined();
});

test("the wait grows to ten seconds, and is never less than half of what it could be", () => {
  expect([1, 2, 3, 4, 100].map((tries) => backoffMs(tries, 1))).toEqual([250, 500, 1_000, 2_000, 10_000]);
  expect(backoffMs(100, 0)).toBe(5_000);
});
