/** From what the command was called with to what does it, and the code to end with. */
import { type Command, CommanderError } from "commander";
import { isHoldfastError } from "../errors.ts";
import { misused } from "./arguments.ts";
import { exit } from "./exit.ts";
import { programOf } from "./program.ts";
import { describe } from "./terminal.ts";
import type { World } from "./world.ts";

/** Does what it is asked for until `stop` is aborted; never rejects. */
export async function execute(argv: readonly string[], world: Omit<World, "end">): Promise<number> {
  let code: number = exit.done;
  const end = (given: number) => {
    code = given;
  };
  const program = programOf({ ...world, end });
  try {
    // Whoever says nothing wants to know what can be said.
    const words = argv.length === 0 ? ["--help"] : [...argv];
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (thrown) {
    // Whoever asked for help has it.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exit.done;
    // Whoever named a group of commands and none of them was shown which there are.
    if (thrown instanceof CommanderError && thrown.code === "commander.help") return exit.misused;
    const error = thrown instanceof CommanderError ? called(thrown, pathOf(program, argv)) : thrown;
    tell(error, argv, world);
    return isHoldfastError(error) && error.code === "COMMAND_INVALID" ? exit.misused : exit.failed;
  }
}

/** What is wrong with how it was called, in our words where they say more. */
function called({ message }: CommanderError, path: readonly string[]): Error {
  const words = message.replace(/^error: /, "").replace("\n", " ");
  return misused(`${words}; see holdfast ${[...path, "--help"].join(" ")}`);
}

/** The command that was meant, as far as there is one. */
function pathOf(program: Command, argv: readonly string[]): readonly string[] {
  const path: string[] = [];
  let here = program;
  for (const word of argv.filter((one) => !one.startsWith("-"))) {
    const next = here.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    path.push(word);
    here = next;
  }
  return path;
}

/** How to go on after errors that say what is not there, and cannot know what whoever asks can call. */
const remedies: Readonly<Record<string, string>> = {
  RUN_UNKNOWN: "holdfast runs list tells which there are",
  API_KEY_UNKNOWN: "holdfast keys list tells which there are",
};

/** Whoever reads JSON is told of errors in JSON as well. */
function tell(error: unknown, argv: readonly string[], { terminal }: Pick<World, "terminal">): void {
  const {
    code = "FAILED",
    message,
    details,
  } = error as { code?: string; message?: string; details?: object };
  const remedy = remedies[code];
  terminal.note(
    argv.includes("--json")
      ? JSON.stringify({ error: { code, message, ...(remedy && { remedy }), ...details } })
      : `holdfast: ${describe(error)}${remedy === undefined ? "" : `; ${remedy}`}`,
  );
}
