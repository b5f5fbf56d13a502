/** A support agent that gives money back only when a person agrees, on SQLite. `node examples/agents/support.ts` */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "holdfast";
import { defineAgent } from "holdfast/agent";
import { sqlite } from "holdfast/sqlite";
import { z } from "zod";
import { type Script, type ScriptedOptions, scriptedModel } from "./scripted-model.ts";

const script: Script = ({ said }) => {
  const last = said.at(-1);
  if (last?.role === "tool" && last.text.includes("paid back"))
    return { text: "It is done: you have your 30 euros back." };
  if (last?.role === "tool") return { text: "I am sorry, I was not allowed to pay that back." };
  const amount = Number(/(\d+) euros/.exec(last?.text ?? "")?.[1] ?? 0);
  if (amount === 0) return { text: "How can I help?" };
  return { text: "Let me ask for that.", calls: [{ tool: "refund", input: { euros: amount } }] };
};

/** The agent, with a model that speaks at some pace; anybody may decide unless it is said who. */
export const supportWith = (
  { by, ...options }: ScriptedOptions & { readonly by?: string } = { by: "carla" },
) =>
  defineAgent({
    id: "support",
    instructions: "Be kind. Money goes out by `refund` only.",
    model: scriptedModel(script, options),
    tools: {
      // It may happen once: nobody wants to be asked for the same money twice.
      refund: {
        description: "Pays money back",
        input: z.object({ euros: z.number().positive() }),
        once: true,
        run: ({ euros }: { euros: number }) => `${euros} euros paid back`,
      },
    },
    approve: ["refund"],
    mayDecide: (decision) => by === undefined || decision.by === by,
    decideWithin: "2 days",
  });

if (import.meta.main) {
  const support = supportWith();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-support-"));
  const runtime = await createRuntime({ store: sqlite(join(folder, "support.db")), machines: [support] });
  const thread = await runtime.thread(support, { user: "bob" });
  for (const [said, isFine] of [
    ["The boots leak. I want my 30 euros back.", true],
    ["And 900 euros for my feet.", false],
  ] as const) {
    console.log(`bob: ${said}`);
    process.stdout.write("agent: ");
    for await (const part of thread.say(said)) {
      process.stdout.write(part.text);
      if (part.type !== "approval") continue;
      for (const { id, tool, input } of part.calls) {
        console.log(`\n  carla is asked about ${tool} ${JSON.stringify(input)}: ${isFine ? "yes" : "no"}`);
        if (isFine) await thread.approve(id, { by: "carla" });
        else await thread.reject(id, { by: "carla", note: "Feet are not covered." });
      }
      process.stdout.write("agent: ");
    }
    console.log();
  }
  await runtime.close();
  rmSync(folder, { recursive: true });
}
