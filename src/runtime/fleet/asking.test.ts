/** Asking where the reply may be given elsewhere. */
import { expect, test } from "vitest";
import { defineMachine } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime } from "../runtime.ts";

const silent = defineMachine({
  id: "silent",
  initial: "open",
  states: { open: { on: { ask: { update: () => {} } } } },
});

test("A5: nobody looks any more for a reply that did not come in time", async () => {
  const store = memory({ shared: true });
  let reads = 0;
  const watched = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        if (name === "readJournal") reads++;
        return (value as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });
  const rest = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
  };
  const clock = new VirtualClock(1_000_000, rest);
  const runtime = await createRuntime({ store: watched, clock, machines: [silent] });
  const run = await runtime.start(silent, { id: "a" });
  const asked = Array.from({ length: 5 }, () => run.ask("ask", null, { timeout: "1s" }));
  const unanswered = Promise.allSettled(asked);
  await clock.advance("2s");
  for (const { status } of await unanswered) expect(status).toBe("rejected");
  expect(reads).toBeGreaterThan(0);
  reads = 0;
  await clock.advance("10s");
  expect(reads).toBe(0);
  await runtime.close();
});
