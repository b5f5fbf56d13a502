/** Three agents on one board: two draft, none overwrites the other, and all three vote. `node examples/agents/team.ts` */
import { createRuntime } from "holdfast";
import { defineAgent, defineBoard, openBoard } from "holdfast/agent";
import { memory } from "holdfast/memory";
import { z } from "zod";
import { scriptedModel } from "./scripted-model.ts";

const board = defineBoard({
  id: "newsroom",
  keys: {
    headline: { policy: "reject", schema: z.string() },
    facts: { policy: { merge: "union" }, schema: z.array(z.string()) },
  },
});

const names = ["ann", "ben", "cleo"] as const;
type Name = (typeof names)[number];
const ideas: Readonly<Record<Name, { readonly fact: string; readonly headline: string }>> = {
  ann: { fact: "the tide was high", headline: "Flood in the harbour" },
  ben: { fact: "nobody was hurt", headline: "Harbour under water, all safe" },
  cleo: { fact: "the pumps work again", headline: "Pumps save the harbour" },
};

/** An agent that knows the board by its tools alone. */
const writerOf = (name: Name) =>
  defineAgent({
    id: `writer-${name}`,
    model: scriptedModel(({ said }) => {
      const results = said.filter(({ role }) => role === "tool").length;
      const { fact, headline } = ideas[name];
      if (results === 0) return { calls: [{ tool: "addFact", input: { fact } }] };
      if (results === 1) return { calls: [{ tool: "propose", input: { headline } }] };
      return { text: `${name} is done.` };
    }),
    tools: {
      addFact: {
        input: z.object({ fact: z.string() }),
        run: async ({ fact }: { fact: string }, { key }) =>
          (await (await desk(name)).write("facts", [fact], { key })).outcome,
      },
      propose: {
        input: z.object({ headline: z.string() }),
        // A conflict comes back as a result: the model reads what stands there, and thinks again.
        run: async ({ headline }: { headline: string }, { key }) =>
          await (await desk(name)).write("headline", headline, { ifVersion: 0, key }),
      },
    },
  });

const writers = names.map((name) => [name, writerOf(name)] as const);
const runtime = await createRuntime({
  store: memory(),
  machines: [board, ...writers.map(([, writer]) => writer)],
});
const desk = (agent: Name) => openBoard(runtime, board, { id: "today", agent });

await Promise.all(
  writers.map(async ([, writer]) => console.log(await (await runtime.thread(writer)).say("Write.").answer())),
);
const ann = await desk("ann");
const { value: headline, by } = await ann.read("headline");
const { value: facts = [] } = await ann.read("facts");
console.log(`Facts of all: ${facts.toSorted().join(", ")}`);
console.log(`On the board: ${JSON.stringify(headline)}, by ${by}; the others were told of the conflict.`);

const { id } = await ann.propose({
  question: `Do we print ${JSON.stringify(headline)}?`,
  options: ["yes", "no"],
  voters: [...names],
});
for (const name of names)
  await (await desk(name)).vote(id, name === by ? "yes" : name === "cleo" ? "no" : "yes");
console.log("The vote:", JSON.stringify(await ann.decided(id)));
await runtime.close();
