/** Finding runs while they come into memory, and go out of it, in other ways. */
import { expect, test } from "vitest";
import { holding } from "../../../test/runtime/holding.ts";
import { counter } from "../../../test/runtime/machines.ts";
import { encode } from "../../store/codec.ts";
import { memory } from "../../store/memory/store.ts";
import { createRegistry } from "../registry.ts";
import { createRuntime } from "../runtime.ts";
import { noSeal } from "../seal.ts";
import { hydrate } from "./hydrate.ts";
import type { LiveRun } from "./live-run.ts";
import { Past } from "./past.ts";
import { Runs } from "./runs.ts";

const name = { tenant: "default", run: "a" };

/** A run that somebody else steps, as it is found in the same store; what is done with it is written down by its checkpoint. */
async function found() {
  const { store, hold } = holding(memory({ shared: true }));
  const runtime = await createRuntime({ store, machines: [counter] });
  const elsewhere = await runtime.start(counter, { id: "a" });
  const registry = createRegistry([counter as never]);
  const done = {
    ...{ loaded: [] as number[], read: [] as number[] },
    ...{ takenUp: [] as number[], brought: [] as LiveRun[] },
  };
  /** What happens while a run is read, and while it is taken up. */
  const during = { hydrate: () => {}, takeUp: () => {} };
  const home = { isHere: true, isBusy: false };
  const runs = new Runs({
    store,
    standing: { isShared: true, isHome: () => home.isHere, isNewest: async () => true },
    isBusy: () => home.isBusy,
    hasten: () => {},
    isReading: () => false,
    hydrate: async (loaded) => {
      during.hydrate();
      return hydrate(loaded, registry, new Past(store, noSeal), () => {});
    },
    wasLoaded: ({ head }) => void done.loaded.push(head.seq),
    wasRead: ({ head }) => void done.read.push(head.seq),
    wasMissing: () => {},
    now: () => 0,
    takeUp: async ({ head }) => {
      during.takeUp();
      done.takenUp.push(head.seq);
    },
    bring: (run) => void done.brought.push(run),
    park: () => {},
    wakeLater: () => {},
  });
  const first = (await runs.find(name)) as LiveRun;
  return { store, hold, elsewhere, runs, first, done, during, home, close: () => runtime.close() };
}

test("R2: what was read is not taken for a run that was in memory meanwhile, went further, and went out", async () => {
  const { hold, elsewhere, runs, first, done, close } = await found();
  runs.remove(first);
  const answer = hold("load");
  const next = runs.find(name);
  // Whoever has it in hand goes on with it, and then it makes room for others.
  expect(runs.current(first)).toBe(first);
  await (await elsewhere.send("add", 1)).handled();
  runs.remove(first);
  answer();
  expect((await next)?.head.seq).toBe(2);
  expect(done).toMatchObject({ read: [1, 2], takenUp: [1, 2] });
  await close();
});

test("what waits for a run is not brought to one that was put out while it was taken up", async () => {
  const { store, runs, first, done, during, close } = await found();
  during.takeUp = () => runs.remove(first);
  const bytes = encode({ type: "add", data: 1 });
  await store.enqueue([{ ...name, id: "e", subject: "a", at: 0, priority: 0, bytes }]);
  const attended = await runs.attend(name);
  expect(attended).not.toBe(first);
  expect(done.brought).toEqual([attended]);
  await close();
});

test("what the store says has ended is heeded, though the rest of the run cannot be read", async () => {
  const { elsewhere, runs, first, done, during, close } = await found();
  runs.remove(first);
  await (await elsewhere.send("add", 1)).handled();
  during.hydrate = () => {
    throw new Error("The store cannot be reached");
  };
  await expect(runs.find(name)).rejects.toThrow("cannot be reached");
  expect(done).toMatchObject({ loaded: [1, 2], read: [1] });
  await close();
});

test("a run in doubt is taken up however busy it is: whoever has read it since may not see to it", async () => {
  const { runs, first, done, home, close } = await found();
  home.isBusy = true;
  expect(await runs.attend(name)).toBe(first);
  expect(done.takenUp, "what is not in doubt is left alone while it is busy").toEqual([1]);
  expect(await runs.attend(name, true)).toBe(first);
  expect(done.takenUp).toEqual([1, 1]);
  await close();
});

test("a run in doubt is taken up, though somebody who does not see to it is reading it already", async () => {
  const { hold, runs, first, done, home, close } = await found();
  runs.remove(first);
  home.isHere = false;
  const answer = hold("load");
  const read = runs.find(name);
  const attended = runs.attend(name, true);
  answer();
  expect(await attended).toBe(await read);
  expect(done.takenUp.length).toBeGreaterThan(1);
  await close();
});
