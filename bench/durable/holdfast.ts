/** Holdfast on SQLite, as users run it: each event is acknowledged when its step is durable. */
import { createRuntime, defineMachine, freezeStates } from "holdfast";
import { sqlite } from "holdfast/sqlite";
import type { Contestant } from "./workload.ts";

freezeStates(false);

const counter = defineMachine<{ n: number; pad: string }>({
  id: "counter",
  start: () => ({ n: 0, pad: "x".repeat(1_000) }),
  initial: "open",
  states: { open: { on: { add: { update: (draft) => void draft.n++ } } } },
});

const chat = defineMachine<{ messages: unknown[] }>({
  id: "chat",
  start: () => ({ messages: [] }),
  initial: "open",
  states: {
    open: { on: { say: { update: (draft, { event }) => void draft.messages.push(event.data) } } },
  },
});

export const holdfast: Contestant = {
  async open(path) {
    const machines = [{ machine: counter as never }, { machine: chat as never }];
    const runtime = await createRuntime({ store: sqlite(path), machines });
    return {
      async count(run) {
        const counting = await runtime.start(counter, { id: run });
        return async () => void (await counting.send("add"));
      },
      async converse(run) {
        const talk = await runtime.start(chat, { id: run });
        return async (text) => void (await talk.send("say", { role: "user", text }));
      },
      close: () => runtime.close(),
    };
  },
};
