/** The command `holdfast` with all its commands, in the order in which people meet them. */
import { Command } from "commander";
import { completionCommand } from "./completion.ts";
import { dbCommand } from "./db.ts";
import { devCommand } from "./dev.ts";
import { doctorCommand } from "./doctor.ts";
import { fleetCommand } from "./fleet.ts";
import { inboxCommand } from "./inbox.ts";
import { initCommand } from "./init/index.ts";
import { keysCommand } from "./keys.ts";
import { machinesCommand } from "./machines.ts";
import { runsCommand } from "./runs/index.ts";
import { startCommand } from "./start.ts";
import { stepCommand } from "./step.ts";
import { version } from "./version.ts";
import { workerCommand } from "./worker.ts";
import { exitCodes, type World } from "./world.ts";

const commands = [
  ...[
    initCommand,
    devCommand,
    startCommand,
    workerCommand,
    fleetCommand,
    runsCommand,
    inboxCommand,
    stepCommand,
  ],
  ...[machinesCommand, dbCommand, keysCommand, doctorCommand],
];

export function programOf(world: World): Command {
  const program = new Command("holdfast")
    .description("Durable state machines for agents.")
    .helpOption("-h, --help", "tells how it is called")
    .helpCommand("help [command]", "tells how a command is called")
    .usage("COMMAND …")
    .addHelpText("after", `\n${exitCodes}`);
  program.version(version, "-V, --version", "tells the version");
  for (const make of commands) program.addCommand(make(world));
  program.addCommand(completionCommand(world, () => program));
  return quiet(program, world);
}

/** Nothing ends the process, and nothing is said but by the terminal: what goes wrong is thrown. */
function quiet(command: Command, world: World): Command {
  command.exitOverride().configureOutput({
    writeOut: (text) => world.terminal.data(text.trimEnd()),
    writeErr: (text) => world.terminal.note(text.trimEnd()),
    outputError: () => {},
    getOutHasColors: () => world.terminal.isColoured,
  });
  for (const one of command.commands) quiet(one, world);
  return command;
}
