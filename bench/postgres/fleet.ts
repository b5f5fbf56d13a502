/** What a fleet of Holdfast does on one database: many runs stepped by several members, and one of them killed. */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median } from "../process.ts";
import type { News, Order } from "./member.ts";
import { namesOf, type Size } from "./workload.ts";

const script = fileURLToPath(new URL("./member.ts", import.meta.url));

class Member {
  readonly #process: ChildProcess;
  readonly #heard: (news: News) => void;
  #answered: (news: News & { news: "done" }) => void = () => {};
  #failed: (error: unknown) => void = () => {};
  #isGone = false;

  private constructor(child: ChildProcess, heard: (news: News) => void) {
    this.#process = child;
    this.#heard = heard;
    child.on("message", (news: News) => {
      if (news.news === "done") this.#answered(news);
      else this.#heard(news);
    });
    child.on("exit", (code, signal) => {
      this.#isGone = true;
      this.#failed(new Error(`A member ended with ${signal ?? code}`));
    });
  }

  /** One that is up; it hears of errands. */
  static async start(url: string, heard: (news: News) => void = () => {}, isIdle = false): Promise<Member> {
    // What was built, as users run it.
    const child = fork(script, [url, isIdle ? "idle" : "busy"], { execArgv: [], stdio: "inherit" });
    const member = new Member(child, heard);
    await member.#answer();
    return member;
  }

  #answer(): Promise<News & { news: "done" }> {
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
    });
  }

  do(order: Order): Promise<News & { news: "done" }> {
    const answer = this.#answer();
    this.#process.send(order);
    return answer;
  }

  async close(): Promise<void> {
    if (this.#isGone) return;
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
}

/**
 * Many runs, each sent its events by one member of several, whoever is at home: of two, every other event is for a run
 * that the other one sees to, and goes through its inbox.
 */
export async function measureFleet(url: string, count: number, size: Size): Promise<FleetFigures> {
  const members: Member[] = [];
  for (let index = 0; index < count; index++) members.push(await Member.start(url));
  try {
    await Promise.all(members.map((member) => member.do({ order: "meet", members: count })));
    const laps = await takeAll(members, size, "run");
    const counted = await (members[0] as Member).do({ order: "count", runs: namesOf(size, "run") });
    if (!counted.counts?.every((steps) => steps === size.steps)) throw new Error("A fleet lost or doubled a step");
    return laps;
  } finally {
    for (const member of members) await member.close();
  }
}

async function takeAll(members: readonly Member[], size: Size, prefix: string): Promise<FleetFigures> {
  const shareOf = (names: readonly string[], index: number) =>
    names.filter((_, place) => place % members.length === index);
  const each = (runs: readonly string[], order: (share: readonly string[]) => Order) =>
    Promise.all(members.map((member, index) => member.do(order(shareOf(runs, index)))));
  const cold = namesOf({ runs: Math.min(size.runs, 200), steps: 0 }, "warm-up");
  const runs = namesOf(size, prefix);
  for (const names of [cold, runs]) await each(names, (share) => ({ order: "start", machine: "counter", runs: share }));
  await each(cold, (share) => ({ order: "take", runs: share, steps: size.steps }));
  const begun = performance.now();
  const answers = await each(runs, (share) => ({ order: "take", runs: share, steps: size.steps }));
  const ms = performance.now() - begun;
  const laps = answers.flatMap((answer) => answer.laps ?? []).toSorted((one, other) => one - other);
  return {
    perSecond: (laps.length * 1_000) / ms,
    p50: median(laps),
    p99: laps[Math.floor(laps.length * 0.99)] as number,
  };
}

/** Milliseconds after which the first, and all runs of a member that was killed went on elsewhere. */
export interface RecoveryFigures {
  readonly firstMs: number;
  readonly allMs: number;
}

/** Kills a member that has an activity of every run under way, while another one is up. */
export async function measureRecovery(url: string, count: number): Promise<RecoveryFigures> {
  const runs = namesOf({ runs: count, steps: 0 }, "errand");
  const waiting = new Set(runs);
  const times: number[] = [];
  const all = Promise.withResolvers<void>();
  const survivor = await Member.start(url, ({ news, ...rest }) => {
    if (news !== "back" || !waiting.delete((rest as { run: string }).run)) return;
    times.push(performance.now());
    if (waiting.size === 0) all.resolve();
  });
  const out = new Set<string>();
  const isOut = Promise.withResolvers<void>();
  const victim = await Member.start(
    url,
    ({ news, ...rest }) => {
      if (news === "out") out.add((rest as { run: string }).run);
      if (out.size === count) isOut.resolve();
    },
    true,
  );
  try {
    await Promise.all([survivor, victim].map((member) => member.do({ order: "meet", members: 2 })));
    await victim.do({ order: "start", machine: "errand", runs });
    await isOut.promise;
    if (times.length > 0) throw new Error("A run went on before its member was killed");
    const killed = performance.now();
    victim.kill();
    await all.promise;
    if (process.env.SHOW) console.log(times.map((t) => Math.round(t - killed)).join(" "));
    return { firstMs: (times[0] as number) - killed, allMs: (times.at(-1) as number) - killed };
  } finally {
    await survivor.close();
  }
}
