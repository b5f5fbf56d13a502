/** From what the command was called with to what does it, and the code to end with. */
import { CommanderError } from "commander";
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
  try {
    // Whoever says nothing wants to know what can be said.
    const words = argv.length === 0 ? ["--help"] : [...argv];
    await programOf({ ...world, end }).parseAsync(words, { from: "user" });
    return code;
  } catch (thrown) {
    // Whoever asked for help has it.
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exit.done;
    const error = thrown instanceof CommanderError ? called(thrown, argv) : thrown;
    tell(error, argv, world);
    return isHoldfastError(error) && error.code === "COMMAND_INVALID" ? exit.misused : exit.failed;
  }
}

/** What is wrong with how it was called, in our words where they say more. */
function called({ message }: CommanderError, argv: readonly string[]): Error {
  const words = message.replace(/^error: /, "").replace("\n", " ");
  const named = argv.filter((word) => !word.startsWith("-")).slice(0, 1);
  return misused(`${words}; see holdfast ${[...named, "--help"].join(" ")}`);
}

/** Whoever reads JSON is told of errors in JSON as well. */
function tell(error: unknown, argv: readonly string[], { terminal }: Pick<World, "terminal">): void {
  const {
    code = "FAILED",
    message,
    details,
  } = error as { code?: string; message?: string; details?: object };
  terminal.note(
    argv.includes("--json")
      ? JSON.stringify({ error: { code, message, ...details } })
      : `holdfast: ${describe(error)}`,
  );
}
