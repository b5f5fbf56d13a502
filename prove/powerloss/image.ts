/**
 * Judging one image: the production store must open it as it is, hold every acknowledged step and nothing that never
 * was, pass SQLite's own check of every page, and take one more step.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Image } from "./disk.ts";
import { notes, recordedMachines } from "./machines.ts";
import { storeName } from "./recording.ts";

/** The digest of every step of every run, in order: entry n is step n + 1. */
export type Journals = ReadonlyMap<string, readonly string[]>;
/** The newest step of each run that was acknowledged. */
export type Acked = ReadonlyMap<string, { readonly seq: number; readonly digest: string }>;

const tenant = "default";

/** The digests of all journals in a store that is open. */
export async function readJournals(store: Store): Promise<Journals> {
  const journals = new Map<string, string[]>();
  for (const { run } of await store.findRuns({ tenant, limit: 1_000_000 })) {
    const rows = await store.readJournal({ tenant, run }, 1, 1_000_000);
    journals.set(
      run,
      rows.map(({ digest }) => digest),
    );
  }
  return journals;
}

/** What is wrong with an image, in one line; nothing if it is as it must be. */
export async function imageProblem(
  image: Image,
  { folder, acked, whole, random }: { folder: string; acked: Acked; whole: Journals; random: Random },
): Promise<string | undefined> {
  const place = join(folder, "image");
  mkdirSync(place);
  try {
    const path = join(place, storeName);
    for (const [name, bytes] of image) writeFileSync(join(place, name), bytes);
    layIndex(path, random);
    return (await contentProblem(path, acked, whole)) ?? (await goOnProblem(path)) ?? pageProblem(path);
  } catch (error) {
    return `${(error as Error).stack ?? error}`;
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** The log's index is memory that happens to have a file: after a power cut it has anything in it, or is not there. */
function layIndex(path: string, random: Random): void {
  const kind = random.below(3);
  if (kind === 0) return;
  const byte = () => (kind === 1 ? 0 : random.below(256));
  writeFileSync(`${path}-shm`, Buffer.from(Array.from({ length: 32_768 }, byte)));
}

async function contentProblem(path: string, acked: Acked, whole: Journals): Promise<string | undefined> {
  const store = sqlite(path);
  await store.open();
  try {
    const found = await readJournals(store);
    for (const [run, { seq, digest }] of acked) {
      const journal = found.get(run) ?? [];
      if (journal.length < seq) return `lost: ${run} was acknowledged up to ${seq} and has ${journal.length}`;
      if (journal[seq - 1] !== digest) return `changed: ${run} has another step ${seq} than was acknowledged`;
    }
    for (const [run, journal] of found) {
      const known = whole.get(run) ?? [];
      const odd = journal.findIndex((digest, index) => digest !== known[index]);
      if (odd >= 0) return `invented: ${run} has a step ${odd + 1} that never was`;
    }
    return undefined;
  } finally {
    await store.close();
  }
}

/** Opens it as the next process would, lets everything pending go on, and takes one more step. */
async function goOnProblem(path: string): Promise<string | undefined> {
  const runtime = await createRuntime({ store: sqlite(path), machines: recordedMachines() });
  try {
    const run = await runtime.start(notes, { id: "notes" });
    const before = (await run.state()).context.notes.length;
    const { outcome } = await (await run.send("note", "one more")).handled();
    const { length } = (await run.state()).context.notes;
    return outcome === "taken" && length === before + 1 ? undefined : `one more step was ${outcome}`;
  } finally {
    await runtime.close();
  }
}

function pageProblem(path: string): string | undefined {
  const database = new DatabaseSync(path);
  try {
    const answers = database
      .prepare("PRAGMA integrity_check")
      .all()
      .map((row) => row.integrity_check);
    return answers.join() === "ok" ? undefined : `damaged: ${answers.join("; ")}`;
  } finally {
    database.close();
  }
}
