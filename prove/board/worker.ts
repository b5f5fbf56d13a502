/**
 * A process of the proof: `worker.ts PLAN` has a runtime of its own on the PostgreSQL that all share, and does two things at once:
 * it writes to cells, and it takes leases. What it is about to do it says before, and what came of it at once.
 */
import { writeSync } from "node:fs";
import { createRuntime, type Runtime } from "holdfast";
import { type OpenBoard, openBoard } from "../../src/agent/board/open.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { leavesDoubt } from "../linearizable/access.ts";
import type { Answer, Operation } from "../linearizable/cell.ts";
import type { Said } from "../linearizable/client.ts";
import { awaitBeginning } from "../linearizable/process.ts";
import { board, type CellName, cellOf, cellsBoard, doors } from "./boards.ts";
import { putOutCode } from "./put-out.ts";
import type { SectionSaid } from "./sections.ts";

export interface WorkerPlan {
  readonly seed: number;
  readonly url: string;
  /** No two processes ever have the same. */
  readonly name: string;
  readonly number: number;
  /** The writes and leases that are left to it, by number, and how many writes there are to a board. */
  readonly writes: { readonly from: number; readonly to: number };
  readonly sections: { readonly from: number; readonly to: number };
  readonly perBoard: number;
}

type Opened = OpenBoard<typeof board.definition.keys, "door" | "window">;

/** How long a lease is, of which the critical section takes a small part; and one that is overslept. */
const [leaseMs, shortMs] = [3_000, 150];

const steady = (): number => Number(process.hrtime.bigint());
const say = (line: Said | SectionSaid | { readonly done: "write" | "section" }) =>
  writeSync(1, `${JSON.stringify(line)}\n`);
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const numberOf = (value: unknown): number => (value as number | undefined) ?? 0;

class Worker {
  readonly #plan: WorkerPlan;
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #boards = new Map<string, Promise<Opened>>();
  #count = 0;

  constructor(plan: WorkerPlan, runtime: Runtime) {
    this.#plan = plan;
    this.#runtime = runtime;
    this.#random = createRandom(plan.seed * 1_000 + plan.number);
  }

