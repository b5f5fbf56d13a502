/**
 * The proof: processes that share one PostgreSQL write to boards and take leases there, and are killed and replaced. Then what
 * each was answered is held against cells that nobody shares, and who was in a critical section against who else was.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "holdfast";
import { openBoard } from "../../src/agent/board/open.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { createRandom } from "../../test/generate/random.ts";
import { startServer } from "../../test/postgres/server.ts";
import { History } from "../linearizable/history.ts";
import { board, type CellName, cellOf, cellsBoard, doors } from "./boards.ts";
import { findBug } from "./bugs.ts";
import { Crew } from "./crew.ts";
import { Sections } from "./sections.ts";

export interface ProofOptions {
  readonly seed: number;
  readonly processes: number;
  /** Of each process. */
  readonly writes: number;
  readonly leases: number;
  readonly bug?: string;
  readonly progress: (text: string) => void;
}

export interface ProofResult {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** So many writes of each process on one board. */
const perBoard = 20;
/** Between two kills; longer in longer proofs, where new processes would take all there is of the processor. */
const [peaceMsMin, peaceMsMax] = [1_500, 4_000];
const peaceOf = (writes: number): number => Math.min(Math.max(1, writes / 100), 5);
/** Turns of others that one may wait for: each other process has one before it, and some while its question is on the way. */
const turnsPerProcess = 2;
/** Only end what hangs: how long nothing may happen. */
const patienceMs = 90_000;
/** What a board may hold when nothing is going on, however long it has lived. */
const restingBytesMax = 4_096;

export async function proveBoard(options: ProofOptions): Promise<ProofResult> {
  const { seed, processes, writes, leases: sections, bug } = options;
  const folder = mkdtempSync(join(tmpdir(), "holdfast-boards-"));
  const server = await startServer({ max_connections: "200" });
  const url = server.url("postgres");
  const [history, ledger, problems] = [new History(), new Sections(), [] as string[]];
  const env = { NODE_COMPILE_CACHE: join(folder, "compiled"), ...process.env };
  const world = { plan: { seed, url, perBoard }, writes, sections, bug, env, history, ledger, problems };
  const crew = new Crew(world);
  try {
    await crew.start(processes);
    const killing = killAndReplace(crew, options, problems);
    await within(crew, problems, crew.ended());
    await killing;
    await crew.close();
    const held = problems.length === 0 ? await audit(url, options, history, problems) : {};
    problems.push(...ledger.check(turnsPerProcess * processes));
    // That no order fits takes long to find out where much is wrong: a hunt that has what it looks for does without.
    if (bug === undefined || !problems.some((problem) => problem.includes(findBug(bug).shows)))
      problems.push(...history.check());
    const { operations, lost } = history.figures;
    const figures = {
      ...{ processes, writes: crew.writes, cells: history.cells.size, operations, lost },
      ...{ kills: crew.kills, "put out": crew.putOut },
      ...{ ...ledger.figures, ...held },
    };
    return { problems, figures };
  } finally {
    await crew.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Kills one after the other while there is work; the next one is ready before. */
async function killAndReplace(crew: Crew, options: ProofOptions, problems: readonly string[]): Promise<void> {
  const random = createRandom(options.seed);
  const all = options.processes * options.writes;
  for (;;) {
    const next = await crew.standBy();
    const peaceMs = random.between(peaceMsMin, peaceMsMax) * peaceOf(options.writes);
    await new Promise((resolve) => setTimeout(resolve, peaceMs));
    options.progress(`${crew.writes} of ${all} writes, ${crew.kills} kills`);
    const isOver = crew.left === "" || problems.length > 0;
    if (isOver || !(await crew.replace((places) => random.below(places), next))) return crew.dismiss(next);
  }
}

/** Says so when nothing has happened for too long. */
async function within(crew: Crew, problems: string[], work: Promise<void>): Promise<void> {
  let before = crew.left;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    if (crew.left === before) {
      problems.push(`nothing happens any more: ${crew.left}`);
      resolve();
    }
    before = crew.left;
  }, patienceMs);
  await Promise.race([work, promise]);
  clearInterval(timer);
}

/** Reads every cell once more, every change from the first on, and what boards hold in the end. */
async function audit(
  url: string,
  { writes }: ProofOptions,
  history: History,
  problems: string[],
): Promise<Record<string, number>> {
  const runtime = await createRuntime({ store: postgres(url), machines: [board] });
  const names = ["register", "counter", "lock", "tally"] as const satisfies CellName[];
  const boards = new Map<string, readonly CellName[]>([[doors, ["guarded"]]]);
  for (let write = 0; write < writes; write += perBoard) boards.set(cellsBoard(write, perBoard), names);
  let [changes, bytes] = [0, 0];
  for (const [id, keys] of boards) {
    const opened = await openBoard(runtime, board, { id, agent: "auditor" });
    for (const key of keys) {
      const said = {
        id: `audit of ${key} of ${id}`,
        client: "auditor",
        run: cellOf(id, key),
        insists: false,
      };
      const from = Number(process.hrtime.bigint());
      history.hear(JSON.stringify({ ...said, operation: { kind: "look" }, from }));
      const { value = 0 } = await opened.read(key);
      history.hear(JSON.stringify({ id: said.id, until: Number(process.hrtime.bigint()), answer: value }));
    }
    const { context } = await opened.run.state();
    const { version, grants, queue, ...rest } = context;
    bytes = Math.max(bytes, JSON.stringify(rest).length);
    changes += version;
    let next = 1;
    if (version > 0)
      for await (const change of opened.subscribe({ from: 0 })) {
        if (change.version !== next++)
          problems.push(`${id}: change ${change.version} came instead of ${next - 1}`);
        if (change.version >= version) break;
      }
  }
  if (bytes > restingBytesMax) problems.push(`a board holds ${bytes} bytes when nothing is going on`);
  await runtime.close();
  return { changes, "resting bytes": bytes };
}

/** How many trials a bug has to show itself in. */
const trialsMax = 4;

/** Whether a bug that was planted is caught, and how. */
export async function huntBug(options: ProofOptions & { readonly bug: string }): Promise<string> {
  const { shows, among } = findBug(options.bug);
  const size = among === "cells" ? { writes: 30, leases: 1 } : { writes: 1, leases: 30 };
  for (let trial = 0; trial < trialsMax; trial++) {
    const { problems } = await proveBoard({ ...options, ...size, processes: 4, seed: options.seed + trial });
    const found = problems.find((problem) => problem.includes(shows));
    if (found !== undefined) return `caught: ${options.bug}: ${found.slice(0, 300)}`;
    if (problems.length > 0) return `NOT CAUGHT: ${options.bug}: ${problems[0]}`;
  }
  return `NOT CAUGHT: ${options.bug}: nothing was found in ${trialsMax} trials`;
}
