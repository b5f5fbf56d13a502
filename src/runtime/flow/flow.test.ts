/** Flow control: slots, keys, rates, priorities and fairness, each alone and at random against a model that counts. */
import { beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../limits.ts";
import { memory } from "../../store/memory/store.ts";
import { VirtualClock } from "../../testing/virtual-clock.ts";
import { Flow, type Slot, slotsOf } from "./flow.ts";
import type { RateUse, Request } from "./request.ts";

let clock: VirtualClock;
beforeEach(() => {
  clock = new VirtualClock(1_000_000);
});
const flowOf = (slots?: number) =>
  new Flow({ clock, store: memory() }, slotsOf(slots === undefined ? {} : { slots }));
const wanted = () => new AbortController().signal;
const plain = (tenant: string, more: Partial<Request> = {}): Request => ({ tenant, priority: 0, ...more });
const one = (key: string, limit = 1) => ({ concurrency: { key, limit } });
const rate = (key: string, limit: number, perMs: number): { rate: RateUse } => ({
  rate: { key, limit, perMs, tenant: "a" },
});

/** Those who enter, by name, in the order they get their slots; `leave` ends one of them. */
function crowd(flow: Flow) {
  const started: string[] = [];
  const slots = new Map<string, Slot>();
  const enter = (name: string, request: Request, signal = wanted()) => {
    const begin = (slot: Slot | undefined) => {
      if (slot === undefined) return;
      slot.begin();
      started.push(name);
      slots.set(name, slot);
    };
    const given = flow.enter(request, signal);
    if (given instanceof Promise) void given.then(begin);
    else begin(given);
  };
  const leave = async (name: string) => {
    slots.get(name)?.leave();
    slots.delete(name);
    await clock.advance(0);
  };
  return { started, slots, enter, leave };
}

describe("slots", () => {
  test("who needs nothing but a slot has it at once while there are some, and one past them waits", async () => {
    const flow = flowOf(2);
    const { enter, leave, started } = crowd(flow);
    for (const name of ["1", "2", "3"]) enter(name, plain("a"));
    expect(started).toEqual(["1", "2"]);
    await leave("1");
    expect(started).toEqual(["1", "2", "3"]);
  });

  test("there are as many as the limit says, unless something else is asked for", async () => {
    const flow = flowOf();
    const { enter, leave, started } = crowd(flow);
    for (let count = 0; count <= limits.slots; count++) enter(`${count}`, plain("a"));
    expect(started).toHaveLength(limits.slots);
    await leave("0");
    expect(started).toHaveLength(limits.slots + 1);
  });

  test("one that leaves twice leaves once", async () => {
    const { enter, leave, slots, started } = crowd(flowOf(1));
    enter("1", plain("a"));
    const slot = slots.get("1") as Slot;
    for (const name of ["2", "3"]) enter(name, plain("a"));
    await leave("1");
    slot.leave();
    slot.begin();
    await clock.advance(0);
    expect(started).toEqual(["1", "2"]);
  });

  test("who is not wanted any more leaves the queue, and whoever was before it does not notice", async () => {
    const { enter, leave, started } = crowd(flowOf(1));
    const gone = new AbortController();
    enter("1", plain("a"));
    enter("2", plain("a"), gone.signal);
    enter("3", plain("a"));
    gone.abort();
    enter("late", plain("a"), gone.signal);
    await leave("1");
    await leave("3");
    expect(started).toEqual(["1", "3"]);
  });
});

describe("tenants", () => {
  test.each([1, 2, 10, 100])(
    "of one tenant with 10,000 queued and another with 1, the latter starts within two slots, of %i",
    async (slots) => {
      const { enter, leave, started } = crowd(flowOf(slots));
      for (let count = 0; count < 10_000; count++) enter(`big ${count}`, plain("big"));
      enter("small", plain("small"));
      await leave("big 0");
      if (started.at(-1) !== "small") await leave(started.at(-1) as string);
      expect(started.length - slots).toBeLessThanOrEqual(2);
      expect(started.at(-1)).toBe("small");
    },
  );

  test("with long work cannot fill the slots that those with short work give back", async () => {
    const { enter, leave, started } = crowd(flowOf(4));
    for (let count = 0; count < 20; count++) enter(`long ${count}`, plain("long"));
    for (let count = 0; count < 20; count++) enter(`short ${count}`, plain("short"));
    await leave("long 0");
    for (let count = 0; count < 10; count++) await leave(`short ${count}`);
    expect(started.slice(5)).toEqual(Array.from({ length: 10 }, (_, count) => `short ${count + 1}`));
  });

  test("that come back after every turn are not served before those who have been waiting", async () => {
    const { enter, leave, started } = crowd(flowOf(1));
    enter("a1", plain("a"));
    for (const tenant of ["b", "c"]) enter(`${tenant}1`, plain(tenant));
    for (let turn = 1; turn < 4; turn++) {
      await leave(`a${turn}`);
      enter(`a${turn + 1}`, plain("a"));
      const now = started.at(-1) as string;
      if (!now.startsWith("a")) await leave(now);
    }
    expect(started.slice(0, 3)).toEqual(["a1", "b1", "c1"]);
  });

  test("share a key of all fairly, as they share slots", async () => {
    const { enter, leave, started } = crowd(flowOf(100));
    for (let count = 0; count < 50; count++) enter(`big ${count}`, plain("big", one("k", 2)));
    enter("small", plain("small", one("k", 2)));
    await leave("big 0");
    expect(started).toEqual(["big 0", "big 1", "small"]);
  });
});

describe("priorities", () => {
  test("the highest goes first within a tenant, and of equals who came first", async () => {
    const { enter, leave, started } = crowd(flowOf(1));
    enter("now", plain("a"));
    const asked = { low: -1, first: 0, second: 0, high: 5, higher: 7.5 };
    for (const [name, priority] of Object.entries(asked)) enter(name, plain("a", { priority }));
    enter("other", plain("b"));
    for (let turn = 0; turn < 6; turn++) await leave(started.at(-1) as string);
    expect(started).toEqual(["now", "other", "higher", "high", "first", "second", "low"]);
  });

  test("hold for those who wait for a key as well, and between them and those who do not", async () => {
    const { enter, leave, started } = crowd(flowOf(1));
    enter("now", plain("a"));
    enter("keyed", plain("a", { ...one("k"), priority: 1 }));
    enter("free", plain("a", { priority: 2 }));
    enter("keyed and high", plain("a", { ...one("k"), priority: 3 }));
    for (let turn = 0; turn < 3; turn++) await leave(started.at(-1) as string);
    expect(started).toEqual(["now", "keyed and high", "free", "keyed"]);
  });
});

describe("concurrency keys", () => {
  test("let in as many as their limit and no more, and hold up nobody else", async () => {
    const { enter, leave, started } = crowd(flowOf(10));
    for (const name of ["k1", "k2", "k3", "k4"]) enter(name, plain("a", one("k", 2)));
    enter("j1", plain("a", one("j", 1)));
    enter("free", plain("a"));
    expect(started).toEqual(["k1", "k2", "j1", "free"]);
    await leave("k2");
    expect(started.at(-1)).toBe("k3");
  });

  test("with several limits count all, and keep each to its own", async () => {
    const { enter, leave, started } = crowd(flowOf(10));
    for (const name of ["wide 1", "wide 2", "wide 3"]) enter(name, plain("a", one("k", 3)));
    enter("narrow", plain("a", one("k", 1)));
    enter("wide 4", plain("a", one("k", 3)));
    await leave("wide 1");
    expect(started).toEqual(["wide 1", "wide 2", "wide 3", "wide 4"]);
    for (const name of ["wide 2", "wide 3"]) await leave(name);
    expect(started).not.toContain("narrow");
    await leave("wide 4");
    expect(started.at(-1)).toBe("narrow");
  });

  test("that nobody uses are forgotten, and those that somebody does are not", async () => {
    const { enter, leave, started } = crowd(flowOf(10));
    enter("held", plain("a", one("k")));
    const kept = { ...one("k"), ...rate("r", 1, 60_000) };
    enter("timed", plain("a", rate("r", 1, 60_000)));
    await clock.advance(0);
    for (let count = 0; count < 5_000; count++) {
      enter(`${count}`, plain("a", one(`k${count}`)));
      await leave(`${count}`);
    }
    started.length = 0;
    enter("waits", plain("a", one("k")));
    enter("waits for both", plain("a", kept));
    await leave("timed");
    await clock.advance(0);
    expect(started).toEqual([]);
    await leave("held");
    expect(started).toEqual(["waits"]);
  });

  test("pass on what one who is not wanted any more leaves", async () => {
    const { enter, leave, started } = crowd(flowOf(1));
    const gone = new AbortController();
    enter("now", plain("a"));
    enter("1", plain("a", { ...one("k"), ...rate("fast", 100, 10) }), gone.signal);
    enter("2", plain("a", { ...one("k"), ...rate("quick", 100, 10) }));
    gone.abort();
    await leave("now");
    expect(started).toEqual(["now", "2"]);
  });
});

describe("rates", () => {
  test("let in as many as they say in any period, however those are spread", async () => {
    const { enter, leave, started } = crowd(flowOf(100));
    for (let count = 0; count < 6; count++) enter(`${count}`, plain("a", rate("r", 2, 1_000)));
    enter("free", plain("a"));
    await clock.advance(0);
    expect(started).toEqual(["free", "0", "1"]);
    await clock.advance(999);
    expect(started).toHaveLength(3);
    await clock.advance(1);
    expect(started).toHaveLength(5);
    await leave("0");
    await clock.advance(1_000);
    expect(started).toHaveLength(7);
  });

  test("count one that was let in as of when it begins", async () => {
    const flow = flowOf(10);
    const slot = (await flow.enter(plain("a", rate("r", 1, 1_000)), wanted())) as Slot;
    await clock.advance(90);
    const { enter, started } = crowd(flow);
    enter("next", plain("a", rate("r", 1, 1_000)));
    expect(slot.begin()).toBe(true);
    await clock.advance(999);
    expect(started).toEqual([]);
    await clock.advance(1);
    expect(started).toEqual(["next"]);
  });

  test("send one back that begins later than its allowance was durable for, and count it as begun until it leaves", async () => {
    const flow = flowOf(10);
    const slot = (await flow.enter(plain("a", rate("r", 1, 1_000)), wanted())) as Slot;
    await clock.advance(5_000);
    const { enter, started } = crowd(flow);
    enter("next", plain("a", rate("r", 1, 1_000)));
    await clock.advance(5_000);
    expect(started).toEqual([]);
    expect(slot.begin()).toBe(false);
    slot.leave();
    await clock.advance(0);
    expect(started).toEqual(["next"]);
  });

  test("do not count one that left before it began", async () => {
    const flow = flowOf(10);
    const slot = (await flow.enter(plain("a", rate("r", 2, 1_000)), wanted())) as Slot;
    const { enter, started } = crowd(flow);
    for (const name of ["1", "2", "3"]) enter(name, plain("a", rate("r", 2, 1_000)));
    await clock.advance(0);
    expect(started).toEqual(["1"]);
    slot.leave();
    await clock.advance(0);
    expect(started).toEqual(["1", "2"]);
  });

  test("with several limits count all, and keep each to its own", async () => {
    const { enter, started } = crowd(flowOf(10));
    for (const name of ["wide 1", "wide 2"]) enter(name, plain("a", rate("r", 4, 1_000)));
    await clock.advance(100);
    enter("narrow", plain("a", rate("r", 1, 500)));
    await clock.advance(399);
    expect(started).toEqual(["wide 1", "wide 2"]);
    await clock.advance(1);
    expect(started.at(-1)).toBe("narrow");
  });

  test("begin in their time also on the clock of a test, which passes over alarms that only look at the time", async () => {
    const rest = async () => {
      for (let turn = 0; turn < 200; turn++) await Promise.resolve();
    };
    clock = new VirtualClock(0, { rest, nextDue: async () => undefined });
    const at: number[] = [];
    const flow = flowOf(100);
    const enter = async () => {
      const slot = await flow.enter(plain("a", rate("r", 4, 400)), wanted());
      slot?.begin();
      at.push(clock.now());
    };
    for (let count = 0; count < 4; count++) {
      void enter();
      await clock.advance(100);
    }
    for (let count = 0; count < 8; count++) void enter();
    await clock.advance(2_000);
    expect(at).toEqual(Array.from({ length: 12 }, (_, count) => count * 100));
  });

  test("wait no longer than a period when the clock is set back", async () => {
    const { enter, started } = crowd(flowOf(10));
    for (const name of ["1", "2"]) enter(name, plain("a", rate("r", 1, 1_000)));
    await clock.advance(0);
    clock.jump(-3_600_000);
    await clock.advance(2_000);
    expect(started).toEqual(["1", "2"]);
  });

  test("outlive a store that cannot be reached for a while", async () => {
    const store = memory();
    let failures = 3;
    const shaky = {
      readDocument: (tenant: string, name: string) => {
        if (failures-- > 0) throw new Error("away");
        return store.readDocument(tenant, name);
      },
      writeDocument: store.writeDocument.bind(store),
      removeDocument: store.removeDocument.bind(store),
    };
    const { enter, started } = crowd(new Flow({ clock, store: shaky }, 10));
    enter("1", plain("a", rate("r", 1, 1_000)));
    await clock.advance(2_900);
    expect(started).toEqual([]);
    await clock.advance(200);
    expect(started).toEqual(["1"]);
  });
});

describe("what a rate has used", () => {
  test("is known after a crash: there is no second burst, and it lasts no longer than a period and a tenth", async () => {
    const store = memory();
    const dying = new Flow({ clock, store }, 100);
    const before = crowd(dying);
    for (let count = 0; count < 40; count++) before.enter(`${count}`, plain("a", rate("r", 20, 10_000)));
    await clock.advance(5_000);
    expect(before.started).toHaveLength(20);
    dying.close();
    const after = crowd(new Flow({ clock, store }, 100));
    for (let count = 0; count < 40; count++) after.enter(`${count}`, plain("a", rate("r", 20, 10_000)));
    await clock.advance(4_999);
    expect(after.started).toEqual([]);
    await clock.advance(1_001);
    expect(after.started.length).toBeGreaterThan(0);
  });

  test("is not put off by one restart after the other", async () => {
    const store = memory();
    const started: string[] = [];
    for (let count = 0; count < 40 && started.length < 2; count++) {
      const flow = new Flow({ clock, store }, 100);
      const next = crowd(flow);
      next.enter("it", plain("a", rate("r", 1, 10_000)));
      await clock.advance(1_000);
      started.push(...next.started.map(() => `${count}`));
      flow.close();
    }
    expect(started).toEqual(["0", "10"]);
  });

  test("counts as everything where it is damaged, and is mended", async () => {
    const store = memory();
    const first = crowd(new Flow({ clock, store }, 100));
    first.enter("1", plain("a", rate("r", 5, 1_000)));
    await clock.advance(0);
    const name = "holdfast.rate r";
    await store.writeDocument("a", name, 1, new Uint8Array([1, 2, 3]));
    const second = crowd(new Flow({ clock, store }, 100));
    second.enter("2", plain("a", rate("r", 5, 1_000)));
    await clock.advance(999);
    expect(second.started).toEqual([]);
    await clock.advance(1);
    expect(second.started).toEqual(["2"]);
  });

  test("is kept for as long as somebody may count it, and goes with a rate that is forgotten", async () => {
    const store = memory();
    const { enter, leave } = crowd(new Flow({ clock, store }, 10));
    const documents = async () => (await store.scan("document", { limit: 9 })).map(({ row }) => row?.name);
    enter("short", plain("a", rate("short", 1, 1_000)));
    enter("long", plain("a", rate("long", 1, 60_000)));
    await clock.advance(0);
    for (const name of ["short", "long"]) await leave(name);
    expect(await documents()).toEqual(["holdfast.rate long", "holdfast.rate short"]);
    await clock.advance(1_100);
    for (let count = 0; count < 1_001; count++) {
      enter(`${count}`, plain("a", one(`k${count}`)));
      await leave(`${count}`);
    }
    await clock.advance(0);
    expect(await documents()).toEqual(["holdfast.rate long"]);
    enter("again", plain("a", rate("short", 1, 1_000)));
    await clock.advance(0);
    expect((await store.readDocument("a", "holdfast.rate short"))?.version, "no version comes twice").toBe(2);
  });

  test("counts what somebody else reserved meanwhile", async () => {
    const store = memory();
    const [first, second] = [crowd(new Flow({ clock, store }, 100)), crowd(new Flow({ clock, store }, 100))];
    const both = plain("a", rate("r", 2, 1_000));
    first.enter("1", both);
    await clock.advance(0);
    second.enter("2", both);
    await clock.advance(0);
    for (const { enter } of [first, second]) enter("more", both);
    await clock.advance(999);
    expect([first.started, second.started]).toEqual([["1"], ["2"]]);
  });
});

describe("how much a decision costs", () => {
  let looks = 0;
  /** A number that knows how often it is looked at. */
  const counted = (value: number) =>
    ({
      valueOf: () => {
        looks++;
        return value;
      },
      toJSON: () => value,
    }) as unknown as number;

  /** How often somebody is looked at while some leave and as many start, of so many who wait. */
  const looksOf = async (queued: number, request: (count: number) => Request): Promise<number> => {
    const { enter, slots } = crowd(flowOf(20));
    for (let count = 0; count < queued; count++) enter(`${count}`, request(count));
    await clock.advance(0);
    const under = [...slots.values()];
    looks = 0;
    for (const slot of under) slot.leave();
    await clock.advance(0);
    expect(slots.size).toBe(2 * under.length);
    return looks;
  };

  test.each<[string, (count: number) => Request]>([
    ["of one tenant", (count) => plain("a", { priority: counted(count % 7) })],
    ["of many tenants", (count) => plain(`t${count % 100}`, { priority: counted(count % 7) })],
    [
      "of many tenants for one key",
      (count) =>
        plain(`t${count % 100}`, {
          priority: counted(count % 7),
          concurrency: { key: "k", limit: counted(10) },
        }),
    ],
    [
      "for one key, each with a rate of its own",
      (count) =>
        plain("a", { concurrency: { key: "k", limit: counted(10) }, ...rate(`r${count}`, 100, 60_000) }),
    ],
  ])("grows with the logarithm of how many wait, %s", async (_, request) => {
    const queued = 10_000;
    const most = await looksOf(queued, request);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(20 * 8 * Math.log2(queued));
  });
});
