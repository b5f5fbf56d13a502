/** Following a journal: what has been and what is to come, in order and once, until the run or the reader is done. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onEveryStore } from "../../test/runtime/world.ts";
import { defineMachine } from "../index.ts";
import type { Watchers } from "./watchers.ts";

const light = defineMachine({
  id: "light",
  initial: "off",
  states: {
    off: { on: { press: "on", break: "broken" } },
    on: { on: { press: "off" } },
    broken: { type: "final" },
  },
});

onEveryStore((world) => {
  const begin = async () => {
    const here = await world();
    const runtime = await here.boot([light]);
    return { runtime, run: await runtime.start(light, { id: "l" }) };
  };

  test("B8: a journal is followed from any step on, until the run has ended", async () => {
    const { run } = await begin();
    await run.send("press");
    const seen: [number, string][] = [];
    const reading = (async () => {
      for await (const { seq, event } of run.follow(2)) seen.push([seq, event.type]);
    })();
    await run.send("press");
    await run.send("break");
    await reading;
    expect(seen).toEqual([
      [2, "press"],
      [3, "press"],
      [4, "break"],
    ]);
    for await (const { seq } of run.follow(5)) expect(seq).toBeUndefined();
  });

  test("B8: whoever stops in the middle is given nothing more, and leaves nothing behind", async () => {
    const { runtime, run } = await begin();
    await run.send("press");
    const ending = new AbortController();
    const seen: number[] = [];
    for await (const { seq } of run.follow(1, { signal: ending.signal })) {
      seen.push(seq);
      ending.abort();
    }
    expect(seen).toEqual([1]);
    const later = new AbortController();
    const reading = run.follow(3, { signal: later.signal })[Symbol.asyncIterator]();
    const next = reading.next();
    await new Promise((resolve) => setImmediate(resolve));
    later.abort();
    await next;
    const { watchers } = runtime as unknown as { readonly watchers: Watchers };
    expect([getEventListeners(later.signal, "abort"), [...watchers.names()]]).toEqual([[], []]);
  });

  test("B8: whoever follows a journal can stop while nothing comes, or be stopped by the runtime's end", async () => {
    const { runtime, run } = await begin();
    const ending = new AbortController();
    const reading = run.follow(2, { signal: ending.signal })[Symbol.asyncIterator]();
    const next = reading.next();
    ending.abort();
    expect((await next).done).toBe(true);
    const stopped = { signal: AbortSignal.abort() };
    for await (const { seq } of run.follow(1, stopped)) expect(seq).toBeUndefined();
    const endless = run.follow(2)[Symbol.asyncIterator]().next();
    const failed = expect(endless).rejects.toMatchObject({ code: "RUNTIME_CLOSED" });
    await new Promise((resolve) => setImmediate(resolve));
    await runtime.close();
    await failed;
  });
});
