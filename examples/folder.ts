/** Where the example leaves what it did: one folder with the store and the ledger, for `npm run journal` to read. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Relative to where npm runs its scripts: the top of the project. Git ignores it. */
export const defaultFolder = ".holdfast";
/** The run that `npm run survive` makes. */
export const firstRun = "question-1";

export const storePath = (folder: string): string => join(folder, "agents.db");
export const ledgerPath = (folder: string): string => join(folder, "ledger.jsonl");

/** Empties the folder for a new show; throws if one is on in it. */
export function prepareFolder(folder: string): void {
  const claim = join(folder, "pid");
  const other = existsSync(claim) ? Number(readFileSync(claim, "utf8")) : Number.NaN;
  if (isAlive(other)) throw new Error(`Process ${other} is showing the example in ${folder} already.`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(claim, String(process.pid));
  process.once("exit", () => rmSync(claim, { force: true }));
  for (const path of [storePath(folder), ledgerPath(folder)])
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}
