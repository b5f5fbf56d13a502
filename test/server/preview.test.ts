/** The preview of going on with another context: what a fork, or the run itself, would do, as it would do it. */
import { expect, test } from "vitest";
import { defineMachine } from "../../src/index.ts";
import { openHouse } from "./house.ts";

/** Calls for small sums, waits with large ones, and has none below zero. */
const payer = defineMachine({
  id: "payer",
  start: { euros: 500 },
  invariants: { aboveZero: ({ context }: { context: { euros: number } }) => context.euros > 0 },
  initial: "deciding",
  states: {
    deciding: {
      always: [
        { guard: ({ context }: { context: { euros: number } }) => context.euros < 100, target: "paying" },
      ],
      after: { "1h": "given-up" },
    },
    paying: {
      invoke: {
        activity: "pay",
        input: ({ context }: { context: { euros: number } }) => ({ euros: context.euros }),
        onDone: "given-up",
      },
    },
    "given-up": {},
  },
} as never);

test("E3: the preview of a fork with an edited context tells what that would begin, and what would refuse it", async () => {
  const entry = { machine: payer, activities: { pay: () => new Promise(() => {}) } };
  const { client } = await openHouse({ runtimeOptions: { machines: [entry] as never } });
  await client.runs.start({ machine: "payer", run: "p" });
  const preview = (context: object) =>
    client.runs.preview({ run: "p", at: 1, kind: "fork", context: context as never });
  expect(await preview({ euros: 900 })).toMatchObject({
    ...{ configuration: ["deciding"], begins: [{ kind: "timer", state: "deciding" }] },
    patches: expect.arrayContaining([{ op: "set", path: ["context", "euros"], value: 900 }]),
  });
  const cheap = await preview({ euros: 50 });
  expect(cheap).toMatchObject({
    configuration: ["paying"],
    begins: [{ kind: "activity", name: "pay", state: "paying", input: { euros: 50 } }],
  });
  const broken = await preview({ euros: -1 });
  expect(broken.refused).toContain('the invariant "aboveZero"');
  expect(broken.begins).toEqual([]);
  // It is as the fork does it, and nothing of it was done.
  expect((await client.runs.list()).runs.map(({ run }) => run)).toEqual(["p"]);
  const made = await client.runs.fork({ run: "p", at: 1, fork: "f", context: { euros: 50 } });
  expect(made.configuration).toEqual(cheap.configuration);
  await expect(client.runs.fork({ run: "p", at: 1, context: { euros: -1 } })).rejects.toThrow("aboveZero");
});

test("E3: a run goes back with an edited context as its preview told, and what is refused changes nothing", async () => {
  const entry = { machine: payer, activities: { pay: () => new Promise(() => {}) } };
  const { client } = await openHouse({ runtimeOptions: { machines: [entry] as never } });
  await client.runs.start({ machine: "payer", run: "p" });
  const timer = (await client.runs.state({ run: "p" })).state.timers[0];
  const preview = (context: object) =>
    client.runs.preview({ run: "p", at: 1, kind: "rollback", context: context as never });
  expect(await preview({ euros: 900 })).toMatchObject({
    ...{ configuration: ["deciding"], begins: [], cancels: [] },
    stays: [{ kind: "timer", key: (timer as { key: string }).key }],
  });
  const cheap = await preview({ euros: 50 });
  expect(cheap).toMatchObject({
    ...{ configuration: ["paying"], begins: [{ name: "pay", input: { euros: 50 } }] },
    cancels: [{ kind: "timer" }],
  });
  expect((await preview({ euros: -1 })).refused).toContain('the invariant "aboveZero"');
  await expect(client.runs.rollback({ run: "p", to: 1, context: { euros: -1 } })).rejects.toThrow(
    "aboveZero",
  );
  expect((await client.runs.show({ run: "p" })).seq).toBe(1);
  const { run } = await client.runs.rollback({ run: "p", to: 1, context: { euros: 50 } });
  expect(run.configuration).toEqual(cheap.configuration);
});
