/** Boards as agents hold them: versions and what becomes of conflicts, on every store of one process. */
import { expect, test } from "vitest";
import { z } from "zod";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { defineBoard } from "./board.ts";
import { openBoard } from "./open.ts";

const team = defineBoard({
  id: "team",
  keys: {
    plan: { policy: "reject", schema: z.object({ goal: z.string() }) },
    status: { policy: "last-write" },
    findings: { policy: { merge: "union" }, schema: z.array(z.string()) },
    log: { policy: { merge: "append" } },
    best: { policy: { merge: "max" }, schema: z.number().max(100) },
    spent: { policy: { merge: "sum" }, schema: z.number() },
    answer: { policy: "review", schema: z.string() },
    release: { policy: "last-write", lease: "deploy" },
    notes: { policy: "review", lease: "report" },
  },
  merges: { sum: (current, yours) => Number(current) + Number(yours) },
  leases: ["deploy", "database", "report"],
});

const open = async (world: World) => {
  const runtime = await world.boot([team]);
  const as = (agent: string) => openBoard(runtime, team, { id: "b", agent });
  return { runtime, as, ada: await as("ada"), bob: await as("bob") };
};

onEveryStore((world) => {
  test("C8: a write for a version that does not stand any more is handed back with what does", async () => {
    const { ada, bob } = await open(await world());
    expect(await ada.read("plan")).toEqual({ value: undefined, version: 0, by: undefined, at: undefined });
    expect(await ada.write("plan", { goal: "a" })).toMatchObject({ outcome: "written", version: 1 });
    const seen = await bob.read("plan");
    expect(seen).toEqual({ value: { goal: "a" }, version: 1, by: "ada", at: 1_000_000 });
    expect(await ada.write("plan", { goal: "b" }, { ifVersion: 1 })).toMatchObject({ version: 2 });
    expect(await bob.write("plan", { goal: "c" }, { ifVersion: seen.version })).toEqual({
      ...{ outcome: "conflict", current: { goal: "b" }, version: 2, by: "ada", at: 1_000_000 },
      yours: { goal: "c" },
    });
    // Without a version it is for a key that is not there.
    expect(await bob.write("plan", { goal: "c" })).toMatchObject({ outcome: "conflict", version: 2 });
    expect((await bob.read("plan")).value).toEqual({ goal: "b" });
  });

  test("C8: an update thinks again until nobody was faster, as often as it may", async () => {
    const { ada, bob } = await open(await world());
    const seen: unknown[] = [];
    const outcome = await ada.update("plan", async (current) => {
      seen.push(current);
      if (seen.length < 3) await bob.update("plan", () => ({ goal: `bob ${seen.length}` }));
      return { goal: `${current?.goal} and ada` };
    });
    expect(outcome).toMatchObject({ outcome: "written", value: { goal: "bob 2 and ada" }, version: 3 });
    expect(seen).toEqual([undefined, { goal: "bob 1" }, { goal: "bob 2" }]);
    const beaten = await ada.update(
      "plan",
      async () => {
        await bob.update("plan", () => ({ goal: "bob" }));
        return { goal: "ada" };
      },
      { attempts: 2 },
    );
    expect(beaten).toMatchObject({ outcome: "conflict", current: { goal: "bob" }, yours: { goal: "ada" } });
  });

  test("C8: the last write stands where the key says so, unless it was for another version", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("status", "busy");
    expect(await bob.write("status", "idle")).toMatchObject({ outcome: "written", version: 2 });
    expect(await ada.write("status", "done", { ifVersion: 1 })).toMatchObject({
      outcome: "conflict",
      current: "idle",
    });
  });

  test("C8: conflicting writes are merged by the rule of their key, and none is lost", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("findings", ["x", "y"]);
    expect(await bob.write("findings", ["y", "z"])).toMatchObject({
      outcome: "written",
      value: ["x", "y", "z"],
    });
    // For the version that stands there it is no conflict, and replaces it.
    const { version } = await ada.read("findings");
    expect(await ada.write("findings", ["z"], { ifVersion: version })).toMatchObject({ value: ["z"] });
    expect(await bob.write("findings", ["x"], { ifVersion: version })).toMatchObject({ value: ["z", "x"] });
    for (const agent of [ada, bob, ada]) await agent.write("log", [agent.agent]);
    expect((await ada.read("log")).value).toEqual(["ada", "bob", "ada"]);
    for (const value of [3, 9, 4]) await ada.write("best", value);
    expect((await ada.read("best")).value).toBe(9);
    await Promise.all([1, 2, 3, 4].map((value) => (value % 2 ? ada : bob).write("spent", value)));
    expect((await ada.read("spent")).value).toBe(10);
  });

  test("C8: a write that conflicts waits for a review, which takes it, leaves it, or puts another in its place", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("answer", "42");
    const ids: string[] = [];
    for (const value of ["43", "44", "45"]) {
      const outcome = await bob.write("answer", value);
      if (outcome.outcome === "in review") ids.push(outcome.id);
    }
    expect((await ada.reviews()).map(({ id, value, by }) => [id, value, by])).toEqual(
      ids.map((id, index) => [id, String(43 + index), "bob"]),
    );
    const [first = "", second = "", third = ""] = ids;
    expect(await ada.review(second, "reject")).toEqual({ outcome: "rejected" });
    expect(await ada.review(first, "accept")).toEqual({ outcome: "written", version: 2, value: "43" });
    expect((await ada.read("answer")).by).toBe("bob");
    await expect(ada.review(third, { value: 46 })).rejects.toMatchObject({ code: "VALUE_INVALID" });
    expect(await ada.review(third, { value: "46" })).toMatchObject({ outcome: "written", value: "46" });
    await expect(ada.review(third, "accept")).rejects.toMatchObject({ code: "REVIEW_UNKNOWN" });
    expect(await ada.reviews()).toEqual([]);
  });

  test("C8: a review takes no write over what was written since, and hands it back", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("answer", "1");
    const pending = await ada.write("answer", "2", { ifVersion: 0 });
    const id = pending.outcome === "in review" ? pending.id : "";
    await bob.write("answer", "3", { ifVersion: 1 });
    expect(await bob.review(id, "accept")).toMatchObject({
      ...{ outcome: "conflict", current: "3", version: 2, by: "bob", yours: "2" },
    });
    expect((await bob.read("answer")).value).toBe("3");
    // It waits on, until somebody says what is to stand there.
    expect(await bob.reviews()).toMatchObject([{ id, value: "2" }]);
    expect(await bob.review(id, { value: "2 and 3" })).toMatchObject({ outcome: "written", version: 3 });
    expect(await bob.reviews()).toEqual([]);
  });

  test("C8: nobody takes a write of their own; whoever made it may take it back", async () => {
    const { ada, bob } = await open(await world());
    await bob.write("answer", "1");
    const pending = await ada.write("answer", "2");
    const id = pending.outcome === "in review" ? pending.id : "";
    const refused = { outcome: "refused", why: "ada wrote it, and somebody else decides" };
    expect(await ada.review(id, "accept")).toEqual(refused);
    expect(await ada.review(id, { value: "3" })).toEqual(refused);
    expect(await ada.review(id, "reject")).toEqual({ outcome: "rejected" });
    expect((await bob.read("answer")).value).toBe("1");
  });

  test("C8: a review of a key that is written under a lease needs one as well", async () => {
    const { ada, bob } = await open(await world());
    const propose = async (value: string) => {
      const lease = await ada.lease("report", { for: "10s" });
      if (lease.outcome === "busy") throw new Error("busy");
      const pending = await ada.write("notes", value, { fence: lease.token });
      return { lease, id: pending.outcome === "in review" ? pending.id : "" };
    };
    await (await propose("1")).lease.release();
    const first = await propose("2");
    // The writer still has it.
    expect(await bob.review(first.id, "accept")).toMatchObject({ outcome: "written", value: "2" });
    await first.lease.release();
    const second = await propose("3");
    await second.lease.release();
    expect(await bob.review(second.id, "accept")).toMatchObject({ outcome: "fenced" });
    expect(await bob.review(second.id, { value: "4" })).toMatchObject({ outcome: "fenced" });
    await bob.lease("report", { for: "10s" });
    expect(await bob.review(second.id, "accept")).toMatchObject({
      outcome: "written",
      value: "3",
    });
  });

  test("C8: an update of a key that is merged thinks again as well, and takes nothing twice", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("log", ["x"]);
    const seen: unknown[] = [];
    const outcome = await ada.update("log", async (current) => {
      seen.push(current);
      if (seen.length === 1) await bob.write("log", ["c"]);
      return [...(current as string[]), "a"];
    });
    expect(outcome).toMatchObject({ outcome: "written", value: ["x", "c", "a"] });
    expect(seen).toEqual([["x"], ["x", "c"]]);
    await ada.write("spent", 5);
    let isFirst = true;
    await ada.update("spent", async (current = 0) => {
      if (isFirst) await bob.write("spent", 1);
      isFirst = false;
      return current + 10;
    });
    expect((await ada.read("spent")).value).toBe(16);
  });

  test("C8: what is removed is gone, and a version that was never comes back", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("plan", { goal: "a" });
    expect(await bob.remove("plan")).toMatchObject({ outcome: "conflict", version: 1 });
    expect(await bob.remove("plan", { ifVersion: 1 })).toEqual({ outcome: "removed", version: 2 });
    expect(await bob.read("plan")).toMatchObject({ value: undefined, version: 0 });
    expect(await bob.remove("plan")).toEqual({ outcome: "removed", version: 2 });
    expect(await ada.write("plan", { goal: "b" }, { ifVersion: 1 })).toEqual({
      ...{ outcome: "conflict", version: 0, yours: { goal: "b" } },
    });
    expect(await ada.write("plan", { goal: "b" })).toMatchObject({ outcome: "written", version: 3 });
    await ada.write("status", "busy");
    expect(await bob.remove("status")).toMatchObject({ outcome: "removed" });
  });

  test("F5: keys that are not there, values that do not fit and questions that are none change nothing", async () => {
    const { ada } = await open(await world());
    await ada.write("best", 1);
    const before = await ada.run.state();
    await expect(ada.read("plans" as never)).rejects.toMatchObject({ code: "KEY_UNKNOWN" });
    await expect(ada.write("plans" as never, 1 as never)).rejects.toThrow(
      'The board has no key "plans"; it has plan, status',
    );
    await expect(ada.remove("plans" as never)).rejects.toMatchObject({ code: "KEY_UNKNOWN" });
    await expect(ada.write("plan", { goal: 1 } as never)).rejects.toThrow(
      /^The value of "plan" does not fit its schema: plan.goal: /,
    );
    await expect(ada.write("best", 101)).rejects.toMatchObject({ code: "VALUE_INVALID" });
    await expect(ada.write("log", "no list")).resolves.toMatchObject({ outcome: "written" });
    await expect(ada.write("log", "no list")).rejects.toThrow('"no list" is not a list');
    for (const data of [undefined, {}, { by: "eve", key: "plan" }, { by: "", key: "plan", value: 1 }])
      await expect(ada.run.ask("write", data)).rejects.toMatchObject({ code: "ASK_UNANSWERED" });
    await expect(ada.run.ask("write", { by: "eve", key: "best", value: 101 })).resolves.toMatchObject({
      error: { code: "VALUE_INVALID" },
    });
    const { entries, version } = (await ada.run.state()).context;
    expect([entries.best, version]).toEqual([before.context.entries.best, 2]);
  });

  test("C8: a question that is asked again under its key is the same one, after a crash as well", async () => {
    const here = await world();
    const { runtime, ada } = await open(here);
    const first = await ada.write("log", ["once"], { key: "turn-7" });
    await here.crash(runtime);
    const { ada: again } = await open(here);
    expect(await again.write("log", ["once"], { key: "turn-7" })).toEqual(first);
    expect((await again.read("log")).value).toEqual(["once"]);
  });

  test("C8: changes come in order, each once, from any version on, and go on as they are made", async () => {
    const { ada, bob } = await open(await world());
    await ada.write("status", "busy");
    await ada.lease("report", { for: "1h" });
    // What was refused has its place in the journal, and changes nothing.
    await ada.run.ask("write", {}).catch(() => {});
    await bob.write("plan", { goal: "a" });
    await ada.write("plan", { goal: "b" }, { ifVersion: 2 });
    await bob.remove("status");
    const ending = new AbortController();
    const seen: unknown[] = [];
    const reading = (async () => {
      for await (const { key, value, version, by } of bob.subscribe({ from: 1, signal: ending.signal })) {
        seen.push([key, value, version, by]);
        if (version === 6) ending.abort();
      }
    })();
    await ada.write("status", "done");
    await ada.write("best", 3);
    await reading;
    expect(seen).toEqual([
      ["plan", { goal: "a" }, 2, "bob"],
      ["plan", { goal: "b" }, 3, "ada"],
      ["status", undefined, 4, "bob"],
      ["status", "done", 5, "ada"],
      ["best", 3, 6, "ada"],
    ]);
    const fromNow = bob.subscribe({ keys: ["best"] });
    const next = fromNow.next();
    await ada.write("status", "idle");
    await ada.write("best", 4);
    expect((await next).value).toMatchObject({ key: "best", value: 4 });
    await fromNow.return(undefined);
    await expect(bob.subscribe({ keys: ["worst" as never] }).next()).rejects.toMatchObject({
      code: "KEY_UNKNOWN",
    });
  });
});
