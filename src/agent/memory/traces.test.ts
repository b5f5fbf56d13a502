/** What is left of a memory in the store's own bytes: nothing of what was forgotten, and no word in clear under a seal. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { scrub } from "../../runtime/housekeeping/scrub.ts";
import { verify } from "../../runtime/housekeeping/verify.ts";
import { createRuntime, type Runtime } from "../../runtime/runtime.ts";
import type { Seal } from "../../runtime/seal.ts";
import { decode } from "../../store/codec.ts";
import type { SearchingStore } from "../../store/search.ts";
import { sqlite } from "../../store/sqlite/store.ts";
import { defineMemory, type MemoryOptions } from "./define-memory.ts";
import type { Candidate } from "./fact.ts";
import { openMemory } from "./open-memory.ts";
import { FactSearch } from "./recall.ts";

const folders: string[] = [];
const runtimes: Runtime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-traces-"));
  folders.push(folder);
  return join(folder, "runs.db");
}

async function open(path: string, options: Partial<MemoryOptions> = {}, seal?: Seal) {
  const store = sqlite(path, { synchronous: "normal" });
  const kind = defineMemory({ id: "memory", search: store, ...options });
  const runtime = await createRuntime({ store, machines: [kind], ...(seal && { seal }) });
  runtimes.push(runtime);
  return { store, kind, runtime, ada: openMemory(runtime, kind, { user: "ada" }) };
}

const says = (text: string, message: string): Candidate => ({
  ...{ subject: "Ada", text, source: { trust: "trusted", message } },
});

/** Which of these words stand in a file of the store as they are, or in a row of it that was compressed. */
async function tracesIn(path: string, store: SearchingStore, words: readonly string[]): Promise<string[]> {
  const files = ["", "-wal", "-shm"].map((end) => path + end).filter((one) => existsSync(one));
  const found = files.map((one) => readFileSync(one).toString("latin1"));
  for (const { place } of await store.scan("run", { limit: 100 }))
    for (const kind of ["entry", "snapshot"] as const)
      for (const { row } of await store.scan(kind, { of: place, limit: 10_000 }))
        found.push(JSON.stringify(decode(row?.bytes as Uint8Array, kind)));
  const all = found.join("\n").toLowerCase();
  return words.filter((word) => all.includes(word));
}

const toy = {
  id: "toy",
  embed: async (texts: readonly string[]) => texts.map((text) => [text.length, 1]),
};

describe("what was forgotten", () => {
  test("C7: stands nowhere in the store once its memory is pruned and the store scrubbed", async () => {
    const path = newPath();
    const { store, runtime, ada } = await open(path, { embedding: toy });
    // Enough for several snapshots, so that old ones are deleted on the way.
    for (let number = 0; number < 150; number++)
      await ada.remember(says(`Ada counted ${number} herons in the marsh of day ${number}.`, "m1"));
    await ada.remember(says("Ada was in Zanzibar.", "m7"));
    expect(await ada.remember(says("Her password: hunter22zz", "m7"))).toMatchObject({ why: "secret" });
    for (let number = 150; number < 300; number++)
      await ada.remember(says(`Ada counted ${number} herons in the marsh of day ${number}.`, "m1"));
    const words = ["zanzibar", "hunter22zz"];
    expect(await ada.forget({ message: "m7" })).toEqual(["f151"]);
    expect(await tracesIn(path, store, words)).toEqual(words);
    expect(await ada.prune()).toMatchObject({ outcome: "pruned" });
    await scrub({ store });
    expect(await tracesIn(path, store, [...words, "herons"])).toEqual(["herons"]);
    expect((await ada.recall("day 299"))[0]?.fact.id).toBe("f301");
    await runtime.close();
    const again = await open(path);
    expect((await again.ada.recall("heron day 7 marsh"))[0]?.fact.id).toBe("f8");
    expect(await again.ada.recall("Zanzibar")).toEqual([]);
    await again.runtime.close();
    await again.store.open();
    expect((await verify({ store: again.store })).problems).toEqual([]);
    await again.store.close();
  });

  test("C7: and be it everything, with the memory itself, which can begin anew", async () => {
    const path = newPath();
    const { store, ada } = await open(path);
    await ada.remember(says("Ada was in Zanzibar.", "m1"));
    await ada.recall("Zanzibar", { note: true });
    await ada.remember(says("Ada saw herons.", "m2"));
    expect(await ada.forget({ everything: true })).toEqual(["f1", "f2"]);
    expect(await ada.forget({ everything: true })).toEqual([]);
    expect((await ada.read()).recalled).toEqual([]);
    await ada.prune();
    await ada.erase();
    await scrub({ store });
    expect(await tracesIn(path, store, ["zanzibar", "herons"])).toEqual([]);
    expect(await ada.remember(says("Ada saw herons.", "m3"))).toMatchObject({ id: "f1" });
  });
});

