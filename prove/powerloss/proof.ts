/**
 * The proof: recordings of real work, a power cut after any operation of each, and every image that is drawn judged.
 * Each image is drawn from a seed of its own, and each recording too.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlite } from "holdfast/sqlite";
import { createRandom } from "../../test/generate/random.ts";
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
  const { seed, images, steps, plant, progress } = options;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-powerloss-"));
  const problems: string[] = [];
  const figures = { images: 0, recordings: 0, operations: 0, syncs: 0, acknowledged: 0, files: 0 };
  try {
    for (let first = 0; first < images; first += imagesPerRecording) {
      const place = join(folder, `recording-${first}`);
      mkdirSync(place);
      progress(`${figures.images} of ${images} images, recording`);
      const synchronous = plant === "normal" ? "normal" : "full";
      const recording = planted(record({ seed: seed + first, steps, synchronous, folder: place }), plant);
      figures.recordings++;
      figures.operations += recording.operations.length;
      figures.syncs += recording.operations.filter(({ kind }) => kind === "sync").length;
      const count = Math.min(imagesPerRecording, images - first);
      for await (const one of judgeImages(recording, count)) {
        figures.images++;
        figures.acknowledged += one.acknowledged;
        figures.files += one.files;
        if (one.problem !== undefined) problems.push(`seed ${one.seed}, ${one.where}: ${one.problem}`);
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
async function* judgeImages(recording: Recording, count: number): AsyncGenerator<Judged> {
  const { operations } = recording;
  const whole = await wholeJournals(recording);
  const cuts = Array.from({ length: count }, (_, index) => {
    const random = createRandom(recording.seed + index);
    return { seed: recording.seed + index, random, at: drawCut(random, operations) };
  }).sort((one, other) => one.at - other.at);
  const folder = scratchFolder();
  const disk = new Disk();
  const acked = new Map<string, { seq: number; digest: string }>();
  let done = 0;
  try {
    for (const { seed, random, at } of cuts) {
      for (; done < at; done++) {
        const operation = operations[done] as Operation;
        disk.apply(operation);
        if (operation.kind === "ack") acked.set(operation.run, operation);
      }
      const image = disk.image(random);
      const problem = await imageProblem(image, { folder, acked, whole, random });
      const where = `after operation ${at} of ${operations.length}`;
      const acknowledged = [...acked.values()].reduce((sum, { seq }) => sum + seq, 0);
      yield { seed, where, problem, acknowledged, files: image.size };
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One cut in four is among the first operations, where the file is made; it is a small part of any recording. */
function drawCut(random: ReturnType<typeof createRandom>, operations: readonly Operation[]): number {
  const firstAck = operations.findIndex(({ kind }) => kind === "ack");
  return random.chance(0.25) ? random.below(firstAck + 10) : random.below(operations.length + 1);
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
    if (operation.kind === "ack") moved.splice(since, 0, operation);
    else moved.push(operation);
    if (operation.kind === "ack") since = moved.length;
  }
  return moved;
}
