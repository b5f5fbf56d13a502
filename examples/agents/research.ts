/** A research agent: it plans, searches and reads side by side, and answers from what it found. `node examples/agents/research.ts` */
import { createRuntime } from "holdfast";
import { defineAgent, renderLog, toolLogOf } from "holdfast/agent";
import { memory } from "holdfast/memory";
import { z } from "zod";
import { type Script, type ScriptedOptions, scriptedModel } from "./scripted-model.ts";

const papers: Readonly<Record<string, string>> = {
  "kelp-2019": "Holdfasts grip rock with haptera that grow into its pores.",
  "storm-2022": "In storms the rock breaks before the holdfast does.",
};

/** What a real model would make of the same tools. */
const script: Script = ({ said }) => {
  const asked = said.findLastIndex(({ role }) => role === "user");
  const results = said.slice(asked).filter(({ role }) => role === "tool");
  if (results.length === 0)
    return {
      text: "I will look in both places.",
      calls: [
        { tool: "search", input: { for: "holdfast grip" } },
        { tool: "search", input: { for: "holdfast storm" } },
      ],
    };
  if (results.length === 1)
    return {
      text: "Two papers fit; I read them.",
      calls: Object.keys(papers).map((id) => ({ tool: "read", input: { id } })),
    };
  return { text: "Kelp holds by growing into the rock; in storms the rock gives way first." };
};

/** The agent, with a model that speaks at some pace. */
export const researcherWith = (options: ScriptedOptions = {}) =>
  defineAgent({
    id: "researcher",
    instructions: "Answer from papers, and from nothing else.",
    model: scriptedModel(script, options),
    plan: () => ({ steps: ["find papers", "read them", "answer"] }),
    tools: {
      search: {
        description: "Finds papers",
        input: z.object({ for: z.string() }),
        refetchable: true,
        run: (input: { for: string }) =>
          Object.keys(papers).filter((id) => input.for.includes("storm") === id.startsWith("storm")),
      },
      read: {
        description: "Reads a paper",
        input: z.object({ id: z.string() }),
        refetchable: true,
        run: ({ id }: { id: string }) => papers[id] ?? "There is no such paper.",
      },
    },
    budget: { steps: 10, tokens: 20_000 },
  });

if (import.meta.main) {
  const researcher = researcherWith();
  const runtime = await createRuntime({ store: memory(), machines: [researcher] });
  const thread = await runtime.thread(researcher, { user: "ada" });
  for await (const part of thread.say("How does kelp hold on to rocks?")) {
    if (part.type === "call") console.log(`\n  → ${part.call.tool} ${JSON.stringify(part.call.input)}`);
    process.stdout.write(part.text);
  }
  console.log(`\n\nWhat it did:\n${renderLog(toolLogOf((await thread.run.state()).context))}`);
  await runtime.close();
}