/** Seals nobody should use, that show whether something was sealed. */
const seal: Seal = {
  close: (bytes) => bytes.map((byte) => byte ^ 0x5a),
  open: (bytes) => bytes.map((byte) => byte ^ 0x5a),
};
const searchKey = "a key that nobody guesses";

describe("under a seal", () => {
  test("C7: a memory whose words would stand in an index as they are is refused", async () => {
    const store = sqlite(newPath());
    const kind = defineMemory({ id: "memory", search: store });
    const refused = createRuntime({ store, machines: [kind], seal });
    await expect(refused).rejects.toMatchObject({ code: "MACHINE_INVALID" });
    await expect(refused).rejects.toThrow("give it a searchKey, or no search");
    const runtime = await createRuntime({ store, machines: [], seal });
    runtimes.push(runtime);
    expect(() => runtime.register(kind)).toThrow("give it a searchKey, or no search");
    expect(() => defineMemory({ id: "memory", search: store, searchKey: "short" })).toThrow("5 bytes");
    // Without an index there is nothing to hide.
    runtime.register(defineMemory({ id: "memory", searchKey }));
  });

  test("C7: a key hides them, and what is found is the same", async () => {
    const path = newPath();
    const { store, kind, runtime, ada } = await open(path, { searchKey }, seal);
    for (const text of ["Ada was in Zanzibar.", "Ada saw herons in Zanzibar.", "Ada saw herons."])
      await ada.remember(says(text, "m1"));
    const run = await runtime.start(kind.machine, { singleton: "ada", subject: "ada" });
    await run.waitFor("open.index.resting");
    const found = await kind.search?.findWords({ tenant: run.tenant, run: run.id }, ["herons"], 10);
    expect(found?.ids.toSorted()).toEqual(["f2", "f3"]);
    const now = Date.now();
    const asked = "herons of Zanzibar";
    expect(await ada.recall(asked, { now })).toEqual(
      new FactSearch().search(await ada.read(), asked, { now }),
    );
    const raw = ["", "-wal"].map((end) => readFileSync(path + end).toString("latin1")).join("");
    expect(raw.toLowerCase()).not.toMatch(/zanzibar|herons/);
    await expect(
      store.search.findWords({ tenant: run.tenant, run: run.id }, ["herons"], 10),
    ).resolves.toMatchObject({ ids: [] });
  });

  test("C7: an index of another key, or of none, is not asked, and is made anew", async () => {
    const path = newPath();
    for (const options of [{}, { searchKey }, { searchKey: `${searchKey}, another` }, {}]) {
      const { kind, runtime, ada } = await open(path, options);
      if ((await ada.read()).made === 0) await ada.remember(says("Ada was in Zanzibar.", "m1"));
      expect((await ada.recall("Zanzibar")).map(({ fact }) => fact.id)).toEqual(["f1"]);
      const run = await runtime.start(kind.machine, { singleton: "ada", subject: "ada" });
      const name = { tenant: run.tenant, run: run.id };
      const isMade = async () => (await run.state()).context.index.key === kind.keyId;
      while (!(await isMade())) await new Promise((resolve) => setImmediate(resolve));
      await run.waitFor("open.index.resting");
      expect((await kind.search?.findWords(name, ["zanzibar"], 10))?.ids).toEqual(["f1"]);
      await ada.remember(says(`Ada wrote ${options.searchKey ?? "nothing"}.`, "m2"));
      expect((await ada.recall("Zanzibar")).map(({ fact }) => fact.id)).toEqual(["f1"]);
      await runtime.close();
    }
  });
});
