/** Leases: one holder at a time, in the order of asking, and no circle of agents that wait for each other. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { defineBoard } from "./board.ts";
import { expireLeases, lease, nextExpiry, release } from "./lease.ts";
import { openBoard } from "./open.ts";
import { type BoardState, emptyBoard } from "./state.ts";

const shop = defineBoard({
  id: "shop",
  keys: { release: { policy: "last-write", lease: "deploy" }, note: { policy: "last-write" } },
  leases: ["deploy", "database", "report"],
});

const open = async (here: World) => {
  const runtime = await here.boot([shop]);
  const as = (agent: string) => openBoard(runtime, shop, { id: "b", agent });
  return { runtime, ada: await as("ada"), bob: await as("bob"), cleo: await as("cleo") };
};
type Agent = Awaited<ReturnType<typeof open>>["ada"];

/** A lease that must be given. */
async function take(agent: Agent, names: Parameters<Agent["lease"]>[0], wait: number | string = 0) {
  const outcome = await agent.lease(names, { for: "10s", wait });
  if (outcome.outcome === "busy") throw new Error(`${names} is busy`);
  return outcome;
}

onEveryStore((world) => {
  test("C8: one agent at a time has a lease, and the next one has a higher token", async () => {
    const { ada, bob } = await open(await world());
    const first = await take(ada, "deploy");
    expect(first).toMatchObject({ outcome: "granted", names: ["deploy"], token: 1, until: 1_010_000 });
    expect(await bob.lease("deploy", { for: "10s" })).toEqual({
      outcome: "busy",
      held: [{ by: "ada", names: ["deploy"], until: 1_010_000 }],
    });
    expect(await first.release()).toEqual({ outcome: "released" });
    expect(await first.release()).toEqual({ outcome: "lost" });
    expect((await take(bob, "deploy")).token).toBe(2);
    expect(await first.renew("1s")).toEqual({ outcome: "lost" });
  });

  test("C8: whoever has waited longest is next, and nobody overtakes", async () => {
    const { ada, bob, cleo } = await open(await world());
    const held = await take(ada, "deploy");
    const order: string[] = [];
    const wait = async (agent: Agent, names: Parameters<Agent["lease"]>[0]) => {
      const given = await take(agent, names, "forever");
      order.push(agent.agent);
      return given;
    };
    const both = wait(bob, ["deploy", "database"]);
    await ada.read("note");
    // The database is free, but bob wants it too and was there first.
    const alone = wait(cleo, "database");
    await cleo.read("note");
    expect(order).toEqual([]);
    await held.release();
    await (await both).release();
    await alone;
    expect(order).toEqual(["bob", "cleo"]);
  });

  test("C8: a lease is over when its time is, and a late write under its token is refused", async () => {
    const here = await world();
    const { ada, bob } = await open(here);
    const stale = await take(ada, "deploy");
    expect(await ada.write("release", 1, { fence: stale.token })).toMatchObject({ outcome: "written" });
    expect(await ada.write("release", 1)).toMatchObject({ outcome: "fenced" });
    const waiting = take(bob, "deploy", "1m");
    await here.clock.advance("9s");
    expect(await stale.renew("5s")).toEqual({ outcome: "renewed", until: 1_014_000 });
    await here.clock.advance("4s");
    expect(await ada.write("release", 2, { fence: stale.token })).toMatchObject({ outcome: "written" });
    await here.clock.advance("1s");
    const fresh = await waiting;
    expect(fresh.token).toBeGreaterThan(stale.token);
    expect(await ada.write("release", 3, { fence: stale.token })).toEqual({
      outcome: "fenced",
      why: `the lease of token ${stale.token} is over`,
    });
    expect(await ada.write("note", 3, { fence: stale.token })).toMatchObject({ outcome: "fenced" });
    expect(await ada.remove("release", { fence: stale.token })).toMatchObject({ outcome: "fenced" });
    expect(await bob.write("release", 4, { fence: fresh.token })).toMatchObject({ outcome: "written" });
    expect((await bob.read("release")).value).toBe(4);
    const other = await take(ada, "report");
    expect(await ada.write("release", 5, { fence: other.token })).toEqual({
      outcome: "fenced",
      why: "release is written with the token of the lease deploy",
    });
  });

  test("C8: a token is worth nothing to anybody but who was given the lease", async () => {
    const { ada, bob } = await open(await world());
    const { token, names } = await take(ada, "deploy");
    expect(names).toEqual(["deploy"]);
    const fenced = { outcome: "fenced", why: `the lease of token ${token} is held by ada` };
    expect(await bob.write("release", 1, { fence: token })).toEqual(fenced);
    expect(await bob.write("note", 1, { fence: token })).toEqual(fenced);
    expect(await bob.remove("release", { fence: token })).toEqual(fenced);
    expect(await bob.run.ask("renew", { by: "bob", token, ms: 60_000 })).toEqual({ outcome: "lost" });
    expect(await bob.run.ask("release", { by: "bob", token })).toEqual({ outcome: "lost" });
    expect((await bob.run.state()).context.grants).toMatchObject([{ by: "ada", until: 1_010_000 }]);
    expect(await ada.write("release", 1, { fence: token })).toMatchObject({ outcome: "written" });
  });

  test("C8: whoever waits for the same a second time closes no circle, and is served in its turn", async () => {
    const { ada, bob, cleo } = await open(await world());
    const held = await take(ada, "deploy");
    const order: string[] = [];
    const wait = async (agent: Agent) => {
      const given = await take(agent, "deploy", "forever");
      order.push(`${agent.agent} ${given.token}`);
      await given.release();
    };
    const waiting: Promise<void>[] = [];
    for (const agent of [bob, cleo, bob, cleo, bob]) {
      waiting.push(wait(agent));
      await agent.read("note");
    }
    await held.release();
    await Promise.all(waiting);
    expect(order).toEqual(["bob 2", "cleo 3", "bob 4", "cleo 5", "bob 6"]);
  });

  test("C8: who waits in vain is told who has it, once its time is up", async () => {
    const here = await world();
    const { ada, bob } = await open(here);
    await take(ada, ["deploy", "report"]);
    const waiting = bob.lease("deploy", { for: "1s", wait: "3s" });
    await here.clock.advance("3s");
    expect(await waiting).toMatchObject({ outcome: "busy", held: [{ by: "ada" }] });
    expect((await bob.run.state()).context.queue).toEqual([]);
  });

  test("C8: whoever would close a circle of waiting is refused, with the circle, and the others go on", async () => {
    const { ada, bob, cleo } = await open(await world());
    const [one, two, three] = [
      await take(ada, "deploy"),
      await take(bob, "database"),
      await take(cleo, "report"),
    ];
    const first = take(ada, "database", "forever");
    await ada.read("note");
    const second = take(bob, "report", "forever");
    await bob.read("note");
    await expect(take(cleo, "deploy", "forever")).rejects.toMatchObject({
      code: "LEASE_DEADLOCK",
      details: { circle: ["cleo", "ada", "bob", "cleo"], names: ["deploy"] },
    });
    await expect(take(ada, "deploy", "1s")).rejects.toMatchObject({ details: { circle: ["ada", "ada"] } });
    // Not to wait is no way to wait for ever.
    expect(await cleo.lease("deploy", { for: 1 })).toMatchObject({ outcome: "busy" });
    await three.release();
    await (await second).release();
    await two.release();
    await (await first).release();
    await one.release();
    expect((await ada.run.state()).context).toMatchObject({ grants: [], queue: [] });
  });

  test("C8: a lease of an agent whose process died is over in its time, and those who waited through it are served", async () => {
    const here = await world();
    const { runtime, ada, bob } = await open(here);
    await take(ada, "deploy");
    void bob.lease("deploy", { for: "10s", wait: "forever", key: "bob-1" }).catch(() => {});
    await bob.read("note");
    await here.crash(runtime);
    const { bob: again } = await open(here);
    const waiting = again.lease("deploy", { for: "10s", wait: "forever", key: "bob-1" });
    await here.clock.advance("10s");
    expect(await waiting).toMatchObject({ outcome: "granted", token: 2 });
  });

  test("F5: leases that cannot be meant are refused and change nothing", async () => {
    const { ada } = await open(await world());
    await expect(ada.lease("deplyo" as never, { for: 1 })).rejects.toMatchObject({ code: "KEY_UNKNOWN" });
    await expect(ada.lease([], { for: 1 })).rejects.toMatchObject({ code: "LEASE_INVALID" });
    await expect(ada.lease(["report", "report"], { for: 1 })).rejects.toMatchObject({
      code: "LEASE_INVALID",
    });
    await expect(ada.lease("report", { for: 0 })).rejects.toMatchObject({ code: "LEASE_INVALID" });
    await expect(ada.lease("report", { for: "soon" })).rejects.toMatchObject({ code: "DURATION_INVALID" });
    const { release, renew } = await take(ada, "report");
    await expect(renew(0)).rejects.toMatchObject({ code: "LEASE_INVALID" });
    expect(await release()).toEqual({ outcome: "released" });
  });
});

