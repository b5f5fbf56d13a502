/** The queue at random, beside a judge that keeps every request in one list and counts it all again at every step. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Flow, type Slot } from "./flow.ts";
import type { Request } from "./request.ts";

interface Member {
  readonly id: number;
  readonly request: Request;
  readonly controller: AbortController;
  state: "waiting" | "running" | "over";
  slot?: Slot;
  startedAt?: number;
}

type Move =
  | { readonly do: "enter"; readonly tenant: number; readonly kind: number; readonly priority: number }
  | { readonly do: "leave" | "cancel"; readonly which: number }
  | { readonly do: "wait"; readonly ms: number };

/** Whether the limits of one would let it start, by counting all the others. */
function mayStart({ request: { concurrency, rate } }: Member, all: readonly Member[], now: number): boolean {
  const running = all.filter(
    ({ state, request }) => state === "running" && request.concurrency?.key === concurrency?.key,
  );
  if (concurrency !== undefined && running.length >= concurrency.limit) return false;
  const begun = all.filter(
    ({ startedAt, request }) =>
      startedAt !== undefined && request.rate?.key === rate?.key && startedAt > now - (rate?.perMs ?? 0),
  );
  return rate === undefined || begun.length < rate.limit;
}

/** A queue, those who came to it, and the order in which they started. */
class Scene {
  readonly clock = new VirtualClock(1_000_000);
  readonly slots: number;
  readonly all: Member[] = [];
  readonly started: number[] = [];
  readonly #flow: Flow;
  readonly #kinds: (tenant: string) => readonly Partial<Request>[];

  constructor(slots: number, kinds: (tenant: string) => readonly Partial<Request>[]) {
    this.slots = slots;
    this.#kinds = kinds;
    this.#flow = new Flow({ clock: this.clock, store: memory() }, slots);
  }

  of(state: Member["state"]): Member[] {
    return this.all.filter((one) => one.state === state);
  }

  async make(move: Move): Promise<void> {
    if (move.do === "enter") this.#enter(`t${move.tenant}`, move.kind, move.priority);
    else if (move.do === "wait") await this.clock.advance(move.ms);
    else {
      const some = this.of(move.do === "leave" ? "running" : "waiting");
      const one = some[move.which % Math.max(1, some.length)];
      if (one !== undefined) {
        one.state = "over";
        one.slot?.leave();
        one.controller.abort();
      }
    }
    await this.clock.advance(0);
  }

  #enter(tenant: string, kind: number, priority: number): void {
    const kinds = this.#kinds(tenant);
    const request = { tenant, priority, ...kinds[kind % kinds.length] };
    const member: Member = {
      ...{ id: this.all.length, request, controller: new AbortController(), state: "waiting" },
    };
    this.all.push(member);
    const begin = (slot: Slot | undefined) => {
      if (slot === undefined) return;
      slot.begin();
      Object.assign(member, { state: "running", slot, startedAt: this.clock.now() });
      this.started.push(member.id);
    };
    const given = this.#flow.enter(request, member.controller.signal);
    if (given instanceof Promise) void given.then(begin);
    else begin(given);
  }

  /** Q1: of slots, keys and rates no more are used than there are, counted as if nobody had queued. */
  checkLimits(): void {
    expect(this.of("running").length).toBeLessThanOrEqual(this.slots);
    for (const member of this.all) {
      const { concurrency, rate } = member.request;
      const sharing = this.of("running").filter(
        (one) => one.request.concurrency?.key === concurrency?.key && one.request.concurrency !== undefined,
      );
      // Of those with one limit there are never more than it says, whatever limits the others have.
      const own = sharing.filter((one) => one.request.concurrency?.limit === concurrency?.limit);
      if (concurrency !== undefined) expect(own.length).toBeLessThanOrEqual(concurrency.limit);
      if (rate === undefined || member.startedAt === undefined) continue;
      const from = member.startedAt;
      const within = this.all.filter(
        ({ startedAt, request }) =>
          request.rate?.key === rate.key &&
          request.rate.limit === rate.limit &&
          startedAt !== undefined &&
          startedAt >= from &&
          startedAt < from + rate.perMs,
      );
      expect(within.length).toBeLessThanOrEqual(rate.limit);
    }
  }

  /** Q2: no slot is free while somebody waits who may start. */
  checkWork(): void {
    if (this.of("running").length >= this.slots) return;
    const idle = this.of("waiting").filter((one) => mayStart(one, this.all, this.clock.now()));
    expect(idle.map(({ id }) => id)).toEqual([]);
  }
}

const moveOf = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("enter" as const),
      tenant: fc.nat({ max: 3 }),
      kind: fc.nat({ max: 5 }),
      priority: fc.integer({ min: -1, max: 1 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("leave" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("cancel" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat({ max: 700 }) }) },
) as fc.Arbitrary<Move>;
const movesOf = fc.array(moveOf, { minLength: 30, maxLength: 120 });

