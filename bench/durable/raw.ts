/**
 * The limit: `node:sqlite` with the same durability and nothing around it. One row of about what an entry holds for each
 * step; steps of one turn of the event loop share a transaction, as a good program would do it by hand.
 */
import { DatabaseSync } from "node:sqlite";
import type { Contestant } from "./workload.ts";

export const raw: Contestant = {
  async open(path) {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 5000");
    database.exec("CREATE TABLE IF NOT EXISTS step (id INTEGER PRIMARY KEY, run TEXT, bytes BLOB)");
    const insert = database.prepare("INSERT INTO step (run, bytes) VALUES (?, ?)");
    let waiting: { run: string; bytes: Buffer; done: () => void }[] = [];
    const flush = () => {
      const group = waiting;
      waiting = [];
      if (group.length > 1) database.exec("BEGIN IMMEDIATE");
      for (const { run, bytes } of group) insert.run(run, bytes);
      if (group.length > 1) database.exec("COMMIT");
      for (const { done } of group) done();
    };
    const write = (run: string, text: string) =>
      new Promise<void>((done) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ run, bytes: Buffer.from(text), done });
      });
    const small = JSON.stringify({
      event: "add",
      patches: [{ op: "set", path: ["n"], value: 1 }],
      pad: "x".repeat(200),
    });
    return {
      count: async (run) => () => write(run, small),
      converse: async (run) => (text) => write(run, text),
      close: async () => database.close(),
    };
  },
};
