/**
 * The process that does the work, and that gets killed: a research agent on SQLite. It plans, calls its tools, waits for
 * a person, publishes. Started again after a crash, the same lines go on where they were.
 */
import { writeSync } from "node:fs";
import { createRuntime, defineMachine } from "holdfast";
import { sqlite } from "holdfast/sqlite";

interface Research {
  question: string;
  plan: string[];
  findings: string[];
}

export const agent = defineMachine<Research>({
  id: "durable-researcher",
  start: ({ input }) => ({ question: input as string, plan: [], findings: [] }),
  initial: "planning",
  states: {
    planning: {
      invoke: {
        activity: "plan",
        input: ({ context }) => context.question,
        onDone: {
          target: "researching",
          update: (draft, { event }) => {
            draft.plan = event.data;
          },
        },
      },
    },
    researching: {
      always: { guard: ({ context }) => context.findings.length === context.plan.length, target: "approval" },
      invoke: {
        activity: "search",
        input: ({ context }) => context.plan[context.findings.length] ?? "",
        retry: { attempts: 5 },
        onDone: {
          target: "researching",
          reenter: true,
          update: (draft, { event }) => void draft.findings.push(event.data),
        },
      },
    },
    approval: { on: { approve: "publishing" } },
    publishing: {
      invoke: { activity: "publish", input: ({ context }) => context.findings, onDone: "published" },
    },
    published: { type: "final", output: ({ context }) => context.findings.join(" ") },
  },
});

const say = (line: string) => writeSync(1, `${line}\n`);

/** Every tool tells the ledger outside, with the key that is the same however often it is tried. */
const tool =
  <Input, Output>(name: string, work: (input: Input) => Output) =>
  async (input: Input, { key }: { key: string }): Promise<Output> => {
    say(`tool ${name} ${key}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    return work(input);
  };

if (import.meta.main) {
  const runtime = await createRuntime({
    store: sqlite(process.argv[2] as string),
    machines: [
      {
        machine: agent as never,
        activities: {
          plan: tool("plan", (question: string) =>
            ["kelp", "holdfast", "storm"].map((word) => `${word}: ${question}`),
          ) as never,
          search: tool("search", (topic: string) => `Found what there is on ${topic}.`) as never,
          publish: tool("publish", (findings: string[]) => findings.length) as never,
        },
      },
    ],
  });
  const run = await runtime.start(agent, { id: "question-1", input: "why does it hold?" });
  const { seq } = await run.head();
  say(seq === 1 ? "started" : `resumed at step ${seq} in ${(await run.state()).configuration.join(", ")}`);
  await run.waitFor("approval");
  say("waits for approval");
  await run.send("approve", undefined, { key: "click-1" });
  const { state, output } = await run.finished();
  say(`finished in ${state}: ${output}`);
  await runtime.close();
}
