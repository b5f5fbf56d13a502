/** What a fleet of Holdfast does on one database: many runs stepped by several members, and one of them killed. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { homesOf } from "../../src/store/homes.ts";
import { shardOf } from "../../src/store/shard.ts";
import { median } from "../process.ts";
import type { Answer, Kind, News, Order } from "./member.ts";
import { cpuMsOf, Witness } from "./witness.ts";
import { namesOf, type Size } from "./workload.ts";

const script = fileURLToPath(new URL("./member.ts", import.meta.url));

/** Where errands are heard to be. */
type Heard = (where: "out" | "back", run: string) => void;

class Member {
  readonly #process: ChildProcess;
  #answered: (answer: Answer) => void = () => {};
  #failed: (error: unknown) => void = () => {};

  private constructor(child: ChildProcess, heard: Heard) {
    this.#process = child;
    child.on("message", (news: News) => {
      if (news.news === "done") this.#answered(news);
      else heard(news.news, news.run);
    });
    child.on("exit", (code, signal) => this.#failed(new Error(`A member ended with ${signal ?? code}`)));
  }

  /** One that is up. */
  static async start(url: string, heard: Heard = () => {}, kind: Kind = "busy"): Promise<Member> {
    // Without flags it runs what was built, as users do.
    const member = new Member(fork(script, [url, kind], { execArgv: [] }), heard);
    await member.#answer();
    return member;
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  #answer(): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
    });
  }

  do(order: Order): Promise<Answer> {
    const answer = this.#answer();
    this.#process.send(order);
    return answer;
  }

  async close(): Promise<void> {
    const { exitCode, signalCode } = this.#process;
    if (exitCode !== null || signalCode !== null) return;
    const gone = new Promise<void>((resolve) => this.#process.once("exit", () => resolve()));
    this.do({ order: "close" }).catch(() => {});
    await gone;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}

/** Steps of a fleet in a second, and how long one takes. */
export interface FleetFigures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Of all members, for a step; NaN where the server cannot count them. */
  readonly statements: number;
  /** Processor time for a step, of all members and of the server. */
  readonly cpuUs: number;
  readonly serverCpuUs: number;
}

/** Who sends a run its events: the member that is its home, any of them, or the last one, which is no home of any. */
export type Sender = "home" | "any" | "client";

/** Many runs, stepped by several members. */
export async function measureFleet(
  server: { readonly url: string; readonly pid: number },
  count: number,
  size: Size,
  sender: Sender,
): Promise<FleetFigures> {
  const members: Member[] = [];
  const witness = await Witness.of(server.url);
  try {
    while (members.length < count) {
      const isClient = sender === "client" && members.length === count - 1;
      members.push(await Member.start(server.url, () => {}, isClient ? "client" : "busy"));
    }
    const met = await Promise.all(members.map((member) => member.do({ order: "meet", members: count })));
    const shareOf = {
      home: sharesByHome(members, met[0] as Answer),
      any: sharesInTurn(count),
      client: ((names, index) => (index === count - 1 ? names : [])) satisfies ShareOf,
    }[sender];
    const look = async (): Promise<Sight> => ({
      statements: (await witness.statements()) ?? Number.NaN,
      cpuMs: members.reduce((sum, { pid }) => sum + cpuMsOf(pid as number), 0),
      serverCpuMs: cpuMsOf(server.pid),
    });
    const figures = await step(members, shareOf, size, look);
    const { counts = [] } = await (members[0] as Member).do({ order: "count", runs: namesOf(size, "run") });
    if (counts.some((steps) => steps !== size.steps)) throw new Error("A fleet lost or doubled a step");
    return figures;
  } finally {
    await witness.close();
    for (const member of members) await member.close();
  }
}

/** The runs of the member of this index. */
type ShareOf = (names: readonly string[], index: number) => readonly string[];

const sharesInTurn =
  (count: number): ShareOf =>
  (names, index) =>
    names.filter((_, place) => place % count === index);

function sharesByHome(members: readonly Member[], { members: known = [] }: Answer): ShareOf {
  const homes = homesOf(known);
  const epochOf = ({ pid }: Member): number | undefined =>
    known.find(({ worker }) => worker.split(" ")[1] === String(pid))?.epoch;
  return (names, index) =>
    names.filter((run) => homes[shardOf({ tenant: "default", run })] === epochOf(members[index] as Member));
}

/** What was done until now. */
interface Sight {
  readonly statements: number;
  readonly cpuMs: number;
  readonly serverCpuMs: number;
}

async function step(
  members: readonly Member[],
  shareOf: ShareOf,
  size: Size,
  look: () => Promise<Sight>,
): Promise<FleetFigures> {
  const each = (runs: readonly string[], order: (share: readonly string[]) => Order) =>
    Promise.all(members.map((member, index) => member.do(order(shareOf(runs, index)))));
  const cold = namesOf({ runs: Math.min(size.runs, 200), steps: 0 }, "warm-up");
  const runs = namesOf(size, "run");
  for (const names of [cold, runs])
    await each(names, (share) => ({ order: "start", machine: "counter", runs: share }));
  await each(cold, (share) => ({ order: "take", runs: share, steps: size.steps }));
  const before = await look();
  const begun = performance.now();
  const answers = await each(runs, (share) => ({ order: "take", runs: share, steps: size.steps }));
  const ms = performance.now() - begun;
  const after = await look();
  const laps = answers.flatMap((answer) => answer.laps ?? []).toSorted((one, other) => one - other);
  if (laps.length !== size.runs * size.steps) throw new Error(`A fleet told of ${laps.length} steps`);
  return {
    perSecond: (laps.length * 1_000) / ms,
    p50: median(laps),
    p99: laps[Math.floor(laps.length * 0.99)] as number,
    statements: (after.statements - before.statements) / laps.length,
    cpuUs: ((after.cpuMs - before.cpuMs) * 1_000) / laps.length,
    serverCpuUs: ((after.serverCpuMs - before.serverCpuMs) * 1_000) / laps.length,
  };
}

/** Milliseconds from the end of a member until the first of its runs, and all of them, went on elsewhere. */
export interface RecoveryFigures {
  readonly firstMs: number;
  readonly allMs: number;
}

/** Kills a member that has an activity of every run under way, while another one is up. */
export async function measureRecovery(url: string, count: number): Promise<RecoveryFigures> {
  const runs = namesOf({ runs: count, steps: 0 }, "errand");
  const back = new Map<string, number>();
  const [areOut, areBack] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const out = new Set<string>();
  const survivor = await Member.start(url, (where, run) => {
    if (where === "back" && !back.has(run)) back.set(run, performance.now());
    if (back.size === count) areBack.resolve();
  });
  const heard: Heard = (where, run) => {
    if (where === "out") out.add(run);
    if (out.size === count) areOut.resolve();
  };
  const victim = await Member.start(url, heard, "idle");
  try {
    await Promise.all([survivor, victim].map((member) => member.do({ order: "meet", members: 2 })));
    await victim.do({ order: "start", machine: "errand", runs });
    await areOut.promise;
    if (back.size > 0) throw new Error("A run went on before its member was killed");
    const killed = performance.now();
    victim.kill();
    await areBack.promise;
    const times = [...back.values()].map((at) => at - killed);
    return { firstMs: Math.min(...times), allMs: Math.max(...times) };
  } finally {
    victim.kill();
    await survivor.close();
  }
}
