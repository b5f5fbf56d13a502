/**
 * `npm run survive`: a research agent works on SQLite, in a process of its own that is killed with SIGKILL again and again: in
 * the middle of a tool call, of a draft, of its wait for a person, and of the one act that must not happen twice. Each
 * time it is started anew and goes on. The world outside is kept here and counts what took effect; in the end that
 * ledger and the agent's journal must agree, or the exit code is 1.
 *
 * On a terminal the agent is drawn as it moves, and asks; anywhere else it is told in plain text, and is approved.
 * `--fast` leaves out the pauses, `--withdraw` says no, `--folder` puts what is left somewhere else.
 */
import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { defaultFolder, firstRun, ledgerPath, prepareFolder } from "./folder.ts";
import { type Backdrop, frameOf, type Telling } from "./show.ts";
import { Stage } from "./stage.ts";
import { showVerdict, verify } from "./verify.ts";
import type { News, Order, Sight, Task } from "./worker.ts";
import { World } from "./world.ts";

const { values } = parseArgs({
  options: {
    fast: { type: "boolean", default: false },
    withdraw: { type: "boolean", default: false },
    folder: { type: "string", default: defaultFolder },
  },
});
const { folder } = values;
const stage = new Stage(process.stdout, values.fast);
/** Pauses are for people who watch. */
const pace = stage.moving
  ? { callMs: 250, wordMs: 15, killMs: 900, resumeMs: 700, answerMs: 3_000 }
  : { callMs: 0, wordMs: 0, killMs: 0, resumeMs: 0, answerMs: 0 };

/** A moment to die at: the nth call of a tool, after it took effect and before the answer, or before it gets out. */
interface KillPoint {
  readonly tool: string;
  readonly nth: number;
  readonly arrives: boolean;
  readonly tells: string;
}

const killPoints: readonly KillPoint[] = [
  {
    ...{ tool: "search", nth: 3, arrives: true },
    tells: "Killed in the middle of a search: it was made, and the answer reaches nobody.",
  },
  {
    ...{ tool: "write", nth: 2, arrives: true },
    tells: "Killed in the middle of the draft, with one paragraph out.",
  },
  {
    ...{ tool: "publish", nth: 1, arrives: false },
    tells: "Killed while publishing, before the call got out. The agent cannot know that.",
  },
  {
    ...{ tool: "publish", nth: 2, arrives: true },
    tells: "Killed while publishing, after the call got through. It cannot know that either.",
  },
  {
    ...{ tool: "release", nth: 1, arrives: true },
    tells: "Killed in the middle of undoing what it had done.",
  },
];

/** What each call is for. */
const purposes: Readonly<Record<string, string>> = {
  plan: "It asks a model for a plan.",
  search: "It searches, beside the other region.",
  read: "It reads a source, beside the other region.",
  write: "A model writes the draft, streamed as it comes.",
  reserve: "It reserves a name for the report. That can be undone.",
  publish: "It publishes, at most once: this publisher knows no keys.",
  findPublication: "Did it publish before it was killed? It looks before it acts.",
  release: "It undoes what it had done: the name is released.",
};

/** What is told of a call that was made before and whose answer was lost. */
const again =
  "It has called before it was killed, and calls again under the same key: nothing is done twice.";
const click = "click-1";
const tooEarly = "click-0";

try {
  prepareFolder(folder);
} catch (error) {
  console.error((error as Error).message);
  process.exit(1);
}
const world = new World(ledgerPath(folder));
const calls = new Map<string, number>();
let kills = 0;
let killedWaiting = false;
/** How often the click was heard of: it is sent in every life after it was made. */
let clicks = 0;
let decision: "approve" | "withdraw" | undefined;
let sight: Sight | undefined;
/** The draft as its readers have it, and the first piece they have not. */
let draft = { text: "", attempt: 0, offset: 0 };

/** Shows where the agent is; in plain text only what matters is drawn. */
function tell(telling: Telling, pid: number | undefined, drawn = false): void {
  const backdrop: Backdrop = { pid, kills, draft: draft.text, effects: world.effects };
  if (sight !== undefined && (stage.moving || drawn)) stage.show(frameOf(stage, sight, telling, backdrop));
  else stage.say(telling.detail === undefined ? telling.tells : `${telling.tells} ▸ ${telling.detail}`);
}

/** What a person wants; on a terminal they are asked, and silence is a yes. */
async function decide(): Promise<"approve" | "withdraw"> {
  if (values.withdraw) return "withdraw";
  if (!stage.moving || !process.stdin.isTTY) return "approve";
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  lines.on("SIGINT", () => process.exit(130));
  const signal = AbortSignal.timeout(pace.answerMs);
  try {
    const question = `Publish it? [Y/n] (yes, unless you answer within ${pace.answerMs / 1_000} s) `;
    return /^n/i.test(await lines.question(question, { signal })) ? "withdraw" : "approve";
  } catch (error) {
    if (!signal.aborted) throw error;
    process.stdout.write("\n");
    return "approve";
  } finally {
    lines.close();
    stage.grow();
  }
}

