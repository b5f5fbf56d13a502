/** Order in a fleet: what was acknowledged is taken before what is sent after it, also while a run comes to a new home. */
import { afterEach, expect, test } from "vitest";
import { holding } from "../../../test/runtime/holding.ts";
import { mortal } from "../../../test/runtime/mortal.ts";
import { defineMachine } from "../../index.ts";
import { homesOf } from "../../store/homes.ts";
import { memory } from "../../store/memory/store.ts";
import { shardOf } from "../../store/shard.ts";
import { createRuntime, type Runtime } from "../runtime.ts";

const diary = defineMachine({
  id: "diary",
  start: { notes: [] as string[] },
  initial: "open",
  states: {
    open: { on: { note: { update: (draft, { event }) => void draft.notes.push(event.data as string) } } },
  },
});

const runtimes: Runtime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
});

/** A run that is at home in a process that dies, another process, and a client beside them. */
async function scene() {
  const store = memory({ shared: true });
  const mortalOne = mortal(store);
  const { store: heldStore, hold } = holding(store);
  const machines = [diary];
  const one = await createRuntime({ store: mortalOne.store, machines });
  const two = await createRuntime({ store: heldStore, machines });
  const client = await createRuntime({ store, machines, role: "client" });
  runtimes.push(two, client);
  for (const runtime of [one, two]) await expect.poll(() => runtime.members().length).toBe(3);
  const members = two.members();
  const first = Math.min(...members.map(({ epoch }) => epoch));
  const isOfOne = (run: string) => homesOf(members)[shardOf({ tenant: "default", run })] === first;
  const id = Array.from({ length: 200 }, (_, index) => `diary-${index}`).find(isOfOne) as string;
  await one.start(diary, { id });
  const isHomeOfAll = () => expect.poll(() => two.members().length).toBe(2);
  return { die: mortalOne.die, two, client, id, hold, isHomeOfAll };
}

const notesOf = async (runtime: Runtime, id: string) => (await (await runtime.run(id)).state()).context;

test("G2: what waits for a run that is read while it gets a new home is taken first", async () => {
  const { die, two, client, id, hold, isHomeOfAll } = await scene();
  die();
  const load = hold("load");
  const due = hold("due");
  const reading = two.run(id);
  await (await client.run(id)).send("note", "first");
  await isHomeOfAll();
  load();
  await (await reading).send("note", "second");
  due();
  await expect.poll(() => notesOf(two, id)).toEqual({ notes: ["first", "second"] });
});

test("G2: what waits for a run that is busy while it gets a new home is taken first", async () => {
  const { die, two, client, id, hold, isHomeOfAll } = await scene();
  die();
  const run = await two.run(id);
  const due = hold("due");
  const commit = hold("commit");
  const busy = run.breakpoints([]);
  await (await client.run(id)).send("note", "first");
  await isHomeOfAll();
  commit();
  await busy;
  await run.send("note", "second");
  due();
  await expect.poll(() => notesOf(two, id)).toEqual({ notes: ["first", "second"] });
});

test("C8: whoever was told that an event was taken reads it, though somebody has been reading the run since before", async () => {
  const { two, client, id, hold } = await scene();
  const run = await two.run(id);
  const note = async (text: string) => (await (await client.run(id)).send("note", text)).handled();
  await note("first");
  const load = hold("load");
  // What it has in memory is out of date, as it finds out by this: the answer to what it reads then is from now, and comes later.
  const busy = run.breakpoints([]);
  for (let turn = 0; turn < 50; turn++) await new Promise<void>((pass) => setImmediate(pass));
  await note("second");
  const read = run.state();
  load();
  expect((await read).context).toEqual({ notes: ["first", "second"] });
  await busy;
});
