/**
 * The process that does the work, and that gets killed: the research agent on SQLite. It knows nothing of being killed.
 * Started again, the same lines go on where they were.
 *
 * Its tools call the world outside through the process that started it, which also tells it what a person decided.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ActivityScope,
  type Chunk,
  createRuntime,
  type Json,
  type Reconciled,
  type Run,
  type State,
} from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { storePath } from "./folder.ts";
import { type Research, researcher } from "./research-agent.ts";
import type { Answer, Call, Paragraph, Usage } from "./world.ts";

/** What a worker is started with. */
export interface Task {
  readonly folder: string;
  readonly run: string;
  readonly question: string;
  /** The first piece of the draft that nobody has read yet. */
  readonly offset: number;
  readonly wordMs: number;
}

/** Where the run is, as far as it is shown. */
export interface Sight {
  readonly state: State<Research>;
  /** The newest checkpoint; refused events count too. */
  readonly seq: number;
  readonly spent: Partial<Usage>;
}

/** What a worker says. */
export type News =
  | ({ readonly news: "began" } & Sight)
  | ({ readonly news: "call"; readonly id: string; readonly call: Call; readonly attempt: number } & Sight)
  | { readonly news: "piece"; readonly key: string; readonly chunk: Chunk }
  | ({ readonly news: "waits" } & Sight)
  | {
      readonly news: "handled";
      readonly key: string;
      readonly outcome: string;
      readonly error?: string;
    }
  | ({ readonly news: "ended" } & Sight);

/** What a worker is told. */
export type Order =
  | { readonly order: "answer"; readonly id: string; readonly answer: Answer }
  | { readonly order: "send"; readonly type: "approve" | "withdraw"; readonly key: string };

const task = JSON.parse(process.argv[2] ?? "{}") as Task;
const answers = new Map<string, (answer: Answer) => void>();
const tell = (news: News) => void process.send?.(news);

/** Calls the world outside, under this key. */
async function call(tool: string, key: string, input: Json, { attempt, spend }: ActivityScope) {
  const id = randomUUID();
  const seen = await see(await beginning);
  const answer = await new Promise<Answer>((resolve) => {
    answers.set(id, resolve);
    tell({ news: "call", id, call: { tool, key, input }, attempt, ...seen });
  });
  if ("error" in answer) throw new Error(answer.error);
  if (answer.usage !== undefined) spend(answer.usage);
  return answer.output;
}

const tool = (name: string) => (input: Json, scope: ActivityScope) => call(name, scope.key, input, scope);

/** A draft, paragraph by paragraph. Each that is there is kept, so that a next attempt goes on after it. */
async function write(input: Json, scope: ActivityScope): Promise<Json> {
  const done = (scope.progress as string[] | undefined) ?? [];
  for (const paragraph of done) void scope.write(`${paragraph}\n`);
  for (;;) {
    const paragraph = done.length;
    const asked = { ...(input as object), paragraph };
    const answer = await call("write", `${scope.key}#${paragraph}`, asked, scope);
    const { text, more } = answer as unknown as Paragraph;
    for (const word of text.split(/(?<= )/)) {
      void scope.write(word);
      if (task.wordMs > 0) await sleep(task.wordMs);
    }
    await scope.write("\n");
    done.push(text);
    if (!more) return done;
    await scope.checkpoint(done);
  }
}

/** Whether a report that may or may not have been published is out. */
async function findPublication(input: Json, scope: ActivityScope): Promise<Reconciled> {
  const output = await call("findPublication", scope.key, input, scope);
  return output === null ? { outcome: "absent" } : { outcome: "done", output };
}

async function see(run: Run<Research>): Promise<Sight> {
  const [state, { seq, spent = {} }] = await Promise.all([run.state(), run.head()]);
  return { state, seq, spent };
}

/** Passes the draft on while it is being written, from the first piece that nobody has read. */
async function readAloud(run: Run<Research>): Promise<void> {
  const { activities } = await run.waitFor("working.drafting");
  const key = activities[0]?.key as string;
  for await (const chunk of run.stream(key, task.offset)) tell({ news: "piece", key, chunk });
}

/** Sends what a person decided, and says what became of it. */
async function send({ type, key }: Extract<Order, { order: "send" }>): Promise<void> {
  const receipt = await (await beginning).send(type, type === "approve" ? { by: "you" } : undefined, { key });
  const { outcome, error } = await receipt.handled();
  tell({ news: "handled", key, outcome, ...(error && { error: error.message }) });
}

// Nobody is left to call the world for it.
process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => {
  if (order.order === "answer") answers.get(order.id)?.(order.answer);
  else void send(order);
});

const plainTools = ["plan", "search", "read", "reserve", "release", "publish"];
const opening = createRuntime({
  store: sqlite(storePath(task.folder)),
  machines: [
    {
      machine: researcher,
      activities: {
        ...Object.fromEntries(plainTools.map((name) => [name, tool(name)])),
        ...{ write, findPublication },
      },
    },
  ],
});
/** What was under way goes on while the runtime opens, so whoever needs the run waits until it has been announced. */
const beginning = opening.then(async (runtime) => {
  const run = await runtime.start(researcher, { id: task.run, input: { question: task.question } });
  tell({ news: "began", ...(await see(run)) });
  return run;
});
const run = await beginning;
// A run that is past these points has nothing more to say of them.
readAloud(run).catch(() => {});
run.waitFor("working.approval").then(
  async () => tell({ news: "waits", ...(await see(run)) }),
  () => {},
);
await run.finished();
tell({ news: "ended", ...(await see(run)) });
await (await opening).close();
process.disconnect();
