/** `holdfast machines simulate`: a machine in virtual time, event by event; nothing is stored, and nothing is called. */
import { createInterface } from "node:readline";
import type { Command } from "commander";
import type { Machine } from "../core/machine.ts";
import { nextEvents } from "../core/query.ts";
import { type Simulation, simulate } from "../core/simulate.ts";
import type { AnyMachine } from "../runtime/registry.ts";
import { countOption, type Given, jsonOf, textOf } from "./arguments.ts";
import { exit } from "./exit.ts";
import { plain, shortJson } from "./table.ts";
import { describe } from "./terminal.ts";
import { commandOf, type World } from "./world.ts";

const help = "EVENT [JSON] · +TIME (as +2h) · done ID [JSON] · fail ID [JSON]";

export function simulateCommand(
  world: World,
  find: (file: string, given: Given) => Promise<AnyMachine>,
): Command {
  const command = commandOf({
    name: "simulate",
    about: `Steps a machine in virtual time. Its lines, one a turn, are read from the arguments or the input: ${help}.`,
    examples: [
      `machines simulate refund.yaml 'decide {"amount":40}'`,
      "machines simulate ./machines.ts --machine booking < events.txt",
    ],
  });
  return addMachineOptions(command)
    .argument("[lines...]", "what happens, one after the other; the input's lines unless given")
    .option("--input <json>", "what the run is given")
    .option("--json", "tells every turn as a line of JSON")
    .action(async (file: string, lines: string[], given: Given) => {
      const machine = await find(file, given);
      const input = textOf(given, "input");
      const options = input === undefined ? {} : { input: jsonOf("--input", input) };
      const simulation = simulate(machine as unknown as Machine, options);
      const show = () => world.terminal.data(turnOf(machine, simulation, given.json === true));
      show();
      for await (const line of lines.length > 0 ? lines : inputLines()) {
        if (line.trim() === "") continue;
        if (!take(simulation, line.trim(), world)) world.end(exit.failed);
        show();
      }
    });
}

/** Adds what says which machine of which file is meant. */
export function addMachineOptions(command: Command): Command {
  return command
    .argument("<file>", "a file with a machine as data, or a module that exports machines")
    .option("--machine <id>", "which one, where a module exports several")
    .addOption(countOption("--machine-version <n>", "which version of it; the newest unless given"));
}

const inputLines = () => createInterface({ input: process.stdin });

/**
 * One line: an event, time that passes, or how an activity ended. What cannot be taken is told, and changes nothing; says
 * whether it was.
 */
function take(simulation: Simulation, line: string, { terminal }: World): boolean {
  const [word = "", rest = ""] = splitOnce(line);
  try {
    if (word.startsWith("+")) simulation.advance(word.slice(1));
    else if (word === "done" || word === "fail") {
      const [id, data] = splitOnce(rest);
      const value = data === "" ? undefined : jsonOf("The data", data);
      if (word === "fail") simulation.settle(id, { error: value ?? {} });
      else simulation.settle(id, value === undefined ? {} : { output: value });
    } else {
      const data = rest === "" ? {} : { data: jsonOf("The data", rest) };
      const { error } = simulation.send({ type: word, ...data });
      if (error !== undefined) throw error;
    }
    return true;
  } catch (error) {
    terminal.note(describe(error));
    return false;
  }
}

function splitOnce(line: string): [string, string] {
  const [, first = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
  return [first, rest];
}

function turnOf(machine: AnyMachine, { state, now }: Simulation, isJson: boolean): string {
  const events = nextEvents(machine as unknown as Machine, state);
  const { status, configuration, context, timers, activities } = state;
  if (isJson) return JSON.stringify({ now, status, configuration, context, timers, activities, events });
  return [
    `${now} ms`,
    status === "active" ? configuration.join(", ") : `${status} in ${configuration.join(", ")}`,
    plain(shortJson(context)),
    ...(activities.length === 0 ? [] : [`under way: ${activities.map(({ id }) => id).join(", ")}`]),
    ...(events.length === 0 ? [] : [`takes: ${events.join(", ")}`]),
  ].join("  ");
}
