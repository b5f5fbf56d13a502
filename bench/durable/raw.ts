/**
 * The limit: `node:sqlite` with the same durability and no more around it than it takes to resume. A step that counts is
 * one row with the whole state as JSON; a message is one row; an index finds the rows of a run. Nothing is checked,
 * nothing but the state is kept, and nobody hears of it.
 */
import { connect, groupWrites, lengthenLog } from "./group.ts";
import { type Contestant, pad } from "./workload.ts";

interface State {
  readonly n: number;
  readonly pad: string;
}

const rawWith = (prepare: (path: string) => void): Contestant => ({
  async open(path) {
    const database = connect(path);
    database.exec(`CREATE TABLE IF NOT EXISTS step (id INTEGER PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL);
      CREATE INDEX IF NOT EXISTS step_run ON step (run)`);
    prepare(path);
    const insert = database.prepare("INSERT INTO step (run, body) VALUES (?, ?)");
    const newest = database.prepare("SELECT body FROM step WHERE run = ? ORDER BY id DESC LIMIT 1");
    const all = database.prepare("SELECT body FROM step WHERE run = ? ORDER BY id");
    const write = groupWrites(database);
    const read = (run: string) => JSON.parse(newest.get(run)?.body as string) as State;
    const readTalk = (run: string) =>
      all.all(run).map(({ body }) => JSON.parse(body as string) as { role: string; text: string });
    const add = (run: string, body: unknown) => insert.run(run, JSON.stringify(body));
    return {
      beginCount: (run) => write(() => add(run, { n: 0, pad })),
      async count(run, steps) {
        let state = read(run);
        for (let step = 0; step < steps; step++) {
          state = { ...state, n: state.n + 1 };
          const next = state;
          await write(() => add(run, next));
        }
      },
      readCount: async (run) => read(run).n,
      beginTalk: async () => {},
      async talk(run, texts, turn) {
        const messages = readTalk(run);
        for (const [index, text] of texts.entries()) {
          turn(index);
          const message = { role: "user", text };
          messages.push(message);
          // One conversation has nobody to share a transaction with.
          add(run, message);
        }
      },
      readTalk: async (run) => readTalk(run).map(({ text }) => text),
      hydrate: async (run) => read(run),
      close: async () => database.close(),
    };
  },
});

export const raw: Contestant = rawWith(() => {});
/** With what Holdfast does to the log, and few would do by hand: what is left between the two is Holdfast's own. */
export const rawLongLog: Contestant = rawWith(lengthenLog);
