/**
 * What a power cut may leave of a file store. Every change the store makes to its files is recorded while random calls are
 * made of it; a cut is drawn after any of them, on the disk of `prove/powerloss`: what was synced is there, each later
 * write is kept, lost or torn in any order, and so is each name that was made or removed. A file that takes another's
 * place may even be found to have neither. Each image must open, and hold what was answered, whole, and nothing else
 * but, whole, the call that was under way.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { Disk } from "../../prove/powerloss/disk.ts";
import type { Operation } from "../../prove/powerloss/recording.ts";
import { createChance } from "../../src/store/conformance/chance.ts";
import { contentsOf } from "../../src/store/conformance/contents.ts";
import { Draw } from "../../src/store/conformance/draw.ts";
import { diskFiles, type Files } from "../../src/store/file/files.ts";
import { FileStore } from "../../src/store/file/store.ts";
import { memory } from "../../src/store/memory/store.ts";
import type { Store } from "../../src/store/store.ts";
import { createRandom, type Random } from "../generate/random.ts";

/** Operations in one of the folders, between which no cut falls, or the answer to a call, with all that could be read then. */
type Recorded =
  | { readonly kind: "operations"; readonly folder: string; readonly operations: Operation[] }
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "answer"; readonly contents: string };

/** Does to the disk what the store asks for, and writes it down. */
function recording(root: string, out: Recorded[], lost: (operation: Operation) => boolean): Files {
  const there = new Set<string>();
  const note = (path: string, operation: Operation): void => {
    if (lost(operation)) return;
    out.push({ kind: "operations", folder: relative(root, dirname(path)), operations: [operation] });
  };
  const make = (path: string): void => {
    if (there.has(path)) note(path, { kind: "unlink", name: basename(path) });
    there.add(path);
    note(path, { kind: "create", name: basename(path) });
  };
  const write = (path: string, offset: number, bytes: Uint8Array): void => {
    const name = basename(path);
    if (bytes.length > 0) note(path, { kind: "write", name, offset, bytes: Buffer.from(bytes) });
    note(path, { kind: "truncate", name, size: offset + bytes.length });
  };
  return {
    writeAt: (path, at, bytes) => {
      if (!there.has(path)) make(path);
      write(path, at, bytes);
      diskFiles.writeAt(path, at, bytes);
    },
    replace: (path, bytes) => {
      make(path);
      write(path, 0, bytes);
      diskFiles.replace(path, bytes);
    },
    replaceSynced: (path, bytes) => {
      const before = out.length;
      make(path);
      write(path, 0, bytes);
      note(path, { kind: "sync", name: basename(path) });
      // It has its bytes before it has its name.
      const operations = out
        .splice(before)
        .flatMap((one) => (one.kind === "operations" ? one.operations : []));
      out.push({ kind: "operations", folder: relative(root, dirname(path)), operations });
      diskFiles.replaceSynced(path, bytes);
    },
    remove: (path) => {
      if (there.delete(path)) note(path, { kind: "unlink", name: basename(path) });
      diskFiles.remove(path);
    },
    makeFolder: (path) => {
      diskFiles.makeFolder(path);
      out.push({ kind: "folder", folder: relative(root, path) });
      note(path, { kind: "create", name: basename(path) });
    },
    sync: (path) => {
      note(path, { kind: "sync", name: basename(path) });
      diskFiles.sync(path);
    },
    syncAll: (paths) => {
      for (const path of paths) note(path, { kind: "sync", name: basename(path) });
      return diskFiles.syncAll(paths);
    },
    syncFolder: (path) => {
      note(join(path, "any"), { kind: "syncFolder" });
      diskFiles.syncFolder(path);
    },
  };
}

const scratch = (): string =>
  mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "holdfast-powerloss-"));

/** All there is in a store, as a text that is the same for the same contents. */
const readAll = async (store: Store): Promise<string> =>
  JSON.stringify(await contentsOf(store), (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
  });

