/** Concurrency keys in a fleet: at most so many at a time of all processes, as counted by the activities themselves. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createDatabase, type Database } from "../../../test/postgres/database.ts";
import { mortal } from "../../../test/runtime/mortal.ts";
import { defineMachine } from "../../index.ts";
import { type Fleet, fleetOf } from "../../store/fleet.ts";
import { memory } from "../../store/memory/store.ts";
import { postgres } from "../../store/postgres/store.ts";
import type { Store } from "../../store/store.ts";
import { systemClock } from "../clock.ts";
import { createRuntime, type Runtime } from "../runtime.ts";
import { Turns } from "./turns.ts";

let database: Database;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

let schemas = 0;
const kinds: Readonly<Record<string, () => () => Store>> = {
  memory: () => {
    const store = memory({ shared: true });
    return () => store;
  },
  PostgreSQL: () => {
    const schema = `turns_${++schemas}`;
    return () => postgres(database.url, { schema });
  },
  "PostgreSQL without signals": () => {
    const schema = `turns_${++schemas}`;
    return () => postgres(database.url, { schema, listen: false });
  },
};

const keyed = (limit: number) =>
  defineMachine({
    id: "keyed",
    initial: "busy",
    states: {
      busy: { invoke: { activity: "tool", concurrency: { limit, key: "printer" }, onDone: "done" } },
      done: { type: "final" },
    },
  });

/** Where a tool is called, and the calls that are under way: each ends when it is told to. */
class Calls {
  readonly places: string[] = [];
  readonly #ends = new Map<() => void, string>();
  most = 0;
  /** Whether calls end by themselves, a moment after they began. */
  isQuick = true;

  readonly at = (place: string) => (): Promise<void> =>
    new Promise((resolve) => {
      const end = () => {
        if (this.#ends.delete(end)) resolve();
      };
      this.places.push(place);
      this.#ends.set(end, place);
      this.most = Math.max(this.most, this.#ends.size);
      if (this.isQuick) setTimeout(end, 5);
    });

  underWay(place?: string): number {
    return [...this.#ends.values()].filter((at) => place === undefined || at === place).length;
  }

  end(): void {
    for (const end of [...this.#ends.keys()]) end();
  }

  /** The process is dead, and its calls with it. */
  forget(place: string): void {
    for (const [end, at] of this.#ends) if (at === place) this.#ends.delete(end);
  }
}

describe.each(Object.keys(kinds))("a key in a fleet on %s", (kind) => {
  const runtimes: Runtime[] = [];
  afterEach(async () => {
    await Promise.all(runtimes.splice(0).map((runtime) => runtime.close()));
  });

  async function fleetWith(limit: number, calls: Calls) {
    const connect = (kinds[kind] as () => () => Store)();
    const machine = keyed(limit);
    let losses = 0;
    /** Loses the next answers about turns; tells how many of those before were not lost yet. */
    const lose = (count: number): number => {
      const left = losses;
      losses = count;
      return left;
    };
    const members: { readonly place: string; readonly runtime: Runtime; die(): void }[] = [];
    for (const place of ["one", "two", "three"]) {
      const { store: whole, die } = mortal(connect());
      const fleet = fleetOf(whole) as Fleet;
      const takeTurns: Fleet["takeTurns"] = async (...given) => {
        const turns = await fleet.takeTurns(...given);
        if (losses === 0) return turns;
        losses--;
        throw new Error("The answer was lost");
      };
      const forgetful = Object.assign(Object.create(fleet) as Fleet, { takeTurns });
      const store = Object.assign(Object.create(whole) as Store, { fleet: forgetful });
      const machines = [{ machine, activities: { tool: calls.at(place) } }];
      const runtime = await createRuntime({ store, machines });
      runtimes.push(runtime);
      members.push({ place, runtime, die });
    }
    // What waits for its turn goes with its run, while homes change.
    for (const { runtime } of members) await expect.poll(() => runtime.members().length).toBe(3);
    const start = (id: number) => members[id % 3]?.runtime.start(machine, { id: `run-${id}` });
    return { members, start, lose };
  }

  test.each([1, 2])(
    "G2: at most %i at a time of all processes, and all of them have turns",
    async (limit) => {
      const calls = new Calls();
      const { start } = await fleetWith(limit, calls);
      const runs = await Promise.all(Array.from({ length: 18 }, (_, id) => start(id)));
      for (const run of runs) expect(await run?.finished()).toMatchObject({ status: "done" });
      expect([calls.most, calls.places.length]).toEqual([limit, 18]);
      expect(new Set(calls.places)).toEqual(new Set(["one", "two", "three"]));
    },
    60_000,
  );

  test.each([1, 2])(
    "G2: of a key of %i, what a process that is killed had becomes free",
    async (limit) => {
      const calls = new Calls();
      calls.isQuick = false;
      const { members, start } = await fleetWith(limit, calls);
      const [one, two] = members as [(typeof members)[number], (typeof members)[number]];
      // It has all turns, and the others wait for them.
      await Promise.all(Array.from({ length: limit }, (_, id) => start(3 * id)));
      await expect.poll(() => calls.underWay("one")).toBe(limit);
      const ids = Array.from({ length: 12 }, (_, id) => id).filter((id) => id % 3 !== 0);
      await Promise.all(ids.map(start));
      one.die();
      runtimes.splice(runtimes.indexOf(one.runtime), 1);
      expect(calls.places.length).toBe(limit);
      // What it had under way is somebody else's then.
      calls.forget("one");
      await expect.poll(() => calls.underWay()).toBe(limit);
      calls.isQuick = true;
      calls.end();
      for (const id of [0, ...ids])
        expect(await (await two.runtime.run(`run-${id}`)).finished()).toMatchObject({ status: "done" });
      expect(calls.most).toBe(limit);
    },
    60_000,
  );

  test("G2: a key holds, and nothing waits for ever, though answers of the store are lost", async () => {
    const calls = new Calls();
    const { start, lose } = await fleetWith(1, calls);
    lose(8);
    const runs = await Promise.all(Array.from({ length: 6 }, (_, id) => start(id)));
    for (const run of runs) expect(await run?.finished()).toMatchObject({ status: "done" });
    expect([calls.most, calls.places.length, lose(0)]).toEqual([1, 6, 0]);
  });

  test("G2: one that waits and is cancelled leaves its turn to others", async () => {
    const calls = new Calls();
    calls.isQuick = false;
    const { start } = await fleetWith(1, calls);
    const first = await start(0);
    await expect.poll(() => calls.underWay()).toBe(1);
    const second = await start(1);
    const third = await start(2);
    await second?.cancel();
    calls.isQuick = true;
    calls.end();
    expect(await first?.finished()).toMatchObject({ status: "done" });
    expect(await third?.finished()).toMatchObject({ status: "done" });
    expect([calls.most, calls.places]).toEqual([1, ["one", "three"]]);
  });
});

test("whoever is no member any more is given no turn", async () => {
  const fleet = { takeTurns: async () => undefined };
  const turns = new Turns({ fleet, clock: systemClock, epoch: () => 1, lookMs: () => 1, tell: () => {} });
  const taken = turns.take(() => ({ key: "k", limit: 1, held: 0, wanted: 1 }));
  await expect(taken).rejects.toMatchObject({ code: "STORE_OWNED" });
});
