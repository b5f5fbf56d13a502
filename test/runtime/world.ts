/**
 * The world that tests of the runtime live in: a store of some kind, a clock that stands still, and processes that come
 * and go. A crash is a real one for the runtime: its store never answers again, its clock never rings.
 */
import { afterEach, describe } from "vitest";
import type { Machine } from "../../src/core/machine.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { MachineEntry } from "../../src/runtime/registry.ts";
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/runtime/runtime.ts";
import type { EntryRow, InboxRow, RunHead } from "../../src/store/records.ts";
import type { Store } from "../../src/store/store.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { type Place, storeKinds } from "./stores.ts";
import { type Life, Watch } from "./watched-store.ts";

/** A machine of any types, alone or with what it needs. */
type AnyMachine = Pick<Machine, "id" | "version" | "chart">;
export type Given = AnyMachine | (Omit<MachineEntry, "machine"> & { readonly machine: AnyMachine });

/** What is stored of a run. */
export interface Stored {
  readonly head: RunHead | undefined;
  readonly journal: readonly EntryRow[];
  readonly inbox: readonly InboxRow[];
}

interface Process {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly life: Life;
}

/** The common clock, as one process sees it while it lives. */
function clockOf(clock: Clock, life: Life): Clock {
  return {
    now: () => clock.now(),
    after: (ms, run) => clock.after(ms, () => life.dead || run()),
    soon: (run) => void setImmediate(() => life.dead || run()),
  };
}

export class World {
  /** What all processes ask of the store. */
  readonly watch = new Watch();
  readonly clock: VirtualClock;
  readonly place: Place;
  readonly #processes: Process[] = [];
  #looking: Promise<Store> | undefined;

  constructor(place: Place) {
    this.place = place;
    this.clock = new VirtualClock(1_000_000, this.rest);
  }

  /** Starts a process that has these machines. */
  readonly boot = async (
    machines: readonly Given[],
    options: Partial<RuntimeOptions> = {},
  ): Promise<Runtime> => {
    const life: Life = { dead: false };
    const store = this.place.connect();
    const runtime = await createRuntime({
      ...{ store: this.watch.over(store, life), clock: clockOf(this.clock, life) },
      ...{ machines: machines as unknown as RuntimeOptions["machines"], ...options },
    });
    this.#processes.push({ runtime, store, life });
    return runtime;
  };

  /** Kills the process: what was in memory is gone, what was committed stays. */
  readonly crash = async (runtime: Runtime): Promise<void> => {
    const { life, store } = this.#take(runtime);
    life.dead = true;
    // As the next process would, when it sees that this one is gone.
    if (life.lease !== undefined) await store.release(life.lease.worker, life.lease.epoch, undefined);
    await store.close();
  };

  /** Ends the process in good order. */
  readonly close = async (runtime: Runtime): Promise<void> => this.#take(runtime).runtime.close();

  #take(runtime: Runtime): Process {
    const index = this.#processes.findIndex((one) => one.runtime === runtime);
    const [process] = this.#processes.splice(index, 1);
    if (process === undefined) throw new Error("That process is over");
    return process;
  }

  /** Resolves when nothing is under way any more: no call of a store, and nothing that follows from one. */
  readonly rest = async (): Promise<void> => {
    for (let quiet = 0, calls = -1; quiet < 4; calls = this.watch.calls.length) {
      await new Promise((resolve) => setImmediate(resolve));
      quiet = this.watch.pending > 0 || this.watch.calls.length !== calls ? 0 : quiet + 1;
    }
  };

  /** A store that looks on, as one more process would. */
  readonly look = (): Promise<Store> => {
    this.#looking ??= (async () => {
      const store = this.place.connect();
      await store.open();
      return store;
    })();
    return this.#looking;
  };

  /** All that is stored of a run, to compare. */
  readonly stored = async (run: string, tenant = "default"): Promise<Stored> => {
    const store = await this.look();
    const name = { tenant, run };
    return {
      head: await store.readHead(name),
      journal: await store.readJournal(name, 1, 100_000),
      inbox: await store.readInbox(name, 100_000),
    };
  };

  async dispose(): Promise<void> {
    this.watch.comeBack();
    for (const { runtime } of this.#processes.splice(0)) await runtime.close();
    await (await this.#looking)?.close();
    await this.place.dispose();
  }
}

/** Runs tests on every kind of store, each in worlds of its own. */
export function onEveryStore(tests: (world: () => Promise<World>, kind: string) => void): void {
  describe.each(Object.keys(storeKinds))("on %s", (kind) => {
    const worlds: World[] = [];
    afterEach(async () => {
      for (const world of worlds.splice(0)) await world.dispose();
    });
    tests(async () => {
      const world = new World(await (storeKinds[kind] as () => Promise<Place>)());
      worlds.push(world);
      return world;
    }, kind);
  });
}

/** All that comes, as a list. */
export async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}
