/** A conversation that is much longer than the model's window: it stays cheap, and what mattered stays known. `node examples/agents/long-conversation.ts` */
import { createRuntime } from "holdfast";
import { allMessages, defineAgent, textOf } from "holdfast/agent";
import { memory } from "holdfast/memory";
import { scriptedModel } from "./scripted-model.ts";

const turns = 300;
const sizes: number[] = [];
const model = scriptedModel(({ said }) => {
  sizes.push(said.reduce((sum, { text }) => sum + text.length, 0));
  const last = said.at(-1)?.text ?? "";
  if (!last.startsWith("What")) return { text: `Noted, ${last.slice(0, 40)} and so on.` };
  // What it was told at the very beginning is out of the window by now, but not out of the summary.
  const isKnown = said.some(({ text }) => text.includes("boat is called Lutra"));
  return { text: isKnown ? "Your boat is called Lutra." : "I do not know." };
});

export const companion = defineAgent({
  id: "companion",
  instructions: "Remember what you are told.",
  model,
  window: { budget: 1_500 },
});

const runtime = await createRuntime({ store: memory(), machines: [companion] });
const thread = await runtime.thread(companion, { user: "ada" });
await thread.say("Remember: my boat is called Lutra. We decided to keep her.").answer();
for (let turn = 1; turn < turns; turn++)
  await thread
    .say(`Day ${turn}: we sailed ${turn % 17} miles, the wind was from the west, and the log is kept.`)
    .answer();
const answer = await thread.say("What is the name of my boat?").answer();
const { context } = await thread.run.state();
const messages = allMessages(context.thread);
const letters = messages.reduce((sum, message) => sum + textOf(message).length, 0);
console.log(`${messages.length} messages, ${letters} letters, ${context.thread.overlays.length} summaries`);
console.log(`The model never saw more than ${Math.max(...sizes)} letters at a time.`);
console.log(`ada: What is the name of my boat?\nagent: ${answer}`);
await runtime.close();
