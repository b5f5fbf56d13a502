/** Rules of several tenants: each speaks of the runs, the holds and the documents of those it names, and of nobody else's. */
import { expect, test } from "vitest";
import { counter } from "../../../test/runtime/machines.ts";
import { onEveryStore, type World } from "../../../test/runtime/world.ts";
import { limits } from "../../limits.ts";
import { encode } from "../../store/codec.ts";
import type { Store } from "../../store/store.ts";
import { singletonPrefix } from "../platform/named-run.ts";
import type { Runtime } from "../runtime.ts";
import { removeDocuments } from "./documents.ts";
import { expire } from "./expire.ts";
import { hold } from "./hold.ts";
import { prune } from "./prune.ts";
import { retain } from "./retention.ts";

const everybody = ["default", "globex", "initech"] as const;
const some = ["globex", "initech"] as const;
const minute = 60_000;

/** Starts runs of the same names for everybody. */
async function forAll(
  { boot }: World,
  names: readonly string[],
  then: (run: Awaited<ReturnType<Runtime["start"]>>) => Promise<unknown>,
): Promise<Runtime> {
  const runtime = await boot([counter]);
  for (const tenant of everybody)
    for (const id of names) await then((await runtime.start(counter, { id, tenant })) as never);
  return runtime;
}

const namesOf = (runs: readonly { readonly tenant: string; readonly run: string }[]): string[] =>
  runs.map(({ tenant, run }) => `${tenant} ${run}`).toSorted();

/** The runs of everybody that have this status. */
async function runsWith(store: Store, status: "done" | "cancelled"): Promise<string[]> {
  const found = everybody.map((tenant) => store.findRuns({ tenant, status, limit: 100 }));
  return namesOf((await Promise.all(found)).flat());
}

onEveryStore((world) => {
  test("retention removes the runs of those tenants, keeps the newest of each, and goes by each one's own holds", async () => {
    const here = await world();
    const { clock } = here;
    const runtime = await forAll(here, ["a", "b", "c"], async (run) => {
      await run.send("end");
      await clock.advance(1);
    });
    await here.close(runtime);
    const store = await here.look();
    await hold({ store, clock, tenant: "default" }, { run: "a", reason: "somebody else's" });
    await hold({ store, clock, tenant: "initech" }, { run: "b", reason: "its own" });
    const { removed, kept } = await retain({ store, clock, tenants: some, rules: [{ keep: 1 }] });
    expect(namesOf(removed)).toEqual(["globex a", "globex b", "initech a"]);
    expect(kept).toMatchObject([{ tenant: "initech", run: "b", why: "held" }]);
    expect(await runsWith(store, "done")).toEqual([
      ...["default a", "default b", "default c"],
      ...["globex c", "initech b", "initech c"],
    ]);
  });

  test("runs that are idle are cancelled for those tenants only, and not where their own holds keep them", async () => {
    const here = await world();
    const { clock } = here;
    const runtime = await forAll(here, ["a", "b"], async () => {});
    const parked = await runtime.run("b", { tenant: "globex" });
    await parked.pause();
    await clock.advance(2 * minute);
    const store = await here.look();
    await hold({ store, clock, tenant: "default" }, { run: "a", reason: "somebody else's" });
    await hold({ store, clock, tenant: "initech" }, { run: "b", reason: "its own" });
    const rules = [{ idleFor: minute }];
    const { cancelled, kept } = await expire({ runtime, store, clock, tenants: some, rules });
    expect(namesOf(cancelled)).toEqual(["globex a", "globex b", "initech a"]);
    expect(namesOf(kept)).toEqual(["initech b"]);
    expect(await runsWith(store, "cancelled")).toEqual(["globex a", "globex b", "initech a"]);
  });

  test("entries are pruned of the runs of those tenants, and not where their own holds keep them", async () => {
    const here = await world();
    const { clock } = here;
    const note = "n".repeat(limits.contentLengthMin - 1);
    const runtime = await forAll(here, ["a"], async (run) => {
      do await run.send("note", note);
      while ((await run.head()).snapshotSeq === 0);
      await run.send("add", 1);
    });
    await here.close(runtime);
    await clock.advance(2 * minute);
    const store = await here.look();
    await hold({ store, clock, tenant: "default" }, { run: "a", reason: "somebody else's" });
    await hold({ store, clock, tenant: "initech" }, { run: "a", reason: "its own" });
    const options = { store, clock, tenants: some, rules: [{ olderThan: minute }] };
    const firstOf = async (tenant: string) => (await store.readJournal({ tenant, run: "a" }, 1, 1))[0]?.seq;
    const dry = await prune({ ...options, dryRun: true });
    expect([namesOf(dry.pruned), namesOf(dry.kept)]).toEqual([["globex a"], ["initech a"]]);
    expect(await Promise.all(everybody.map(firstOf))).toEqual([1, 1, 1]);
    expect(await prune(options)).toEqual(dry);
    const seq = dry.pruned[0]?.seq as number;
    expect(await Promise.all(everybody.map(firstOf))).toEqual([1, seq + 1, 1]);
  });

  test("a document goes by the run of its own tenant, however many there are", async () => {
    const here = await world();
    const { clock } = here;
    const runtime = await here.boot([counter]);
    for (const tenant of ["default", "globex"]) {
      const run = await runtime.start(counter, { id: "a", tenant });
      if (tenant === "globex") await run.send("end");
    }
    await here.close(runtime);
    const store = await here.look();
    const write = (tenant: string, name: string) =>
      store.writeDocument(tenant, `${singletonPrefix}${name}`, 0, encode({ run: "a" }));
    // More than are read at a time, all of them needed but the last.
    for (let count = 0; count < 150; count++) await write("default", String(count).padStart(3, "0"));
    await write("globex", "x");
    expect(await removeDocuments({ store, clock })).toBe(1);
    expect(await store.readDocument("globex", `${singletonPrefix}x`)).toBeUndefined();
    expect(await store.readDocument("default", `${singletonPrefix}149`)).toBeDefined();
  });
});
