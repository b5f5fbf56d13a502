/**
 * XState with persistence written by hand, as its documentation shows it: after every event the whole persisted snapshot
 * goes into the run's one row, as JSON, in a transaction of its own.
 */
import { assign, createActor, type Snapshot, setup } from "xstate";
import { connect } from "./group.ts";
import { type Contestant, pad } from "./workload.ts";

interface Message {
  readonly role: string;
  readonly text: string;
}

const counter = setup({
  types: {} as { context: { n: number; pad: string }; events: { type: "add" } },
}).createMachine({
  context: () => ({ n: 0, pad }),
  initial: "open",
  states: { open: { on: { add: { actions: assign({ n: ({ context }) => context.n + 1 }) } } } },
});

const chat = setup({
  types: {} as { context: { messages: Message[] }; events: { type: "say"; message: Message } },
}).createMachine({
  context: { messages: [] },
  initial: "open",
  states: {
    open: {
      on: {
        say: {
          actions: assign({ messages: ({ context, event }) => [...context.messages, event.message] }),
        },
      },
    },
  },
});

export const xstate: Contestant = {
  async open(path) {
    const database = connect(path);
    database.exec("CREATE TABLE IF NOT EXISTS run (run TEXT PRIMARY KEY, snapshot TEXT NOT NULL)");
    const write = database.prepare(
      "INSERT INTO run VALUES (?, ?) ON CONFLICT (run) DO UPDATE SET snapshot = excluded.snapshot",
    );
    const select = database.prepare("SELECT snapshot FROM run WHERE run = ?");
    const saved = (run: string) => JSON.parse(select.get(run)?.snapshot as string) as Snapshot<unknown>;
    const counting = (run: string) => createActor(counter, { snapshot: saved(run) }).start();
    const talking = (run: string) => createActor(chat, { snapshot: saved(run) }).start();
    const save = (run: string, actor: { getPersistedSnapshot(): unknown }) =>
      void write.run(run, JSON.stringify(actor.getPersistedSnapshot()));
    return {
      beginCount: async (run) => save(run, createActor(counter).start()),
      async count(run, steps) {
        const actor = counting(run);
        for (let step = 0; step < steps; step++) {
          actor.send({ type: "add" });
          save(run, actor);
          // Others have their turn, as they would between the events of a real run.
          await undefined;
        }
      },
      readCount: async (run) => counting(run).getSnapshot().context.n,
      beginTalk: async (run) => save(run, createActor(chat).start()),
      async talk(run, texts, turn) {
        const actor = talking(run);
        for (const [index, text] of texts.entries()) {
          turn(index);
          actor.send({ type: "say", message: { role: "user", text } });
          save(run, actor);
        }
      },
      readTalk: async (run) =>
        talking(run)
          .getSnapshot()
          .context.messages.map(({ text }) => text),
      hydrate: async (run) => counting(run),
      close: async () => database.close(),
    };
  },
};