const keyed = (key: string, limit: number): Partial<Request> => ({ concurrency: { key, limit } });
const timed = (key: string, limit: number, perMs: number): Partial<Request> => ({
  rate: { key, limit, perMs, tenant: "t0" },
});
/** Keys and rates alone, together, shared by kinds, and with limits that differ. */
const mixed: readonly Partial<Request>[] = [
  {},
  keyed("k", 2),
  { ...keyed("k", 2), ...timed("r", 3, 500) },
  timed("r", 3, 500),
  { ...keyed("j", 1), ...timed("q", 2, 300) },
  { ...keyed("k", 1), ...timed("q", 1, 200) },
];
const slotsOf = fc.integer({ min: 1, max: 5 });

describe("whatever comes and goes", () => {
  test("Q1, Q2: no limit is ever exceeded, and no slot is free while somebody may start", async () => {
    await fc.assert(
      fc.asyncProperty(slotsOf, movesOf, async (slots, moves) => {
        const scene = new Scene(slots, () => mixed);
        for (const move of moves) {
          await scene.make(move);
          scene.checkLimits();
          scene.checkWork();
        }
      }),
      { numRuns: 200 },
    );
  });

  test("Q3: everybody who is wanted starts in the end, and of equals who came first starts first", async () => {
    await fc.assert(
      fc.asyncProperty(slotsOf, movesOf, async (slots, moves) => {
        const scene = new Scene(slots, () => mixed);
        for (const move of moves) await scene.make(move);
        for (let turn = 0; turn < 300 && scene.of("waiting").length > 0; turn++) {
          await scene.make({ do: "leave", which: 0 });
          await scene.make({ do: "wait", ms: 100 });
        }
        expect(scene.of("waiting")).toEqual([]);
        const sorts = Map.groupBy(scene.started, (id) => JSON.stringify(scene.all[id]?.request));
        for (const ids of sorts.values()) expect(ids).toEqual(ids.toSorted((one, other) => one - other));
      }),
      { numRuns: 100 },
    );
  });

  /** Each key belongs to one tenant and one kind: what all would choose is what is chosen, one by one. */
  const apart = (tenant: string) => [{}, {}, keyed(`${tenant} k`, 1), keyed(`${tenant} j`, 2)];

  test("Q4: the one a judge who looks at all of them would choose is the next, every time", async () => {
    await fc.assert(
      fc.asyncProperty(slotsOf, movesOf, async (slots, moves) => {
        const scene = new Scene(slots, apart);
        const judge = new Judge(slots);
        for (const move of moves) {
          if (move.do === "wait") continue;
          const before = scene.started.length;
          const members = scene.all.length;
          const target = pick(scene, move);
          await scene.make(move);
          judge.follow(move.do, target ?? scene.all[members]);
          expect(scene.started.slice(before)).toEqual(judge.starts());
        }
      }),
      { numRuns: 300 },
    );
  });
});

/** Whom a move is about, before it is made. */
function pick(scene: Scene, move: Move): Member | undefined {
  if (move.do === "enter" || move.do === "wait") return undefined;
  const some = scene.of(move.do === "leave" ? "running" : "waiting");
  return some[move.which % Math.max(1, some.length)];
}

/** Chooses as the queue promises to, by going through all who wait. */
class Judge {
  readonly #slots: number;
  readonly #waiting: Member[] = [];
  readonly #running: Member[] = [];
  /** When each tenant came, was last served or gave something back; forgotten with the last of its requests. */
  readonly #turns = new Map<string, number>();
  #turn = 0;

  constructor(slots: number) {
    this.#slots = slots;
  }

  follow(what: Move["do"], member: Member | undefined): void {
    if (member === undefined) return;
    const { tenant } = member.request;
    if (what === "enter") {
      this.#waiting.push(member);
      if (!this.#turns.has(tenant)) this.#turns.set(tenant, ++this.#turn);
    } else {
      if (this.#running.includes(member)) this.#turns.set(tenant, ++this.#turn);
      for (const list of [this.#waiting, this.#running])
        if (list.includes(member)) list.splice(list.indexOf(member), 1);
    }
    const isThere = [...this.#waiting, ...this.#running].some(({ request }) => request.tenant === tenant);
    if (!isThere) this.#turns.delete(tenant);
  }

  starts(): number[] {
    const ids: number[] = [];
    while (this.#running.length < this.#slots) {
      const [first] = this.#waiting
        .filter((one) => this.#isFree(one))
        .sort((one, other) => this.#compare(one, other));
      if (first === undefined) break;
      this.#waiting.splice(this.#waiting.indexOf(first), 1);
      this.#running.push(first);
      this.#turns.set(first.request.tenant, ++this.#turn);
      ids.push(first.id);
    }
    return ids;
  }

  #isFree({ request: { concurrency } }: Member): boolean {
    if (concurrency === undefined) return true;
    const using = this.#running.filter(({ request }) => request.concurrency?.key === concurrency.key);
    return using.length < concurrency.limit;
  }

  #held(tenant: string): number {
    return this.#running.filter(({ request }) => request.tenant === tenant).length;
  }

  #compare({ request: one, id }: Member, { request: other, id: otherId }: Member): number {
    return (
      this.#held(one.tenant) - this.#held(other.tenant) ||
      (this.#turns.get(one.tenant) as number) - (this.#turns.get(other.tenant) as number) ||
      other.priority - one.priority ||
      id - otherId
    );
  }
}
