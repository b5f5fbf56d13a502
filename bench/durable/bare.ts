/**
 * The ceiling: what `node:sqlite` commits at all. Rows of 300 bytes that are ready before the clock starts, in a table
 * without an index. Nothing could resume from them, so this is no contestant but a measure of the disk and the binding.
 */
import { connect, groupWrites } from "./group.ts";
import type { Contestant } from "./workload.ts";

const row = Buffer.alloc(300, "a row of three hundred bytes; ");

export const bare: Contestant = {
  async open(path) {
    const database = connect(path);
    database.exec("CREATE TABLE IF NOT EXISTS step (id INTEGER PRIMARY KEY, run TEXT NOT NULL, bytes BLOB)");
    const insert = database.prepare("INSERT INTO step (run, bytes) VALUES (?, ?)");
    const count = database.prepare("SELECT count(*) AS rows FROM step WHERE run = ?");
    const write = groupWrites(database);
    return {
      beginCount: async () => {},
      async count(run, steps) {
        for (let step = 0; step < steps; step++) await write(() => insert.run(run, row));
      },
      readCount: async (run) => count.get(run)?.rows as number,
      beginTalk: async () => {},
      async talk() {
        throw new Error("Bare rows hold no conversation");
      },
      readTalk: async () => [],
      hydrate: async () => undefined,
      close: async () => database.close(),
    };
  },
};