test("a board holds as many leases, and lets as many wait, as one may", () => {
  const board = emptyBoard();
  const ask = (name: string, by: string) =>
    lease(board, { names: [name], ms: 1, waitMs: null }, { by, at: 0, to: by });
  for (let count = 0; count < limits.boardWaitersMax; count++) ask(`n${count}`, "ada");
  expect(() => ask("one more", "ada")).toThrow(`${limits.boardWaitersMax} leases are held already`);
  for (let count = 0; count < limits.boardWaitersMax; count++) ask("n0", `agent ${count}`);
  expect(() => ask("n0", "late")).toThrow(`${limits.boardWaitersMax} agents wait for leases already`);
  // All of them are answered by one step at the latest.
  expireLeases(board, 1);
  expect([board.grants.length, board.queue.length, board.outbox.length]).toEqual([1, 499, 1]);
});

/** What one agent does next. */
const act = fc.record({
  by: fc.integer({ min: 0, max: 4 }),
  names: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 3 }),
  what: fc.constantFrom("lease", "lease", "release", "pass"),
  ms: fc.integer({ min: 1, max: 20 }),
  waitMs: fc.option(fc.integer({ min: 0, max: 20 })),
});

test("C8: whatever agents do, no name has two holders, nobody is overtaken, and all waiting comes to an end", () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
      const board = emptyBoard();
      let at = 0;
      let asked = 0;
      const waiting = new Map<string, { readonly names: readonly string[]; readonly order: number }>();
      const settle = () => {
        for (const { to, data } of board.outbox.splice(0)) {
          const served = waiting.get(to);
          waiting.delete(to);
          if ((data as { outcome: string }).outcome !== "granted") continue;
          for (const [, { names, order }] of waiting)
            if (served !== undefined && names.some((name) => served.names.includes(name)))
              expect(order).toBeGreaterThan(served.order);
        }
        const held = board.grants.flatMap(({ names }) => names);
        expect(new Set(held).size).toBe(held.length);
        expect(new Set(board.grants.map(({ token }) => token)).size).toBe(board.grants.length);
      };
      for (const { by, names, what, ms, waitMs } of acts) {
        const agent = `agent ${by}`;
        at += what === "pass" ? ms : 0;
        expireLeases(board, at);
        settle();
        const mine = board.grants.find((one) => one.by === agent);
        if (what === "release" && mine !== undefined) release(board, mine, { by: agent, at });
        if (what === "lease") {
          const to = `question ${++asked}`;
          try {
            if (lease(board, { names, ms, waitMs }, { by: agent, at, to }) === undefined)
              waiting.set(to, { names, order: asked });
          } catch {
            // It would have closed a circle.
          }
        }
        settle();
      }
      runDown(board, at, settle);
      expect([board.queue, waiting.size]).toEqual([[], 0]);
    }),
  );
});

/** Lets every lease run out: as there is no circle, everybody is served in the end. */
function runDown(board: BoardState, from: number, settle: () => void): void {
  for (let next = nextExpiry(board); next !== null; next = nextExpiry(board)) {
    expireLeases(board, Math.max(next, from));
    settle();
  }
}