  #open(id: string): Promise<Opened> {
    const opened = this.#boards.get(id) ?? openBoard(this.#runtime, board, { id, agent: this.#plan.name });
    this.#boards.set(id, opened);
    return opened;
  }

  /** Does one operation, as its client sees it. */
  async #perform(run: string, operation: Operation, work: () => Promise<Answer | undefined>): Promise<void> {
    const id = `${this.#plan.name} ${++this.#count}`;
    say({ id, client: this.#plan.name, run, operation, from: steady(), insists: false });
    const answer = await work();
    if (answer !== undefined) say({ id, until: steady(), answer });
  }

  /** A value that nobody else ever writes. */
  #unique(): number {
    return (this.#plan.number + 1) * 1_000_000 + ++this.#count;
  }

  async write(): Promise<void> {
    const { writes, perBoard } = this.#plan;
    const kinds = [this.#register, this.#add, this.#compare, this.#think];
    for (let write = writes.from; write < writes.to; write++) {
      const id = cellsBoard(write, perBoard);
      const opened = await this.#open(id);
      await this.#random.pick(kinds).call(this, opened, id);
      say({ done: "write" });
      if (this.#random.chance(0.4))
        await this.#look(opened, id, this.#random.pick(["register", "counter", "lock", "tally"] as const));
    }
  }

  async #look(opened: Opened, id: string, key: CellName): Promise<void> {
    await this.#perform(cellOf(id, key), { kind: "look" }, async () =>
      numberOf((await opened.read(key)).value),
    );
  }

  async #register(opened: Opened, id: string): Promise<void> {
    const value = this.#unique();
    await this.#perform(cellOf(id, "register"), { kind: "write", value }, async () => {
      await opened.write("register", value);
      return null;
    });
  }

  async #add(opened: Opened, id: string): Promise<void> {
    const value = this.#random.between(1, 3);
    await this.#perform(cellOf(id, "counter"), { kind: "add", value }, async () => {
      const outcome = await opened.write("counter", value);
      return outcome.outcome === "written" ? numberOf(outcome.value) : undefined;
    });
  }

  async #compare(opened: Opened, id: string): Promise<void> {
    const { value, version } = await opened.read("lock");
    // Somebody may come in between.
    if (this.#random.chance(0.5)) await sleep(this.#random.between(1, 20));
    const to = this.#unique();
    await this.#perform(cellOf(id, "lock"), { kind: "cas", from: numberOf(value), to }, async () => {
      const { outcome } = await opened.write("lock", to, { ifVersion: version });
      return outcome === "written";
    });
  }

  async #think(opened: Opened, id: string): Promise<void> {
    await this.#perform(cellOf(id, "tally"), { kind: "add", value: 1 }, async () => {
      const change = async (current: unknown) => {
        if (this.#random.chance(0.3)) await sleep(this.#random.between(1, 10));
        return numberOf(current) + 1;
      };
      const outcome = await opened.update("tally", change, { attempts: 1_000 });
      return outcome.outcome === "written" ? numberOf(outcome.value) : undefined;
    });
  }

  async takeLeases(): Promise<void> {
    const { sections } = this.#plan;
    const opened = await this.#open(doors);
    for (let number = sections.from; number < sections.to; number++) {
      if (this.#random.chance(0.08)) await this.#oversleep(opened);
      else await this.#enter(opened);
      say({ done: "section" });
    }
  }

  /** A critical section: what is read in it nobody else writes before it is over. */
  async #enter(opened: Opened): Promise<void> {
    const names = this.#random.pick([["door"], ["door"], ["window", "door"], ["window"]] as const);
    const section = `${this.#plan.name} s${++this.#count}`;
    say({ section, client: this.#plan.name, names, asked: Date.now(), ms: leaseMs });
    const lease = await opened.lease(names, { for: leaseMs, wait: "forever" });
    if (lease.outcome === "busy") throw new Error("Whoever waits for ever was told to wait no more");
    const { token, until } = lease;
    say({ section, entered: Date.now(), token, until });
    if ((names as readonly string[]).includes("door"))
      await this.#perform(cellOf(doors, "guarded"), { kind: "add", value: 1 }, async () => {
        const next = numberOf((await opened.read("guarded")).value) + 1;
        await sleep(this.#random.below(8));
        const { outcome } = await opened.write("guarded", next, { fence: token });
        if (outcome === "written") return next;
        say({ section, fenced: Date.now() });
        return undefined;
      });
    say({ section, left: Date.now() });
    await lease.release();
  }

  /** Sleeps until its lease is over, and writes as if it were not. */
  async #oversleep(opened: Opened): Promise<void> {
    const section = `${this.#plan.name} s${++this.#count}`;
    say({ section, client: this.#plan.name, names: ["door"], asked: Date.now(), ms: shortMs });
    const lease = await opened.lease("door", { for: shortMs, wait: "forever" });
    if (lease.outcome === "busy") throw new Error("Whoever waits for ever was told to wait no more");
    say({ section, entered: Date.now(), token: lease.token, until: lease.until });
    say({ section, left: Date.now() });
    await sleep(Math.max(0, lease.until - Date.now()) + 50);
    const { outcome } = await opened.write("guarded", -1, { fence: lease.token });
    say({ section, late: outcome });
  }
}

/** Whoever is put out by the others, since it had no time to give a sign of life, is replaced like one that was killed. */
function giveUp(error: unknown): void {
  if (!leavesDoubt(error)) throw error;
  process.exit(putOutCode);
}

const plan = JSON.parse(process.argv[2] ?? "") as WorkerPlan;
const { writes, sections } = JSON.parse(await awaitBeginning()) as Pick<WorkerPlan, "writes" | "sections">;
try {
  const runtime = await createRuntime({ store: postgres(plan.url), machines: [board] });
  void runtime.stopped.then((error) => error === undefined || giveUp(error));
  const worker = new Worker({ ...plan, writes, sections }, runtime);
  await Promise.all([worker.write(), worker.takeLeases()]);
  await runtime.close();
} catch (error) {
  giveUp(error);
}
