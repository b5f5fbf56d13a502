/** How a proof ends: in one line, and with the exit code that it deserves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What was counted, as the line says it. */
export function countsOf(figures: Readonly<Record<string, number>>): string {
  return Object.entries(figures)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}

export function conclude(name: string, isGood: boolean, line: string): void {
  console.log(`prove:${name} ${isGood ? "passed" : "failed"}: ${line}`);
  process.exitCode = isGood ? 0 : 1;
}

/** What this machine cannot run is named; where all must run, that is a failure. */
export function concludeSkipped(name: string, missing: string): void {
  conclude(name, process.env.CI !== "true", `skipped, all of it: ${missing}`);
}

/** What is missing for something that throws without it. */
export function whyNot(find: () => Promise<unknown>): Promise<string | undefined> {
  return find().then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** A folder for as long as the proof takes. */
export async function inFolder<Found>(
  name: string,
  prove: (folder: string) => Promise<Found>,
): Promise<Found> {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
  try {
    return await prove(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is under way, on one line that is written over. */
export function progress(text: string): void {
  process.stderr.write(`\r${text}   `);
}
