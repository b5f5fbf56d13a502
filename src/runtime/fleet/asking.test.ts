/** Asking where the reply may be given elsewhere. */
import { expect, test } from "vitest";
import { defineMachine, type Json } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import type { Store } from "../../store/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime } from "../runtime.ts";

const silent = defineMachine({
  id: "silent",
  initial: "open",
  states: { open: { on: { ask: { update: () => {} } } } },
});

/** Says nothing until it decides, and then tells all who have asked; `last` is its last word as well. */
const judge = defineMachine({
  id: "judge",
  start: { open: [] as string[] },
  initial: "sitting",
  states: {
    sitting: {
      on: {
        plead: { update: (draft, { event }) => void draft.open.push(event.replyTo as string) },
        decide: {
          actions: {
            reply: ({ event }) => event.data as Json,
            to: ({ context }) => context.open[0] as string,
          },
        },
        last: {
          target: "over",
          actions: {
            reply: ({ event }) => event.data as Json,
            to: ({ context }) => context.open[0] as string,
          },
        },
      },
    },
    over: { type: "final" },
  },
});

const rest = async () => {
  for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
};

/** The store as somebody sees it who counts how often journals are read. */
function counted(store: Store) {
  const reads = { journal: 0 };
  const watched = new Proxy(store, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== "function") return value;
      return (...given: unknown[]) => {
        if (name === "readJournal") reads.journal++;
        return (value as (...given: unknown[]) => unknown).apply(target, given);
      };
    },
  });
  return { watched, reads };
}

/** A run that is at home with a worker, as that has it and as a client has it. */
async function court() {
  const store = memory({ shared: true });
  const { watched, reads } = counted(store);
  const clock = new VirtualClock(1_000_000, rest);
  const worker = await createRuntime({ store, clock, machines: [judge] });
  const client = await createRuntime({ store: watched, clock, machines: [judge], role: "client" });
  await clock.advance("1s");
  const here = await worker.start(judge, { id: "j" });
  const there = await client.run("j");
  /** Asks from elsewhere, and goes on when that is taken. */
  const plead = async (key: string) => {
    const answer = there.ask("plead", null, { key, timeout: "1m" });
    answer.catch(() => {});
    await clock.advance("1s");
    return { answer };
  };
  const close = () => Promise.all([client.close(), worker.close()]);
  return { clock, here, there, reads, plead, close };
}

test("who asks again under a key gets the reply that is given elsewhere later, as who asked first does", async () => {
  const { clock, here, plead, close } = await court();
  const [first, again] = [await plead("k"), await plead("k")];
  expect((await here.state()).context.open).toEqual(["k"]);
  await here.send("decide", "granted");
  await clock.advance("2m");
  expect(await Promise.allSettled([first.answer, again.answer])).toEqual(
    [1, 2].map(() => ({ status: "fulfilled", value: "granted" })),
  );
  await close();
});

test("a reply that comes with the end of a run elsewhere is told, and not that there is none", async () => {
  const { clock, here, plead, close } = await court();
  const [first, again] = [await plead("k"), await plead("k")];
  await here.send("last", "denied");
  await clock.advance("2m");
  const third = await plead("k");
  expect(await Promise.allSettled([first, again, third].map(({ answer }) => answer))).toEqual(
    [1, 2, 3].map(() => ({ status: "fulfilled", value: "denied" })),
  );
  await close();
});

test("a run that ends elsewhere without a reply tells so whoever asked, and whoever asks again", async () => {
  const { clock, here, plead, close } = await court();
  const asked = [await plead("other"), await plead("k"), await plead("k")];
  await here.send("last", "denied");
  await clock.advance("2s");
  const [other, ...unanswered] = await Promise.allSettled(asked.map(({ answer }) => answer));
  expect(other).toMatchObject({ value: "denied" });
  for (const one of unanswered) expect(one).toMatchObject({ reason: { code: "ASK_UNANSWERED" } });
  await close();
});

test("replies that are given elsewhere later are looked for once for all who ask a run", async () => {
  const { clock, here, there, reads, close } = await court();
  const asked = Array.from({ length: 20 }, (_, n) =>
    there.ask("plead", null, { key: `${n}`, timeout: "1m" }),
  );
  const answers = Promise.allSettled(asked);
  await clock.advance("1s");
  expect((await here.state()).context.open.length).toBe(20);
  reads.journal = 0;
  await here.send("decide", "granted");
  await rest();
  expect(await asked[0]).toBe("granted");
  expect(reads.journal).toBeLessThanOrEqual(4);
  await clock.advance("2m");
  expect((await answers).filter(({ status }) => status === "fulfilled").length).toBe(1);
  await close();
});

test("A5: nobody looks any more for a reply that did not come in time", async () => {
  const store = memory({ shared: true });
  const { watched, reads } = counted(store);
  const clock = new VirtualClock(1_000_000, rest);
  const runtime = await createRuntime({ store: watched, clock, machines: [silent] });
  const run = await runtime.start(silent, { id: "a" });
  const asked = Array.from({ length: 5 }, () => run.ask("ask", null, { timeout: "1s" }));
  const unanswered = Promise.allSettled(asked);
  await clock.advance("2s");
  for (const { status } of await unanswered) expect(status).toBe("rejected");
  expect(reads.journal).toBeGreaterThan(0);
  reads.journal = 0;
  await clock.advance("10s");
  expect(reads.journal).toBe(0);
  await runtime.close();
});
