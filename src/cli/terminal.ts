/** What a command says: data on one channel, for programs, and notes about it on another, for people. */

export interface Terminal {
  /** A line of what was asked for. */
  data(line: string): void;
  /** A line about what goes on. */
  note(line: string): void;
  /** Whether who reads the data sees colours. */
  readonly isColoured: boolean;
  /** Whether a person is there to be asked: nobody is where data or answers go through a pipe. */
  readonly isInteractive: boolean;
}

/** The one of this process. Colours are for people at a terminal who have not turned them off (https://no-color.org). */
export function terminalOf(env: Readonly<Record<string, string | undefined>>): Terminal {
  return {
    data: (line) => void process.stdout.write(`${line}\n`),
    note: (line) => void process.stderr.write(`${line}\n`),
    isColoured: process.stdout.isTTY === true && (env.NO_COLOR ?? "") === "",
    isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true && (env.CI ?? "") === "",
  };
}

/** An error in one line: what happened and what to do, and what was behind it. */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const behind = behindOf(error);
  const cause = behind === "" || error.message.includes(behind) ? "" : ` (${behind})`;
  const code = (error as { code?: unknown }).code;
  return `${typeof code === "string" ? `${code}: ` : ""}${error.message}${cause}`;
}

/** What was behind an error in the end: those in between say no more than that something was. */
function behindOf({ cause }: Error): string {
  if (!(cause instanceof Error)) return "";
  const further = behindOf(cause);
  return further === "" ? cause.message || String((cause as { code?: unknown }).code ?? "") : further;
}
