/**
 * The proof: recordings of real work, a power cut after any operation of each, and every image that is drawn judged.
 * Each image is drawn from a seed of its own, and each recording too.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "holdfast/sqlite";
import { createRandom, type Random } from "../../test/generate/random.ts";
import type { Bug } from "../kill/bugs.ts";
import { Chronicle } from "../kill/chronicle.ts";
import { Disk } from "./disk.ts";
import { imageProblem, type Journals, readJournals } from "./image.ts";
import { type Operation, type Recording, record } from "./recording.ts";

export interface PowerlossOptions {
  readonly seed: number;
  readonly images: number;
  /** Steps of each recording. */
  readonly steps: number;
  /** What is wrong on purpose, to see that the proof finds it. */
  readonly plant: Plant | undefined;
  /** A bug in the process that is recorded; power is then cut where it shows, and nowhere else. */
  readonly bug?: Bug | undefined;
  /** Whether a problem is what was looked for, and no more images are needed. */
  readonly until?: (problem: string) => boolean;
  readonly progress: (text: string) => void;
}

/**
 * `normal`: the store syncs less. `no-sync`, `no-folder-sync`: syncs of the log, or of the folder, do nothing.
 * `early-ack`: it is told before it is written.
 */
export const plants = ["normal", "no-sync", "no-folder-sync", "early-ack"] as const;
export type Plant = (typeof plants)[number];

export interface PowerlossResult {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

export const imagesPerRecording = 500;

/** Judges so many images; says what was found, and of how much. */
export async function provePowerloss(options: PowerlossOptions): Promise<PowerlossResult> {
  const { seed, images, steps, plant, bug, progress, until = () => false } = options;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-powerloss-"));
  const problems: string[] = [];
  const figures = { images: 0, recordings: 0, operations: 0, syncs: 0, acknowledged: 0, files: 0 };
  try {
    for (let first = 0; first < images && !problems.some(until); first += imagesPerRecording) {
      const place = join(folder, `recording-${first}`);
      mkdirSync(place);
      progress(`${figures.images} of ${images} images, recording`);
      const synchronous = plant === "normal" ? "normal" : "full";
      const recording = planted(
        record({ seed: seed + first, steps, synchronous, folder: place, bug: bug?.name }),
        plant,
      );
      figures.recordings++;
      figures.operations += recording.operations.length;
      figures.syncs += recording.operations.filter(({ kind }) => kind === "sync").length;
      const count = Math.min(imagesPerRecording, images - first);
      for await (const one of judgeImages(recording, count, bug?.word)) {
        figures.images++;
        figures.acknowledged += one.acknowledged;
        figures.files += one.files;
        if (one.problem !== undefined) problems.push(`seed ${one.seed}, ${one.where}: ${one.problem}`);
        if (problems.some(until)) break;
        if (figures.images % 10 === 0)
          progress(`${figures.images} of ${images} images, ${problems.length} problems`);
      }
      rmSync(place, { recursive: true });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return { problems, figures };
}

/** Images are written where writing is cheap: nothing is asked of that disk but to hold them. */
function scratchFolder(): string {
  const memory = "/dev/shm";
  return mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "holdfast-image-"));
}

interface Judged {
  readonly seed: number;
  readonly where: string;
  readonly problem: string | undefined;
  readonly acknowledged: number;
  readonly files: number;
}

/** Draws power cuts over the whole recording and judges them in the order of its operations. */
async function* judgeImages(recording: Recording, count: number, only?: string): AsyncGenerator<Judged> {
  const { operations } = recording;
  const whole = await wholeJournals(recording);
  const cuts = Array.from({ length: count }, (_, index) => {
    const random = createRandom(recording.seed + index);
    return { seed: recording.seed + index, random, at: drawCut(random, operations, only) };
  }).sort((one, other) => one.at - other.at);
  const folder = scratchFolder();
  const disk = new Disk();
  const chronicle = new Chronicle();
  let done = 0;
  try {
    for (const { seed, random, at } of cuts) {
      for (; done < at; done++) {
        const operation = operations[done] as Operation;
        disk.apply(operation);
        if (operation.kind === "said") chronicle.read(operation.line.split(" "));
      }
      const image = disk.image(random);
      const problem = await imageProblem(image, { folder, chronicle, whole, random });
      const where = `after operation ${at} of ${operations.length}`;
      const acknowledged = [...chronicle.stands.values()].reduce((sum, { size }) => sum + size, 0);
      yield { seed, where, problem, acknowledged, files: image.size };
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * One cut in four is among the first operations, where the file is made: it is a small part of any recording. One in three is
 * in the middle of a change, or right after it was told: each kind of change is as likely as any other.
 */
function drawCut(random: Random, operations: readonly Operation[], only: string | undefined): number {
  const kind = random.next();
  if (only === undefined && kind < 0.25) return random.below(operations.findIndex(isSaid) + 10);
  const spans = only !== undefined || kind < 0.6 ? changesIn(operations) : [];
  if (spans.length === 0) return random.below(operations.length + 1);
  const word = only ?? random.pick([...new Set(spans.map((span) => span.word))]);
  const { from, to } = random.pick(spans.filter((span) => span.word === word));
  return random.chance(0.5) ? to : random.between(from, to);
}

const isSaid = ({ kind }: Operation): boolean => kind === "said";

/** The words with which changes are acknowledged. */
const changeWords: ReadonlySet<string> = new Set(
  "back forked migrated deployed held removed retained pruned backed".split(" "),
);

/** Where changes were told, and from where on: what was said before. */
function changesIn(operations: readonly Operation[]): { word: string; from: number; to: number }[] {
  const spans: { word: string; from: number; to: number }[] = [];
  let from = 0;
  for (const [index, operation] of operations.entries()) {
    if (operation.kind !== "said") continue;
    const [word = ""] = operation.line.split(" ");
    if (changeWords.has(word)) spans.push({ word, from, to: index + 1 });
    from = index + 1;
  }
  return spans;
}

async function wholeJournals({ path }: Recording): Promise<Journals> {
  const store = sqlite(path);
  await store.open();
  const journals = await readJournals(store);
  await store.close();
  return journals;
}

/** The recording with the planted fault in it. */
function planted(recording: Recording, plant: Plant | undefined): Recording {
  const { operations } = recording;
  const without = (isLost: (operation: Operation) => boolean) => ({
    ...recording,
    operations: operations.filter((operation) => !isLost(operation)),
  });
  if (plant === "no-sync")
    return without((operation) => operation.kind === "sync" && operation.name.endsWith("-wal"));
  if (plant === "no-folder-sync") return without(({ kind }) => kind === "syncFolder");
  return plant === "early-ack" ? { ...recording, operations: earlier(operations) } : recording;
}

/** Each acknowledgement before the writes it waited for. */
function earlier(operations: readonly Operation[]): Operation[] {
  const moved: Operation[] = [];
  let since = 0;
  for (const operation of operations) {
    if (operation.kind === "said") moved.splice(since, 0, operation);
    else moved.push(operation);
    if (operation.kind === "said") since = moved.length;
  }
  return moved;
}
