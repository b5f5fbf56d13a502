/**
 * A process that talks to an agent on SQLite, and is the agent: it can be killed at any of the marks it says it has come to.
 *
 * `victim.ts FILE CURSOR` goes on with the conversation in this file, or begins it, and listens from the cursor on. It says
 * `mark WHERE` wherever it may be killed; `part JSON` for everything it hears; `model KEY`, `tool NAME CALL KEY` before
 * these act; and in the end `kept JSON`, what it remembers and has summed up, and `thread JSON`.
 */
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createRuntime } from "holdfast";
import {
  type AgentWindow,
  type Conversation,
  type Cursor,
  defineAgent,
  defineMemory,
  openMemory,
  type ToolScope,
} from "holdfast/agent";
import { readEnglish } from "holdfast/agent/english";
import { sqlite } from "holdfast/sqlite";
import { type Line, scriptedModel } from "../../examples/agents/scripted-model.ts";

const say = (line: string) => writeSync(1, `${line}\n`);
/** A moment in which it can be killed. */
async function mark(where: string, ms = 8): Promise<void> {
  say(`mark ${where}`);
  await sleep(ms);
}

/** What the model says, by how often it has spoken, and what it is told of the user. */
const linesOf = (known: string): readonly Line[] => [
  {
    text: "Let me look into both, one beside the other.",
    calls: [
      { tool: "look", input: { at: "tides" } },
      { tool: "count", input: { of: "boats" } },
    ],
  },
  { text: "I will mail what I have.", calls: [{ tool: "mail", input: { to: "ada" } }] },
  { text: "The report is written, and it was sent to Ada as she had asked for it." },
  { text: "It is sent." },
  { text: `I know: ${known}.`, calls: [{ tool: "look", input: { at: "boats" } }] },
  { text: "Somebody else knows more.", calls: [{ tool: "hand_over", input: { to: "closer" } }] },
];

/** How many messages and answers a summary stands for, as it says itself. */
const countsIn = (text = ""): readonly number[] =>
  (/(\d+) messages, (\d+) answers/.exec(text) ?? [0, 0, 0]).map(Number).slice(1);

const model = scriptedModel(
  async ({ said }) => {
    const answers = said.map(({ role, text }) => (role === "assistant" ? 1 : (countsIn(text)[1] as number)));
    const turn = answers.reduce((sum, count) => sum + count, 0);
    await mark(`thinking ${turn + 1}`);
    const known = said.flatMap(({ role, text }) =>
      role === "system" ? (text.match(/Ada likes \w+/g) ?? []) : [],
    );
    return linesOf(known.join(" and "))[turn] ?? { text: "?" };
  },
  // Slowly enough for those before to be heard.
  { onWord: (word) => mark(`saying ${word.trim()}`, 25) },
);

async function act(name: string, { call, key }: ToolScope): Promise<string> {
  say(`tool ${name} ${call} ${key}`);
  await mark(`calling ${name}`);
  return `${name} done`;
}

/** What the user says takes most of the window, so that it is summed up as soon as something else was said. */
const windowMax = 900;
const longSaying = (said: string): string => `${said} ${"The tide comes in and goes out again. ".repeat(64)}`;

const summarise: NonNullable<AgentWindow["summarise"]> = async ({ messages, previous }) => {
  await mark("summing up");
  const [before = 0, answersBefore = 0] = countsIn(previous?.text);
  const answers = messages.filter(({ role }) => role === "assistant").length;
  return `Tides were talked about: ${before + messages.length} messages, ${answersBefore + answers} answers.`;
};

/** What the user's memory is told of each message. */
const drawn: Readonly<Record<string, readonly string[]>> = {
  Write: ["Ada likes tides", "Ada likes reports"],
  And: ["Ada likes boats"],
};
const notes = defineMemory({ id: "notes" });

let counts = 0;
const agent = defineAgent({
  id: "scribe",
  instructions: "You write reports.",
  model: {
    ...model,
    doStream: (options) => {
      say("model");
      return model.doStream(options);
    },
  } as typeof model,
  tools: {
    look: { run: (_, scope) => act("look", scope) },
    count: {
      retry: { attempts: 10, first: 1, max: 5 },
      run: async (_, scope) => {
        const told = await act("count", scope);
        if (++counts === 1) throw new Error("not yet");
        return told;
      },
    },
    mail: { once: true, run: (_, scope) => act("mail", scope) },
  },
  approve: ["mail"],
  memory: {
    kind: notes,
    extract: async ({ said }) => {
      await mark("recalling: drawing");
      return (drawn[said.slice(0, said.indexOf(" "))] ?? []).map((text) => ({ subject: "Ada", text }));
    },
  },
  window: { budget: windowMax, keepRecent: 1, summarise },
  handOver: { closer: "Ends conversations" },
  references: {
    read: (text) => {
      say("mark understanding");
      return readEnglish(text);
    },
  },
  plan: async () => {
    await mark("planning");
    return { goal: "A report", steps: ["look", "write", "send"] };
  },
  reflect: async ({ answer }) => {
    await mark("reflecting");
    return answer.length > 40 ? { verdict: "revise", note: "Be brief." } : { verdict: "accept" };
  },
});

const closer = defineAgent({
  id: "closer",
  model: scriptedModel(
    async () => {
      await mark("thinking elsewhere");
      return { text: "There is nothing more to do." };
    },
    // These are few: slower still.
    { onWord: (word) => mark(`saying elsewhere ${word.trim()}`, 60) },
  ),
});

/** Agrees to whatever is asked, as a person would who comes back to it. */
async function approveAll(thread: Conversation): Promise<void> {
  await mark("waiting");
  for (const { id } of await thread.asked()) await thread.approve(id, { by: "boss" });
}

/** Goes on once the first turn is over: from here to the second message nothing is under way, and only who spoke can go on. */
async function sayNext(thread: Conversation): Promise<void> {
  await mark("resting");
  await thread.say(longSaying("And now, what does Ada like?"), { id: "second" }).heard;
}

const [file, from] = process.argv.slice(2);
if (file !== undefined) {
  const runtime = await createRuntime({ store: sqlite(file), machines: [agent, closer, notes] });
  // Between any two of what is remembered and recalled.
  runtime.observe(({ head, steps }) => {
    if (head.machine === "notes") for (const { event } of steps) say(`mark recalling: ${event.type}`);
  });
  const thread = await runtime.thread(agent, { id: "t", user: "ada" });
  const cursor = from === undefined ? { seq: 1 } : (JSON.parse(from) as Cursor);
  await thread.say(longSaying("Write the report about tides."), { id: "first" }).heard;
  await approveAll(thread);
  // Who died after hearing the first turn's end, and before saying anything more, will not hear it again.
  if ((await thread.run.state()).context.ended?.message === "first") await sayNext(thread);
  for await (const part of thread.listen(cursor)) {
    say(`part ${JSON.stringify(part)}`);
    if (part.type === "approval") await approveAll(thread);
    if (part.type !== "end") continue;
    if (part.message === "second") break;
    await sayNext(thread);
  }
  const { facts, refused } = await openMemory(runtime, notes, { user: "ada" }).export();
  const { overlays } = (await thread.run.state()).context.thread;
  const kept = {
    facts: facts.map(({ text, seen, also = [], source }) => ({ text, seen, also, source })),
    refused,
    summaries: overlays.map(({ from, to, text }) => ({ from, to, text })),
  };
  say(`kept ${JSON.stringify(kept)}`);
  say(`thread ${JSON.stringify(await thread.messages())}`);
  await runtime.close();
}
