/** Holdfast on SQLite, as users run it: each event is acknowledged when its step is durable. */
import { createRuntime, defineMachine, freezeStates } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import { type Contestant, pad } from "./workload.ts";

freezeStates(false);

interface Message {
  readonly role: string;
  readonly text: string;
}

const counter = defineMachine<{ n: number; pad: string }>({
  id: "counter",
  start: () => ({ n: 0, pad }),
  initial: "open",
  states: { open: { on: { add: { update: (draft) => void draft.n++ } } } },
});

const chat = defineMachine<{ messages: Message[] }>({
  id: "chat",
  start: () => ({ messages: [] }),
  initial: "open",
  states: {
    open: { on: { say: { update: (draft, { event }) => void draft.messages.push(event.data as never) } } },
  },
});

export const holdfast: Contestant = {
  async open(path) {
    const machines = [{ machine: counter as never }, { machine: chat as never }];
    const runtime = await createRuntime({ store: sqlite(path), machines });
    return {
      beginCount: async (run) => void (await runtime.start(counter, { id: run })),
      async count(run, steps) {
        const counting = await runtime.run(run);
        for (let step = 0; step < steps; step++) await counting.send("add");
      },
      async readCount(run) {
        const { context } = await (await runtime.run(run)).state();
        return (context as unknown as { n: number }).n;
      },
      beginTalk: async (run) => void (await runtime.start(chat, { id: run })),
      async talk(run, texts, turn) {
        const talking = await runtime.run(run);
        for (const [index, text] of texts.entries()) {
          turn(index);
          await talking.send("say", { role: "user", text });
        }
      },
      async readTalk(run) {
        const { context } = await (await runtime.run(run)).state();
        return (context as unknown as { messages: Message[] }).messages.map(({ text }) => text);
      },
      hydrate: (run) => runtime.run(run),
      close: () => runtime.close(),
    };
  },
};