/** Makes random calls of a new store in this folder; the store is closed and opened again now and then. */
async function record(
  folder: string,
  seed: number,
  lost: (operation: Operation) => boolean,
): Promise<Recorded[]> {
  const out: Recorded[] = [];
  const files = recording(folder, out, lost);
  const begin = async (): Promise<Store> => {
    // Emptied every few calls, since that is where the order of syncs matters.
    const store = new FileStore({ directory: join(folder, "store") }, { files, logBytesMax: 12_000 });
    await store.open();
    return store;
  };
  const chance = createChance(seed);
  const model = memory();
  const draw = new Draw(chance, model);
  let store = await begin();
  for (let call = 0; call < 90; call++) {
    if (chance.percent(4)) {
      await store.close();
      store = await begin();
    }
    const operation = await draw.next();
    const wanted = await operation.call(model);
    await operation.call(store);
    draw.heard(operation, wanted);
    out.push({ kind: "answer", contents: await readAll(model) });
  }
  await store.close();
  return out;
}

/** Lays down one of the things a cut may leave. */
function layImage(place: string, disks: ReadonlyMap<string, Disk>, random: Random): void {
  mkdirSync(place);
  const folders = new Set([...disks.keys()]);
  const lay = (folder: string): void => {
    const disk = disks.get(folder);
    for (const [name, bytes] of disk?.image(random) ?? []) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (folders.has(path)) {
        mkdirSync(join(place, path));
        lay(path);
      } else writeFileSync(join(place, path), bytes);
    }
  };
  lay("");
}

/** What is wrong with the images of a recording; nothing if each is as it must be. */
async function judge(recorded: readonly Recorded[], seed: number, images: number): Promise<string[]> {
  const problems: string[] = [];
  const place = scratch();
  const cuts = Array.from({ length: images }, (_, index) => {
    const random = createRandom(seed * 1_000 + index);
    return { random, at: random.below(recorded.length + 1) };
  }).sort((one, other) => one.at - other.at);
  const disks = new Map<string, Disk>([["", new Disk()]]);
  const nothing = await readAll(memory());
  const answers = recorded.flatMap((one) => (one.kind === "answer" ? [one.contents] : []));
  let [done, answered] = [0, 0];
  for (const { random, at } of cuts) {
    for (; done < at; done++) {
      const one = recorded[done] as Recorded;
      if (one.kind === "answer") answered++;
      else if (one.kind === "folder") disks.set(one.folder, new Disk());
      else for (const operation of one.operations) disks.get(one.folder)?.apply(operation);
    }
    const directory = join(place, "image");
    layImage(directory, disks, random);
    const store = new FileStore({ directory: join(directory, "store") });
    const found = await store
      .open()
      .then(() => readAll(store))
      .catch(String);
    await store.close().catch(() => {});
    const before = answered === 0 ? nothing : answers[answered - 1];
    if (found !== before && found !== answers[answered])
      problems.push(`after ${at} of ${recorded.length}: ${found.slice(0, 300)}`);
    rmSync(directory, { recursive: true });
  }
  rmSync(place, { recursive: true });
  return problems;
}

async function problemsOf(
  seed: number,
  images: number,
  lost: (operation: Operation) => boolean = () => false,
): Promise<string[]> {
  const folder = scratch();
  try {
    return await judge(await record(folder, seed, lost), seed, images);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test.each([1, 2, 3, 4])(
  "I1: whatever a power cut leaves of recording %i is what was answered",
  async (seed) => {
    expect(await problemsOf(seed, 120)).toEqual([]);
  },
);

test.each<[string, (operation: Operation) => boolean]>([
  ["does not sync its log", (one) => one.kind === "sync" && one.name === "intents.jsonl"],
  ["does not sync its folders", (one) => one.kind === "syncFolder"],
  ["does not sync its journals", (one) => one.kind === "sync" && one.name.endsWith(".journal.jsonl")],
  ["does not sync its runs' files", (one) => one.kind === "sync" && /^[^.]+\.json$/.test(one.name)],
])("a store that %s is found out", async (_, lost) => {
  const problems: string[] = [];
  for (let seed = 1; seed <= 4 && problems.length === 0; seed++)
    problems.push(...(await problemsOf(seed, 120, lost)));
  expect(problems.length).toBeGreaterThan(0);
});
