/**
 * Whether a file is sound as SQLite sees it: its pages, its indexes and what they say of each other. It takes as long as
 * reading the whole file, so it is done in a thread of its own; this file is what that thread runs.
 */
import { DatabaseSync } from "node:sqlite";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** What is wrong with a file; undefined if nothing is. */
export function integrityOf(path: string): Promise<string | undefined> {
  return new Promise((told, failed) => {
    // Flags of this process, such as code to evaluate, are not for the thread.
    const options = { workerData: { integrityOf: path }, execArgv: [] };
    const worker = new Worker(new URL(import.meta.url), options);
    worker.once("message", (problem: string) => told(problem === "ok" ? undefined : problem));
    worker.once("error", failed);
  });
}

function check(path: string): string {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return String(database.prepare("PRAGMA integrity_check(1)").get()?.integrity_check);
  } finally {
    database.close();
  }
}

const asked = (workerData as { readonly integrityOf?: string } | null)?.integrityOf;
// Other threads may load this file for what it exports.
if (!isMainThread && asked !== undefined) parentPort?.postMessage(check(asked));
