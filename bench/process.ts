/** Measurements in processes of their own: what one contestant taught the compiler must not help or hurt another. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** How often each measurement is made, and for how long at a time. */
export interface BenchOptions {
  readonly rounds: number;
  readonly ms: number;
  /** Names of what is asked alone; everything if there are none. */
  readonly only: readonly string[];
  /** Small sizes and one round: to see that it works. */
  readonly quick: boolean;
  /** Whether peers that are not installed with the project may be installed now. */
  readonly peers: boolean;
}

/** How a measuring script is run. */
export interface MeasureOptions {
  readonly nodeFlags?: readonly string[];
  /** Measures what was built into `dist`, as users get it, instead of the sources. */
  readonly built?: boolean;
  /** A command that runs Node, such as strace. */
  readonly command?: readonly string[];
}

const run = promisify(execFile);

/** Runs a measuring script and reads the JSON it prints. */
export async function measure<Result>(
  script: URL,
  args: readonly string[],
  { nodeFlags = [], built = false, command = [] }: MeasureOptions = {},
): Promise<Result> {
  const node = [process.execPath, ...(built ? [] : ["--conditions=holdfast-source"]), ...nodeFlags];
  const [file, ...rest] = [...command, ...node, fileURLToPath(script), ...args] as [string, ...string[]];
  const { stdout } = await run(file, rest);
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
