/** From what the command was called with to what does it, and the code to end with. */
import { isHoldfastError } from "../errors.ts";
import { readArguments } from "./arguments.ts";
import { diagnose } from "./doctor.ts";
import { exit } from "./exit.ts";
import { type FleetWorld, lead } from "./fleet.ts";
import { describe } from "./terminal.ts";
import { work } from "./worker.ts";

/** Where a command is carried out. */
export type CommandWorld = FleetWorld;

/** Does what it is asked for until `stop` is aborted; never rejects. */
export async function execute(
  argv: readonly string[],
  world: CommandWorld,
  stop: AbortSignal,
): Promise<number> {
  const { env, terminal, program } = world;
  try {
    const args = readArguments(argv, env);
    if (args.command === "worker") return await work(args, terminal, stop);
    if (args.command === "fleet") return await lead(args, { terminal, env, program }, stop);
    if (args.command === "doctor") return await diagnose(args, terminal);
    terminal.data(args.text);
    return exit.done;
  } catch (error) {
    terminal.note(`holdfast: ${describe(error)}`);
    return isHoldfastError(error) && error.code === "COMMAND_INVALID" ? exit.misused : exit.failed;
  }
}