/** One life of the worker, from its start until it is killed or the run has ended. */
class Life {
  readonly #child: ChildProcess;
  readonly over: Promise<"killed" | "ended">;
  /** Why it is killed, once it is. */
  #cause: string | undefined;
  /** What it said is seen to in order, one thing at a time, so that each can be seen. */
  #heard: Promise<void> = Promise.resolve();

  constructor() {
    const task: Task = {
      ...{ folder, run: firstRun, question: "Why does kelp hold?" },
      ...{ offset: draft.offset, wordMs: pace.wordMs },
    };
    const script = fileURLToPath(new URL("./worker.ts", import.meta.url));
    this.#child = fork(script, [JSON.stringify(task)], {
      execArgv: ["--conditions=holdfast-source"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.over = new Promise((resolve, reject) => {
      this.#child.on("message", (news: News) => {
        this.#heard = this.#heard.then(() => this.#hear(news)).catch(reject);
      });
      this.#child.on("exit", (code, signal) => {
        if (this.#cause !== undefined) resolve(this.#bury(this.#cause));
        else if (code === 0) resolve(this.#heard.then(() => "ended"));
        else reject(new Error(`The worker ended by itself (${signal ?? code})`));
      });
    });
  }

  async #bury(tells: string): Promise<"killed"> {
    kills++;
    world.bury(this.#child.pid as number);
    tell({ tells: `✗ ${tells}`, style: "killed" }, undefined, true);
    await sleep(pace.killMs);
    return "killed";
  }

  #kill(cause: string): void {
    this.#cause = cause;
    this.#child.kill("SIGKILL");
  }

  #order(order: Order): void {
    this.#child.send(order);
  }

  async #hear(news: News): Promise<void> {
    if (this.#cause !== undefined) return;
    const { pid } = this.#child;
    if ("state" in news) sight = news;
    if (news.news === "began") await this.#begin(news);
    else if (news.news === "call") await this.#call(news);
    else if (news.news === "piece") this.#read(news);
    else if (news.news === "waits") await this.#wait();
    else if (news.news === "ended") tell({ tells: "The agent has finished." }, pid, true);
    else if (news.key === tooEarly)
      tell({ tells: `Somebody approves too early: ${news.outcome}.`, detail: news.error ?? "" }, pid);
    else if (clicks++ > 0) tell({ tells: "The same click again: it is the same event." }, pid);
  }

  async #begin({ state, seq }: Sight): Promise<void> {
    const where = `step ${seq}, in ${state.configuration.join(" and ")}`;
    if (kills > 0) tell({ tells: `↻ Resumed at ${where}.`, style: "resumed" }, this.#child.pid);
    else tell({ tells: "A question: why does kelp hold?" }, this.#child.pid, true);
    await sleep(pace.resumeMs);
    // Whoever does not know whether their click arrived clicks again.
    if (decision !== undefined) this.#order({ order: "send", type: decision, key: click });
    else if (kills === 0) this.#order({ order: "send", type: "approve", key: tooEarly });
  }

  /** A call arrives at the world outside; some are the moment to kill. */
  async #call({ id, call, attempt }: Extract<News, { news: "call" }>): Promise<void> {
    const detail = `${call.tool} ${call.key}${attempt > 1 ? `, attempt ${attempt}` : ""}`;
    const lost = world.hasLost(call);
    tell({ tells: lost ? again : (purposes[call.tool] ?? ""), detail }, this.#child.pid);
    await sleep(pace.callMs);
    const nth = (calls.get(call.tool) ?? 0) + 1;
    calls.set(call.tool, nth);
    const point = killPoints.find((one) => one.tool === call.tool && one.nth === nth);
    if (point === undefined) return this.#order({ order: "answer", id, answer: world.take(call, false) });
    if (point.arrives) world.take(call, true);
    else world.miss(call);
    this.#kill(point.tells);
  }

  /** A piece of the draft. A later attempt says all of it again. */
  #read({ chunk: { attempt, offset, data } }: Extract<News, { news: "piece" }>): void {
    const before = attempt > draft.attempt ? "" : draft.text;
    draft = { text: before + String(data), attempt, offset: offset + 1 };
    if (stage.moving) tell({ tells: purposes.write ?? "" }, this.#child.pid);
  }

  async #wait(): Promise<void> {
    const { pid } = this.#child;
    if (killedWaiting) {
      tell({ tells: "It waits for a person, and would for days." }, pid);
      decision ??= await decide();
      this.#order({ order: "send", type: decision, key: click });
      return;
    }
    killedWaiting = true;
    tell({ tells: "It waits for a person." }, pid);
    await sleep(pace.callMs);
    this.#kill("Killed while it waits. Nothing runs any more, and it still waits.");
  }
}

while ((await new Life().over) === "killed");
const verdict = await verify(folder, decision ?? "approve");
for (const line of showVerdict(verdict, stage.paint)) stage.say(line);
stage.say(
  `\nWhat it leaves is in ${folder}. Its journal: npm run journal${folder === defaultFolder ? "" : ` -- --folder ${folder}`}`,
);
process.exitCode = verdict.checks.every(({ holds }) => holds) ? 0 : 1;
