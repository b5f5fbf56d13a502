/**
 * What every contestant does, durably: one run after the other, one that grows, and many at once. A contestant is timed
 * warm, on a file of its own, and what it wrote is read back through a new connection before its figures count.
 */

/** One way to keep runs on disk. */
export interface Contestant {
  /** Opens the file, which is made if it is not there, with `synchronous=FULL`. */
  open(path: string): Promise<Opened>;
}

export interface Opened {
  /** Makes a run that counts its steps, with about 1 KB of state. */
  beginCount(run: string): Promise<void>;
  /** Takes steps of such a run, each begun when the one before is durable. */
  count(run: string, steps: number): Promise<void>;
  readCount(run: string): Promise<number>;
  /** Makes a run that keeps every message it is given. */
  beginTalk(run: string): Promise<void>;
  /** Gives it messages, one a step, each begun when the one before is durable; `turn` hears of each before it begins. */
  talk(run: string, texts: readonly string[], turn: (index: number) => void): Promise<void>;
  readTalk(run: string): Promise<readonly string[]>;
  /** A run that counts, in memory and ready to step: whatever is returned is held on to. */
  hydrate(run: string): Promise<unknown>;
  close(): Promise<void>;
}

/** How much of each workload is done. */
export interface Size {
  readonly sequential: number;
  readonly messages: number;
  readonly runs: number;
  readonly stepsOfRun: number;
  readonly idleRuns: number;
}

export const fullSize: Size = {
  sequential: 1_000,
  messages: 2_000,
  runs: 1_000,
  stepsOfRun: 10,
  idleRuns: 10_000,
};
export const quickSize: Size = { sequential: 200, messages: 400, runs: 100, stepsOfRun: 10, idleRuns: 1_000 };
/**
 * Before the clock starts, on another file: what is measured is a process that has been up for a while. After 1,000 steps
 * Node still compiles what they run; that takes a third of a step's time, and is gone after 3,000.
 */
export const warmUpSize: Size = {
  sequential: 3_000,
  messages: 300,
  runs: 1_000,
  stepsOfRun: 10,
  idleRuns: 0,
};

export interface Figures {
  readonly perSecond: number;
  readonly steps: number;
  /** Microseconds of processor time per step, the kernel's included: what a busy machine leaves as it is. */
  readonly cpuUs: number;
  /** For the conversation: milliseconds of its first and last hundred steps, and the bytes of its messages. */
  readonly firstMs?: number;
  readonly lastMs?: number;
  readonly contentBytes?: number;
}

export type WorkloadName = "sequential" | "conversation" | "many";

/** What is the same in every state that counts: about 1 KB, and not one letter a thousand times. */
export const pad: string = JSON.stringify(
  Array.from({ length: 45 }, (_, index) => `plan item ${index}: ${(index * 7919) % 1000}`),
);

/** Words for messages: enough of them that a conversation compresses as people's do, and no better. */
const words = (
  "about account after again agent all already also and answer any appears are ask back because been before being best " +
  "between booking both budget but call can cannot case change check city clear compare cost could customer data date day " +
  "delay did different does done down draft each early email enough error even every example expects fails file find first " +
  "flight follow for found from further general get give given goes good had has have help here hotel hours how however " +
  "idea important include instead into invoice issue just keep kind know last later least left less let like list little " +
  "long look made make manager many may mean meeting might missing moment money more morning most much must need never new " +
  "next no not note nothing now number offer office often old once one only open option order other our out over own page " +
  "part people perhaps person place plan please point possible price problem question quite rather reach read ready real " +
  "reason refund report request result review right said same saw say search second see seems send several shall should " +
  "show since small some soon start state still such summary sure table take team than that the their them then there these " +
  "they thing think this those ticket time today together told tomorrow too took train travel tries two under until update " +
  "use very wait want was way week well were what when where which while who why will with without work would yes yet you"
).split(" ");

/** Message number `turn`, of 400 bytes: the same every time, and like no other. */
export function messageOf(turn: number): string {
  let seed = (turn + 1) * 2_654_435_761;
  let text = `${turn}:`;
  while (text.length < 400) {
    seed = (Math.imul(seed ^ (seed >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    text += ` ${words[seed % words.length]}`;
  }
  return text.slice(0, 400);
}

export const workloads: Readonly<Record<WorkloadName, (on: Opened, size: Size) => Promise<Figures>>> = {
  /** One run, each step awaited. */
  async sequential(on, { sequential: steps }) {
    await on.beginCount("one");
    return timed(steps, () => on.count("one", steps));
  },
  /** One run that grows by a message a step, each awaited. */
  async conversation(on, { messages: steps }) {
    const texts = Array.from({ length: steps }, (_, turn) => messageOf(turn));
    await on.beginTalk("talk");
    const marks: number[] = [];
    const figures = await timed(steps, () => on.talk("talk", texts, () => marks.push(performance.now())));
    marks.push(performance.now());
    const between = (from: number, to: number) => (marks.at(to) as number) - (marks.at(from) as number);
    return {
      ...figures,
      firstMs: between(0, 100),
      lastMs: between(-101, -1),
      contentBytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    };
  },
  /** Many runs of a few steps each, all at once. */
  async many(on, { runs, stepsOfRun }) {
    const names = Array.from({ length: runs }, (_, index) => `run-${index}`);
    await Promise.all(names.map((name) => on.beginCount(name)));
    return timed(runs * stepsOfRun, () => Promise.all(names.map((name) => on.count(name, stepsOfRun))));
  },
};

async function timed(steps: number, work: () => Promise<unknown>): Promise<Figures> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: (steps * 1_000) / ms, steps, cpuUs: (user + system) / steps };
}

/** Reads back what a workload left, and goes on from there: throws unless all of it is there, once and in order. */
export async function check(workload: WorkloadName, on: Opened, size: Size): Promise<void> {
  if (workload === "conversation") {
    const texts = Array.from({ length: size.messages }, (_, turn) => messageOf(turn));
    expectSame("messages", await on.readTalk("talk"), texts);
    return;
  }
  const [names, steps] =
    workload === "sequential"
      ? [["one"], size.sequential]
      : [Array.from({ length: size.runs }, (_, index) => `run-${index}`), size.stepsOfRun];
  for (const name of names) expectSame(`the count of ${name}`, await on.readCount(name), steps);
  const [first] = names as [string, ...string[]];
  await on.count(first, 1);
  expectSame(`the count of ${first}, one step on`, await on.readCount(first), steps + 1);
}

export function expectSame(what: string, found: unknown, wanted: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one === other) return;
  throw new Error(`${what}: found ${one?.slice(0, 200)}, wanted ${other?.slice(0, 200)}`);
}
