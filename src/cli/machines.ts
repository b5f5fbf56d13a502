/** `holdfast machines`: what runs go by. Files are looked at here; what a server has is asked of it. */
import { existsSync, readFileSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { Command } from "commander";
import { loadMachine, readDefinition } from "../core/formats/json/read.ts";
import { toMermaid } from "../core/formats/mermaid/export.ts";
import type { AnyMachine } from "../runtime/registry.ts";
import { type Given, misused, textOf } from "./arguments.ts";
import { connectedCommand, looking, tell } from "./connect.ts";
import { exit } from "./exit.ts";
import { loadMachines } from "./load-machines.ts";
import { simulateCommand } from "./simulate.ts";
import { plain, tableOf, timeText } from "./table.ts";
import { commandOf, type World } from "./world.ts";

export function machinesCommand(world: World): Command {
  return commandOf({ name: "machines", about: "What runs go by: machines and their versions." })
    .addCommand(listCommand(world))
    .addCommand(validateCommand(world))
    .addCommand(diagramCommand(world))
    .addCommand(simulateCommand(world, (file, id) => machineIn(file, id, world)));
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
        ? readDefinition(textIn(file, world)).problems
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
  return command
    .argument("<file>", "a file with a machine as data, or a module that exports machines")
    .option("--machine <id>", "which one, where a module exports several")
    .option("--json", "tells it as JSON")
    .action(async (file: string, given: Given) => {
      const machine = await machineIn(file, textOf(given, "machine"), world);
      const mermaid = toMermaid(machine);
      tell(world, given, { machine: machine.id, version: machine.version, mermaid }, () => [
        mermaid.trimEnd(),
      ]);
    });
}

const isData = (file: string): boolean => [".json", ".yaml", ".yml"].includes(extname(file));

function textIn(file: string, { cwd }: World): string {
  const path = resolve(cwd, file);
  if (!existsSync(path)) throw misused(`There is no file ${file}`);
  return readFileSync(path, "utf8");
}

/** The machine in a file; throws COMMAND_INVALID if there is none, or more than one and it is not said which. */
async function machineIn(file: string, id: string | undefined, world: World): Promise<AnyMachine> {
  if (isData(file)) return loadMachine(textIn(file, world));
  const given = await loadMachines(resolve(world.cwd, file));
  const machines = given.map((one) => ("chart" in one ? one : one.machine));
  const found = id === undefined ? machines : machines.filter((machine) => machine.id === id);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  const names = machines.map((machine) => machine.id).join(", ");
  throw misused(
    only === undefined
      ? `${file} has no machine ${id}; it has ${names}`
      : `${file} has several machines; say which with --machine: ${names}`,
  );
}
