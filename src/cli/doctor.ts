/** `holdfast doctor`: looks whether a store and those who share it are well, and says what to do where they are not. */
import type { Command } from "commander";
import { addStoreOptions, countOption, type Given, storeOf } from "./arguments.ts";
import type { Finding } from "./checks/finding.ts";
import { checkPostgres, type Subject } from "./checks/postgres.ts";
import { checkRedis } from "./checks/redis.ts";
import { checkSqlite } from "./checks/sqlite.ts";
import { exit } from "./exit.ts";
import { isServer } from "./open-store.ts";
import type { Terminal } from "./terminal.ts";
import { commandOf, type World } from "./world.ts";

export function doctorCommand(world: World): Command {
  const command = commandOf({
    name: "doctor",
    about: "Looks whether a store and those who share it are well, and says what to do where they are not.",
    examples: ["doctor --store agents.db", "doctor --store postgres://localhost/agents --workers 3 --json"],
  });
  return addStoreOptions(command)
    .addOption(
      countOption("--workers <n>", "how many workers are meant to run; those that are there unless given"),
    )
    .option("--json", "tells it as JSON")
    .action(async (given: Given) => {
      const args = { ...storeOf(given, world), workers: given.workers as number | undefined };
      world.end(await diagnose(args, world.terminal, given.json === true));
    });
}

/** Tells every finding; gives the code to end with: something bad is a failure, a warning is not. */
async function diagnose(args: Subject, terminal: Terminal, isJson: boolean): Promise<number> {
  const findings = [
    ...(await (isServer(args.store) ? checkPostgres(args) : checkSqlite(args.store))),
    ...(args.redis === undefined ? [] : [await checkRedis(args.redis)]),
  ];
  const isWell = findings.every(({ status }) => status !== "bad");
  if (isJson) terminal.data(JSON.stringify({ isWell, findings }, undefined, 2));
  else for (const finding of findings) terminal.data(findingLine(finding, terminal.isColoured));
  return isWell ? exit.done : exit.failed;
}

const marks = { good: "✓", warning: "!", bad: "✗" } as const;
/** Green, yellow, red. */
const colours = { good: 32, warning: 33, bad: 31 } as const;

/** One line: what was looked at, what was found, and what to do. */
export function findingLine({ check, status, found, remedy }: Finding, isColoured: boolean): string {
  const mark = isColoured ? `\u001b[${colours[status]}m${marks[status]}\u001b[0m` : marks[status];
  return `${mark} ${check}: ${found}${remedy === undefined ? "" : ` → ${remedy}`}`.replaceAll("\n", " ");
}
