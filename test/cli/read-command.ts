/** What a command would be carried out with: it is read as ever, and nothing is done. */
import type { Command } from "commander";
import type { Given } from "../../src/cli/arguments.ts";
import { storeOf } from "../../src/cli/arguments.ts";
import { readFleet } from "../../src/cli/fleet.ts";
import { programOf } from "../../src/cli/program.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { readWorker } from "../../src/cli/worker.ts";

/** A world in which a command is only looked at, and what it said there. */
export function stillWorld(env: Readonly<Record<string, string>> = {}) {
  const said = { out: "", err: "" };
  const terminal: Terminal = {
    data: (line) => {
      said.out += `${line}\n`;
    },
    note: (line) => {
      said.err += `${line}\n`;
    },
    ...{ isColoured: false, isInteractive: false },
  };
  const world = { env, terminal, program: [], cwd: process.cwd(), stop: AbortSignal.abort(), end: () => {} };
  return { world, said };
}

/** Throws what is wrong with how it was called. */
export function readCommand(argv: readonly string[], env: Readonly<Record<string, string>>) {
  const { world } = stillWorld(env);
  const program = programOf(world);
  let meant: unknown;
  const readers = { worker: readWorker, fleet: readFleet } as const;
  for (const command of program.commands) {
    const name = command.name();
    if (name === "worker" || name === "fleet")
      command.action((module: string, given: Given) => {
        meant = readers[name](module, given, world);
      });
    if (name === "doctor")
      command.action((given: Given) => {
        meant = { ...storeOf(given, world), ...given };
      });
  }
  program.parse([...argv], { from: "user" });
  return meant;
}

/** Every command there is, those inside others too, by what it is called with. */
export function everyCommand(): { readonly name: string; readonly command: Command }[] {
  const inside = (parent: Command, path: string): { name: string; command: Command }[] =>
    parent.commands.flatMap((command) => {
      const name = `${path}${command.name()}`;
      return [{ name, command }, ...inside(command, `${name} `)];
    });
  return inside(programOf(stillWorld().world), "");
}
