/** Long-term memory as a durable run: across processes, with the store's index beside it, and gone when it is to be gone. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { listOf, onEveryStore, type World } from "../../../test/runtime/world.ts";
import type { ActivityScope } from "../../core/activity.ts";
import { limits } from "../../limits.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Search } from "../../store/search.ts";
import { defineMemory, type MemoryKind, type MemoryOptions } from "./define-memory.ts";
import type { Candidate } from "./fact.ts";
import type { Indexed, MemoryState } from "./memory-machine.ts";
import { openMemory } from "./open-memory.ts";
import { FactSearch } from "./recall.ts";

const said = (message: string) => ({ source: { trust: "trusted", message } }) as const;
const lives = (object: string, message: string): Candidate => ({
  ...{ subject: "Ada", predicate: "lives in", object },
  ...said(message),
});
const says = (text: string, message: string): Candidate => ({ subject: "Ada", text, ...said(message) });

/** A kind of memory that the store of this world has an index for, if it can. */
const kindIn = async (here: World, options: Partial<MemoryOptions> = {}): Promise<MemoryKind> =>
  defineMemory({ id: "memory", many: ["likes"], search: await here.look(), ...options });
const openIn = (here: World, runtime: Runtime, kind: MemoryKind, user = "ada") =>
  openMemory(runtime, kind, { user, clock: here.clock });
const runIn = (runtime: Runtime, { machine }: MemoryKind, user = "ada") =>
  runtime.start(machine, { singleton: user, subject: user });
const texts = (recalled: Awaited<ReturnType<ReturnType<typeof openMemory>["recall"]>>) =>
  recalled.map(({ fact }) => fact.object ?? fact.text);

