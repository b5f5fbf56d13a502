/**
 * A process on a disk that becomes full. It works until the store says no, sees that everybody who waits is told, makes
 * room, and goes on. It prints one JSON object with what it saw.
 *
 * `full-disk.ts FOLDER LEAVE`: a small disk of which it leaves so many bytes free before it works. With `grow` in place of
 * a number there is no disk to fill, and it only works.
 */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, defineMachine, isHoldfastError, type Runtime } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { createRandom } from "../generate/random.ts";

const [folder = "", leave = "0"] = process.argv.slice(2);
const ballast = join(folder, "ballast");
const path = join(folder, "runs.db");
const random = createRandom(Number(leave) || 1);

const notes = defineMachine<{ notes: string[]; rang: boolean }>({
  id: "notes",
  start: { notes: [], rang: false },
  initial: "open",
  on: { note: { update: (draft, { event }) => void draft.notes.push(event.data as string) } },
  states: {
    open: {
      after: {
        "1ms": {
          target: "rung",
          update: (draft) => {
            draft.rang = true;
          },
        },
      },
    },
    rung: {},
  },
});

const open = (): Promise<Runtime> =>
  createRuntime({ store: sqlite(path), machines: [{ machine: notes as never }] });
const textOf = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(random.between(33, 126))).join("");

/** Fills the disk, then gives back so many bytes. */
function fill(): void {
  const file = openSync(ballast, "w");
  let size = 0;
  try {
    for (;;) size += writeSync(file, Buffer.alloc(4_096));
  } catch {
    // That was the point.
  }
  closeSync(file);
  rmSync(ballast);
  const again = openSync(ballast, "w");
  writeSync(again, Buffer.alloc(Math.max(0, size - Number(leave))));
  closeSync(again);
}

interface Failure {
  readonly code: string;
  readonly message: string;
}

/** The error, or what it was instead. */
async function failureOf(work: () => Promise<unknown>): Promise<Failure | "succeeded"> {
  try {
    await work();
    return "succeeded";
  } catch (error) {
    return {
      code: isHoldfastError(error) ? error.code : `none (${error})`,
      message: (error as Error).message,
    };
  }
}

const report: Record<string, unknown> = {};
const acked: string[] = [];
if (leave !== "grow") fill();

let runtime: Runtime | undefined;
report.work = await failureOf(async () => {
  runtime = await open();
  const run = await runtime.start(notes, { id: "notes" });
  for (let n = 0; n < 2_000; n++) {
    const text = textOf(random.pick([20, 700, 5_000]));
    await run.send("note", text);
    acked.push(text);
  }
});
report.acked = acked.length;
if (leave !== "grow") {
  // Whoever comes while it is full is told, too, and nothing hangs.
  report.later = await failureOf(async () => {
    runtime ??= await open();
    const run = await runtime.start(notes, { id: "notes" });
    await run.send("note", textOf(9_000));
    await run.send("note", textOf(9_000));
    await run.send("note", textOf(99_000));
  });
  rmSync(ballast);
  // With room again: in the same runtime if that can go on, and in a new one.
  report.same = await failureOf(async () => {
    runtime ??= await open();
    const run = await runtime.start(notes, { id: "notes" });
    await run.send("note", "same");
  });
  await runtime?.close().catch(() => {});
  runtime = await open();
  const run = await runtime.start(notes, { id: "notes" });
  await run.send("note", "after");
  await run.waitFor("rung");
  const kept = (await run.state()).context.notes;
  report.lost = acked.filter((text) => !kept.includes(text)).length;
  report.doubled = kept.length - new Set(kept).size;
  report.last = kept.at(-1);
}
await runtime?.close();
console.log(JSON.stringify(report));
