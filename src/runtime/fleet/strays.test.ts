/** Strays: runs that are due, and that whoever should see to them does not take up. */
import { expect, test } from "vitest";
import { defineMachine } from "../../index.ts";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { createRuntime } from "../runtime.ts";

const napper = (id: string, ms: number) =>
  defineMachine({
    id,
    initial: "asleep",
    states: { asleep: { after: { [ms]: "up" } }, up: { type: "final" } },
  });
const [known, fresh, retired] = [napper("known", 100), napper("fresh", 500), napper("retired", 100)];

/** A store that is shared, in virtual time. */
function shared() {
  const rest = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise((pass) => setImmediate(pass));
  };
  return { store: memory({ shared: true }), clock: new VirtualClock(1_000_000, rest) };
}

/** What becomes of runs of one machine that half of a fleet knows, beside runs that nobody knows any more. */
async function fleetWith({ unknown, count }: { readonly unknown: number; readonly count: number }) {
  const options = shared();
  const { clock } = options;
  const client = await createRuntime({ ...options, machines: [retired, fresh], role: "client" });
  for (let n = 0; n < unknown; n++) await client.start(retired, { id: `retired ${n}` });
  const runs = await Promise.all(
    Array.from({ length: count }, (_, n) => client.start(fresh, { id: `fresh ${n}` })),
  );
  const ignorant = await createRuntime({ ...options, machines: [known] });
  const knowing = await createRuntime({ ...options, machines: [known, fresh] });
  return {
    clock,
    async done() {
      const heads = await Promise.all(runs.map((run) => run.head()));
      return heads.filter(({ status }) => status === "done").length;
    },
    close: () => Promise.all([ignorant, knowing, client].map((runtime) => runtime.close())),
  };
}

test("G2: strays are taken up however many are due that nobody can read", async () => {
  const { clock, done, close } = await fleetWith({ unknown: 60, count: 40 });
  await clock.advance("8s");
  expect(await done()).toBe(40);
  await close();
});

test("G2: many strays are taken up one after the other, not some every few seconds", async () => {
  const { clock, done, close } = await fleetWith({ unknown: 0, count: 200 });
  await clock.advance("7s");
  expect(await done()).toBe(200);
  await close();
});

test("a run that somebody else has brought back is taken up by its home, which has it as parked", async () => {
  const options = { ...shared(), machines: [known] };
  const home = await createRuntime(options);
  const client = await createRuntime({ ...options, role: "client" });
  await (await home.start(known, { id: "a" })).pause();
  await options.clock.advance("1s");
  const run = await client.run("a");
  await run.retry();
  await options.clock.advance("5s");
  expect(await run.head()).toMatchObject({ status: "done" });
  await Promise.all([home, client].map((runtime) => runtime.close()));
});
