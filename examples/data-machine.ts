/**
 * A machine that arrives as text, as an agent would send it: what is wrong is told in one go, what is right runs. Start it
 * with `node --conditions=holdfast-source examples/data-machine.ts`.
 */
import { createRuntime } from "holdfast";
import { loadMachine, readDefinition } from "holdfast/data";
import { memory } from "holdfast/memory";

/** The first try of an agent; it misspelt a field and a target, and compares a text with a number. */
const firstTry = `
id: triage
context: { type: object, required: [urgent], properties: { urgent: { type: integer }, last: { type: string } } }
start: { urgent: 0 }
events: { report: { type: object, required: [text, level], properties: { text: { type: string }, level: { type: integer } } } }
initial: calm
states:
  calm:
    on:
      report:
        - guard: { cel: "event.data.text > 3" }
          target: alarmed
          update: { urgnt: { cel: "context.urgent + 1" }, last: { cel: "event.data.text" } }
  alarm: { after: { 1 hour: calm } }
`;
const secondTry = firstTry
  .replace("event.data.text > 3", "event.data.level > 3")
  .replace("target: alarmed", "target: alarm")
  .replace("urgnt", "urgent");

for (const { path, problem } of readDefinition(firstTry).problems) console.log(`✗ ${path} ${problem}`);

const machine = loadMachine(secondTry);
const runtime = await createRuntime({ store: memory(), machines: [machine] });
const run = await runtime.start(machine, { id: "desk" });
await run.send("report", { text: "The printer hums", level: 1 });
await run.send("report", { text: "The printer burns", level: 5 });
const { configuration, context } = await run.state();
console.log(`✓ ${configuration.join()} ${JSON.stringify(context)}`);
await runtime.close();
