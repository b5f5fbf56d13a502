/** Where a command is carried out, and how it says what to end with. */
import { Command } from "commander";
import type { Terminal } from "./terminal.ts";

export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** What Node runs to be this command. */
  readonly program: readonly string[];
  /** The folder that relative paths begin in. */
  readonly cwd: string;
  /** Aborted when it is told to stop. */
  readonly stop: AbortSignal;
  /** Takes the code to end with. */
  end(code: number): void;
}

export interface Described {
  readonly name: string;
  readonly about: string;
  /** Shown before anything else. */
  readonly examples?: readonly string[];
}

/** A command with its examples first. */
export function commandOf({ name, about, examples = [] }: Described): Command {
  const command = new Command(name).description(about).helpOption("-h, --help", "tells how it is called");
  if (examples.length > 0)
    command.addHelpText("before", `${examples.map((line) => `  $ holdfast ${line}`).join("\n")}\n`);
  return command;
}

/** What every process of this command ends with, for people. */
export const exitCodes =
  "Ends with 0 when all went well, 1 when something failed, 2 when it was called wrongly, and 3 when\nactivities took longer to end than they were given.";
