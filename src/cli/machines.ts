/** `holdfast machines`: what runs go by. Files are looked at here; what a server has is asked of it. */
import { extname, resolve } from "node:path";
import type { Command } from "commander";
import { loadMachine, readDefinition } from "../core/formats/json/read.ts";
import { toMermaid } from "../core/formats/mermaid/export.ts";
import type { AnyMachine } from "../runtime/registry.ts";
import { type Given, misused, textIn, textOf } from "./arguments.ts";
import { connectedCommand, looking, tell } from "./connect.ts";
import { exit } from "./exit.ts";
import { loadMachines } from "./load-machines.ts";
import { addMachineOptions, simulateCommand } from "./simulate.ts";
import { plain, tableOf, timeText } from "./table.ts";
import { commandOf, type World } from "./world.ts";

export function machinesCommand(world: World): Command {
  return commandOf({ name: "machines", about: "What runs go by: machines and their versions." })
    .addCommand(listCommand(world))
    .addCommand(validateCommand(world))
    .addCommand(diagramCommand(world))
    .addCommand(simulateCommand(world, (file, given) => machineIn(file, given, world)));
}

function listCommand(world: World): Command {
  const command = connectedCommand({
    name: "list",
    about: "Lists machines with their versions, and where each stands in its life.",
    examples: ["machines list", "machines list --json"],
  });
  return command.action(
    looking(world, async (client, given) => {
      const { machines } = await client.machines.list();
      tell(world, given, machines, () =>
        tableOf(
          ["MACHINE", "VERSION", "STATUS", "SINCE", "LOADED"],
          machines.flatMap(({ machine, versions }) =>
            versions.map((one) => [
              ...[machine, one.version, one.status, timeText(one.since), one.loaded ? "yes" : "no"],
            ]),
          ),
        ),
      );
    }),
  );
}

function validateCommand(world: World): Command {
  const command = commandOf({
    name: "validate",
    about: "Looks for everything that is wrong with a machine in a file: JSON, YAML or a module.",
    examples: ["machines validate refund.yaml", "machines validate ./machines.ts --json"],
  });
  return command
    .argument("<file>", "a file with a machine as data, or a module that exports machines")
    .option("--json", "tells it as JSON")
    .action(async (file: string, given: Given) => {
      const problems = isData(file)
        ? readDefinition(textOfFile(file, world)).problems
        : await problemsIn(file, world);
      if (problems.length > 0) world.end(exit.failed);
      tell(world, given, { isValid: problems.length === 0, problems }, () =>
        problems.length === 0
          ? [`${file} is good.`]
          : problems.map(({ path, problem }) => `${plain(path)}: ${plain(problem)}`),
      );
    });
}

/** What is wrong with the machines of a module: those that are made have nothing wrong; a module that cannot be loaded says why. */
async function problemsIn(file: string, world: World): Promise<readonly { path: string; problem: string }[]> {
  textOfFile(file, world);
  try {
    await loadMachines(resolve(world.cwd, file));
    return [];
  } catch (error) {
    return [{ path: file, problem: (error as Error).message }];
  }
}

function diagramCommand(world: World): Command {
  const command = commandOf({
    name: "diagram",
    about: "Draws a machine as a Mermaid diagram.",
    examples: [
      "machines diagram refund.yaml > refund.mmd",
      "machines diagram ./machines.ts --machine booking",
    ],
  });
  return addMachineOptions(command)
    .option("--json", "tells it as JSON")
    .action(async (file: string, given: Given) => {
      const machine = await machineIn(file, given, world);
      const mermaid = toMermaid(machine);
      tell(world, given, { machine: machine.id, version: machine.version, mermaid }, () => [
        mermaid.trimEnd(),
      ]);
    });
}

const isData = (file: string): boolean => [".json", ".yaml", ".yml"].includes(extname(file));

const textOfFile = (file: string, { cwd }: World): string => textIn("The machine", resolve(cwd, file));

/**
 * The machine in a file, in its newest version unless another one is asked for; throws COMMAND_INVALID if there is none, or
 * more than one and it is not said which.
 */
async function machineIn(file: string, given: Given, world: World): Promise<AnyMachine> {
  if (isData(file)) return loadMachine(textOfFile(file, world));
  const [id, version] = [textOf(given, "machine"), given.machineVersion as number | undefined];
  const loaded = await loadMachines(resolve(world.cwd, file));
  const machines = loaded.map((one) => ("chart" in one ? one : one.machine));
  const found = machines
    .filter(
      (one) => (id === undefined || one.id === id) && (version === undefined || one.version === version),
    )
    .toSorted((one, other) => other.version - one.version);
  const [newest] = found;
  const names = machines.map((one) => `${one.id}@${one.version}`).join(", ");
  if (newest === undefined) throw misused(`${file} has no such machine; it has ${names}`);
  if (found.some((one) => one.id !== newest.id))
    throw misused(`${file} has several machines; say which with --machine: ${names}`);
  return newest;
}
