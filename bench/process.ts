/** Measurements in processes of their own: what one contestant taught the compiler must not help or hurt another. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** How often each measurement is made, and for how long at a time. */
export interface BenchOptions {
  readonly rounds: number;
  readonly ms: number;
}

const run = promisify(execFile);

/** Runs a measuring script and reads the JSON it prints. */
export async function measure<Result>(
  script: URL,
  args: readonly string[],
  nodeFlags: readonly string[] = [],
): Promise<Result> {
  const { stdout } = await run(process.execPath, [
    "--conditions=source",
    ...nodeFlags,
    fileURLToPath(script),
    ...args,
  ]);
  return JSON.parse(stdout) as Result;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

/** Rows as text in columns, the first one to the left and the others to the right. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] as number) : text.padStart(widths[column] as number);
  return rows.map((row) => row.map(cell).join("  ")).join("\n");
}
