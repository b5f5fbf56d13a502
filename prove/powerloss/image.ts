/**
 * Judging one image: the production store must open it as it is, hold every acknowledged step and change and nothing that
 * never was, pass SQLite's own check of every page, and take one more step; and every backup in it must be a good one.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Chronicle } from "../kill/chronicle.ts";
import { settle, settleAt } from "../kill/judge.ts";
import { backupProblems } from "../kill/judge-backups.ts";
import { activeVersion, changeProblems, findRuns, readDigests } from "../kill/judge-changes.ts";
import type { Image } from "./disk.ts";
import { notes, recordedMachines } from "./machines.ts";
import { storeName } from "./recording.ts";

/** The digest of every step of every run, by checkpoint. */
export type Journals = ReadonlyMap<string, ReadonlyMap<number, string>>;

const tenant = "default";

/** The digests of all journals in a store that is open. */
export async function readJournals(store: Store): Promise<Journals> {
  const journals = new Map<string, ReadonlyMap<number, string>>();
  for (const { run } of await store.findRuns({ tenant, limit: 1_000_000 }))
    journals.set(run, await readDigests(store, run));
  return journals;
}

export interface ImageScene {
  readonly folder: string;
  /** What was said before the cut. */
  readonly chronicle: Chronicle;
  /** What there is at the end of the recording. */
  readonly whole: Journals;
  readonly random: Random;
}

/** What is wrong with an image, in one line; nothing if it is as it must be. */
export async function imageProblem(image: Image, scene: ImageScene): Promise<string | undefined> {
  const place = join(scene.folder, "image");
  mkdirSync(place);
  try {
    const path = join(place, storeName);
    for (const [name, bytes] of image) writeFileSync(join(place, name), bytes);
    layIndex(path, scene.random);
    return (await contentProblem(path, scene)) ?? (await goOnProblem(path, scene)) ?? pageProblem(path);
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

async function contentProblem(path: string, { chronicle, whole }: ImageScene): Promise<string | undefined> {
  const store = sqlite(path);
  await store.open();
  try {
    const found = await readJournals(store);
    for (const [run, digests] of chronicle.stands) {
      const journal = found.get(run);
      if (journal === undefined && (chronicle.removed.has(run) || chronicle.mayBeGone(run))) continue;
      const [acked, newest] = [Math.max(...digests.keys()), Math.max(0, ...(journal?.keys() ?? []))];
      if (newest < acked) return `lost: ${run} was acknowledged up to ${acked} and has ${newest}`;
      if (journal?.get(acked) !== undefined && journal.get(acked) !== digests.get(acked))
        return `changed: ${run} has another step ${acked} than was acknowledged`;
    }
    for (const [run, journal] of found) {
      // What was removed or pruned later is not known any more.
      const known = whole.get(run) ?? new Map<number, string>();
      const first = Math.min(...known.keys());
      const odd = [...journal].find(([seq, digest]) => seq >= first && digest !== known.get(seq));
      if (odd !== undefined) return `invented: ${run} has a step ${odd[0]} that never was`;
    }
    return undefined;
  } finally {
    await store.close();
  }
}

/**
 * Opens it as the next process would, lets everything pending go on, and takes one more step. Then changes and backups are
 * judged as `prove:kill` judges them.
 */
async function goOnProblem(path: string, { chronicle }: ImageScene): Promise<string | undefined> {
  const observer = sqlite(path);
  await observer.open();
  const catalogVersion = await activeVersion(observer, "swap");
  const tools = { say: () => {}, wait: async () => {} };
  const machines = () => recordedMachines(tools, Math.max(chronicle.deploying, catalogVersion));
  const runtime = await createRuntime({ store: sqlite(path), machines: machines() });
  try {
    const pending = await settle(observer);
    if (pending.length > 0) return `K8: still waiting: ${pending.join(", ")}`;
    const { runs, heads, unreadable } = await findRuns(runtime, observer);
    const scene = { runtime, observer, heads, runs, chronicle };
    const problems = [...unreadable, ...(await changeProblems(scene, catalogVersion))];
    const directory = dirname(path);
    const copies = await backupProblems({ directory, chronicle, runs, machines, settle: settleAt });
    problems.push(...copies.problems);
    return problems[0] ?? (await oneMoreProblem(runtime));
  } finally {
    await observer.close();
    await runtime.close();
  }
}

async function oneMoreProblem(runtime: Runtime): Promise<string | undefined> {
  const run = await runtime.start(notes, { id: "notes" });
  const before = (await run.state()).context.notes.length;
  const { outcome } = await (await run.send("note", "one more")).handled();
  const { length } = (await run.state()).context.notes;
  return outcome === "taken" && length === before + 1 ? undefined : `one more step was ${outcome}`;
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