onEveryStore((world, kindOfStore) => {
  test("C7: what is remembered is recalled in the next session, by another process", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const first = await here.boot([kind]);
    const memory = openIn(here, first, kind);
    expect(await memory.remember(lives("Paris", "m1"))).toEqual({
      outcome: "remembered",
      id: "f1",
      closed: [],
    });
    expect(await memory.remember(lives("Rome", "m2"))).toMatchObject({ closed: ["f1"] });
    expect(await memory.remember(says("Ada plays the theremin.", "m3"), { key: "k" })).toMatchObject({
      id: "f3",
    });
    expect(await memory.remember(says("Ada plays the theremin.", "m3"), { key: "k" })).toMatchObject({
      outcome: "remembered",
    });
    expect(await memory.remember(says("Her password: hunter22", "m4"))).toMatchObject({ why: "secret" });
    await here.crash(first);
    const runtime = await here.boot([kind]);
    const again = openIn(here, runtime, kind);
    expect(texts(await again.recall("Where does Ada live? In …"))[0]).toBe("Rome");
    expect(texts(await again.recall("theremin"))).toEqual(["Ada plays the theremin."]);
    expect(texts(await openIn(here, runtime, kind, "bob").recall("theremin Ada Rome"))).toEqual([]);
    const elsewhere = openMemory(runtime, kind, { user: "ada", tenant: "other", clock: here.clock });
    expect(await elsewhere.recall("theremin")).toEqual([]);
    expect(await again.audit()).toMatchObject({ total: 3, live: 2, closed: 1, refused: { secret: 1 } });
    const heads = await listOf(runtime.find({ machine: "memory", subject: "ada" }));
    expect(heads.length).toBe(1);
  });

  test("C7: facts are corrected, closed, put into quarantine and released; what is no fact changes nothing", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    await memory.remember(lives("Paris", "m1"));
    const before = here.clock.now();
    await here.clock.advance(1_000);
    expect(await memory.correct("f1", { object: "Rome", ...said("m2") })).toMatchObject({
      id: "f2",
      closed: ["f1"],
    });
    expect(texts(await memory.recall("Ada lives in", { now: before, asOf: here.clock.now() }))).toEqual([
      "Rome",
    ]);
    expect(texts(await memory.recall("Ada lives in", { now: before, asOf: before }))).toEqual(["Paris"]);
    expect(texts(await memory.recall("Ada lives in"))).toEqual(["Rome"]);
    await memory.quarantine("f2");
    expect(texts(await memory.recall("Ada lives in"))).toEqual(["Paris"]);
    expect(await memory.release("f2")).toEqual(["f1"]);
    await memory.close("f2");
    await here.clock.advance(1);
    expect(texts(await memory.recall("Ada lives in"))).toEqual([]);
    await expect(memory.release("f9")).rejects.toMatchObject({ code: "FACT_INVALID" });
    await expect(memory.remember({ ...says("", "m"), subject: "" })).rejects.toMatchObject({
      code: "FACT_INVALID",
    });
    const untrusted = { ...says("Ada owes Bob 1,000.", "m5"), source: { trust: "untrusted" } } as const;
    expect(await memory.remember(untrusted)).toMatchObject({ outcome: "quarantined", id: "f3" });
    expect(await memory.recall("owes")).toEqual([]);
    await memory.release("f3");
    expect(texts(await memory.recall("owes"))).toEqual(["Ada owes Bob 1,000."]);
  });

  test("C7: what was told does not come back as news, once it was noted", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const memory = openIn(here, await here.boot([kind]), kind);
    await memory.remember(says("Ada plays the theremin.", "m1"));
    await memory.recall("theremin", { note: true });
    expect(await memory.remember(says("Ada plays the theremin!", "m2"))).toMatchObject({ why: "echo" });
  });

  test("C7: what fades, and what is a secret, is as the kind of memory says", async () => {
    const here = await world();
    const careless = await kindIn(here);
    const first = await here.boot([careless]);
    await openIn(here, first, careless).remember(says("Codename Seahorse.", "m1"));
    await here.crash(first);
    const kind = await kindIn(here, { halfLife: "1s", secrets: [/codename \w+/i] });
    const memory = openIn(here, await here.boot([kind]), kind);
    expect(await memory.audit()).toMatchObject({ faded: [], secrets: ["f1"] });
    await here.clock.advance(10_000);
    expect((await memory.audit()).faded).toEqual(["f1"]);
    expect(await memory.consolidate()).toEqual(["f1"]);
  });

  test("C7: all that came from a message is forgotten, in the index as well", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    await memory.remember(lives("Paris", "m1"));
    await memory.remember(lives("Atlantis", "m2"));
    await memory.remember(says("Ada breathes under water.", "m2"));
    await here.rest();
    expect(await memory.forget({ message: "m2" })).toEqual(["f2", "f3"]);
    await here.rest();
    expect(texts(await memory.recall("Ada lives in water Atlantis"))).toEqual(["Paris"]);
    expect(JSON.stringify(await memory.read())).not.toMatch(/Atlantis|water/);
    const { search } = kind;
    const { tenant, id } = await runIn(runtime, kind);
    const left = await search?.findWords({ tenant, run: id }, ["atlantis", "water", "paris"], 9);
    if (left !== undefined) expect(left.ids).toEqual(["f1"]);
    expect(search === undefined).toBe(!/SQLite|PostgreSQL/i.test(kindOfStore));
  });

  test("C7: a memory that is erased is empty, in the index as well, and can begin anew", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    await memory.remember(lives("Paris", "m1"));
    expect((await memory.export()).facts).toMatchObject([{ id: "f1", object: "Paris" }]);
    const run = await runIn(runtime, kind);
    await memory.erase();
    expect((await run.head()).status).toBe("done");
    expect((await run.state()).context.memory.facts).toEqual([]);
    const found = await kind.search?.findWords({ tenant: run.tenant, run: run.id }, ["paris"], 9);
    expect(found?.ids ?? []).toEqual([]);
    expect(await memory.recall("Paris")).toEqual([]);
    expect(await memory.remember(lives("Oslo", "m2"))).toMatchObject({ id: "f1" });
  });

  test("C7: after a rollback the memory is as it was, whatever the index has, and the index follows", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    await memory.remember(says("Ada plays the theremin.", "m1"));
    await here.rest();
    const run = await runIn(runtime, kind);
    const { seq } = await run.head();
    await memory.remember(says("Ada plays the flute.", "m2"));
    await here.rest();
    await run.rollback({ to: seq });
    expect(texts(await memory.recall("plays flute"))).toEqual(["Ada plays the theremin."]);
    await memory.remember(says("Ada plays the lute.", "m3"));
    expect(texts(await memory.recall("plays flute lute theremin")).sort()).toEqual([
      "Ada plays the lute.",
      "Ada plays the theremin.",
    ]);
    await here.rest();
    await memory.recall("flute");
    await here.rest();
    const { mark } = (await run.state()).context.index;
    const found = await kind.search?.findWords({ tenant: run.tenant, run: run.id }, ["flute", "lute"], 9);
    if (found !== undefined) expect(found).toEqual({ mark, ids: ["f2"], isCut: false });
  });

  // What is about an index needs one.
  if (kindOfStore === "memory") return;

  test("C7: what the index finds is ranked as the memory itself would rank it, whatever is asked", async () => {
    const words = ["ada", "plays", "the", "flute", "lute", "Zürich", "zurich", "東京", "東京都", "x1", "not"];
    const text = fc
      .array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 })
      .map((some) => some.join(" "));
    const here = await world();
    const kind = await kindIn(here);
    const runtime = await here.boot([kind]);
    let users = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { maxLength: 8 }),
        text,
        fc.boolean(),
        async (facts, question, settles) => {
          const user = `user ${++users}`;
          const memory = openIn(here, runtime, kind, user);
          for (const [index, fact] of facts.entries()) await memory.remember(says(fact, `m${index % 3}`));
          await memory.forget({ message: "m1" });
          if (settles) await here.rest();
          const now = here.clock.now();
          const reference = new FactSearch().search(await memory.read(), question, { now });
          const found = await memory.recall(question, { now });
          const shown = (list: typeof found) => list.map(({ fact, score }) => [fact.id, score.toFixed(9)]);
          expect(shown(found)).toEqual(shown(reference));
        },
      ),
      { numRuns: 25 },
    );
  });

  test("C7: what is asked with more words, or found more often, than a store is asked for is found all the same", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const memory = openIn(here, await here.boot([kind]), kind);
    const all = Array.from({ length: limits.foundFactsMax }, (_, number) => number);
    const tell = (number: number) =>
      memory.remember({ ...says(`lute ${number}`, "m"), subject: `s${number}` });
    await Promise.all(all.map(tell));
    await here.rest();
    const found = async (question: string) => (await memory.recall(question, { limit: 999 })).length;
    expect(await found("lute")).toBe(limits.foundFactsMax);
    await tell(limits.foundFactsMax);
    await here.rest();
    expect(await found("lute")).toBe(limits.foundFactsMax + 1);
    const words = (count: number) => Array.from({ length: count }, (_, number) => `w${number}`).join(" ");
    expect(await found(`${words(limits.questionWordsMax - 1)} lute`)).toBe(limits.foundFactsMax + 1);
    expect(await found(`${words(limits.questionWordsMax)} lute`)).toBe(limits.foundFactsMax + 1);
  });

  test("C7: a runtime that is closed while an index is written tells of no problem, and the next one writes it", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const problems: unknown[] = [];
    for (let number = 1; number <= 10; number++) {
      const runtime = await here.boot([kind], { onProblem: (problem) => problems.push(problem) });
      await openIn(here, runtime, kind).remember({ ...says(`lute ${number}`, "m"), subject: `s${number}` });
      for (let turn = 0; turn < number % 4; turn++) await Promise.resolve();
      await here.close(runtime);
    }
    expect(problems).toEqual([]);
    const runtime = await here.boot([kind]);
    const { tenant, id } = await runIn(runtime, kind);
    await here.rest();
    expect((await kind.search?.findWords({ tenant, run: id }, ["lute"], 99))?.ids.length).toBe(10);
  });

  test("C7: an index that was lost is made again, and nobody notices meanwhile", async () => {
    const here = await world();
    const bare = defineMemory({ id: "memory" });
    const first = await here.boot([bare]);
    await openIn(here, first, bare).remember(says("Ada plays the theremin.", "m1"));
    await here.crash(first);
    // As with a store that had no index when the memory began.
    const kind = await kindIn(here);
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    expect(texts(await memory.recall("theremin"))).toEqual(["Ada plays the theremin."]);
    await here.rest();
    const run = await runIn(runtime, kind);
    const name = { tenant: run.tenant, run: run.id };
    const { mark } = (await run.state()).context.index;
    expect(await kind.search?.findWords(name, ["theremin"], 9)).toEqual({ mark, ids: ["f1"], isCut: false });
  });

  test("C7: an index whose words were made in another way is made anew, and nobody notices meanwhile", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const old = {
      ...kind,
      keyId: null as never,
      activities: { ...kind.activities, index: oldIndex, rebuild: oldIndex },
    };
    async function oldIndex(_: unknown, scope: ActivityScope): Promise<Indexed> {
      const mark = Number.parseInt(scope.key.slice(scope.run.length + 1), 10);
      const put = [{ id: "f1", words: ["用户喜欢吃苹果"] }];
      await kind.search?.writeWords(scope, { expect: undefined, mark, put, remove: [] });
      return { mark, key: null };
    }
    const first = await here.boot([old as MemoryKind]);
    await openIn(here, first, old).remember({ subject: "用户", text: "用户喜欢吃苹果", ...said("m1") });
    await here.rest();
    await here.crash(first);
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    expect(texts(await memory.recall("苹果"))).toEqual(["用户喜欢吃苹果"]);
    await here.rest();
    const { tenant, id } = await runIn(runtime, kind);
    expect((await kind.search?.findWords({ tenant, run: id }, ["苹果"], 9))?.ids).toEqual(["f1"]);
    expect(texts(await memory.recall("苹果"))).toEqual(["用户喜欢吃苹果"]);
  });

  test("C7: an index that was away for a while is not taken for one of today", async () => {
    const here = await world();
    const kind = await kindIn(here);
    const first = await here.boot([kind]);
    await openIn(here, first, kind).remember(says("Ada plays the theremin.", "m1"));
    await here.rest();
    await here.crash(first);
    const bare = defineMemory({ id: "memory" });
    const second = await here.boot([bare]);
    await openIn(here, second, bare).remember(says("Ada plays the lute.", "m2"));
    await here.crash(second);
    const memory = openIn(here, await here.boot([kind]), kind);
    expect(texts(await memory.recall("lute"))).toEqual(["Ada plays the lute."]);
  });

  test("C7: an index that cannot be written leaves the memory as it is, and is tried again with what comes next", async () => {
    const here = await world();
    const { search } = await kindIn(here);
    let isDown = true;
    const flaky: Search = {
      findWords: (...given) => (search as Search).findWords(...given),
      writeWords: async (...given) => {
        if (isDown) throw new Error("down");
        return (search as Search).writeWords(...given);
      },
    };
    const kind = defineMemory({ id: "memory", search: { search: flaky } as never });
    const runtime = await here.boot([kind]);
    const memory = openIn(here, runtime, kind);
    await memory.remember(says("Ada plays the theremin.", "m1"));
    for (let minute = 0; minute < 10; minute++) {
      await here.clock.advance(60_000);
      await here.rest();
    }
    const run = await runIn(runtime, kind);
    const indexOf = async () => ((await run.state()).context as MemoryState).index;
    expect(await indexOf()).toMatchObject({ mark: 0, failed: true });
    expect(texts(await memory.recall("theremin"))).toEqual(["Ada plays the theremin."]);
    isDown = false;
    await memory.remember(says("Ada plays the lute.", "m2"));
    await here.rest();
    expect((await indexOf()).mark).toBeGreaterThan(0);
    expect(texts(await memory.recall("plays")).length).toBe(2);
  });
});
