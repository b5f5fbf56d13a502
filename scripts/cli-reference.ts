/** Writes `docs/reference/cli.md` from the commands themselves; a test keeps the two equal. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { exit, exitOf } from "../src/cli/exit.ts";
import { programOf } from "../src/cli/program.ts";

const silent = { data: () => {}, note: () => {}, isColoured: false, isInteractive: false };
const world = { env: {}, terminal: silent, program: [], cwd: ".", stop: AbortSignal.abort(), end: () => {} };

const exits: Readonly<Record<keyof typeof exit, string>> = {
  done: "It did what it was asked for; a worker that was told to stop left in good order.",
  failed:
    "It could not, and says why; an event was refused; `doctor`, `verify` or `validate` found something bad.",
  misused: "It was called wrongly.",
  undrained: "It was told to stop, and activities took longer than they were given: they are left to others.",
};

export function cliReference(): string {
  const codes = Object.entries(exit).map(
    ([name, code]) => `| ${code} | ${exits[name as keyof typeof exit]} |`,
  );
  const signals = Object.entries(exitOf).map(
    ([signal, code]) => `| ${code} | It was told twice to stop, by ${signal}. |`,
  );
  return [
    "# The command `holdfast`",
    "",
    "Data goes to the standard output, and whatever is said about it to the standard error. With `--json` both are JSON. Nothing is",
    "asked where nobody is at a terminal, and nothing is coloured there, nor where `NO_COLOR` is set. Whoever stops reading the data, as",
    "`head` does, ends a command as if it were told to stop.",
    "",
    "Commands that look at runs find a server by `--url`, by the variable `HOLDFAST_URL`, or by what `holdfast dev` left in",
    "`.holdfast/` of this folder or one around it; with `--store` they open a store themselves, which must be there. What only looks",
    "at runs can do so while another process has them.",
    "",
    "This page is made from the commands by `scripts/cli-reference.ts`; `test/cli/reference.test.ts` keeps the two equal.",
    "",
    "| ends with | when |",
    "|---|---|",
    ...codes,
    ...signals,
    ...sectionsOf(programOf(world), "holdfast"),
    "",
  ].join("\n");
}

function sectionsOf(parent: Command, path: string): string[] {
  return parent.commands.flatMap((command) => {
    const name = `${path} ${command.name()}`;
    return command.commands.length > 0 ? sectionsOf(command, name) : sectionOf(command, name);
  });
}

function sectionOf(command: Command, name: string): string[] {
  const { options, registeredArguments: given } = command;
  const row = (flags: string, about: string) => `| \`${flags}\` | ${about.replaceAll("|", "\\|")} |`;
  const takes = given.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`)).join(" ");
  const rows = [
    ...given.map((one) => row(one.required ? `<${one.name()}>` : `[${one.name()}]`, one.description)),
    ...options.map(({ flags, description, defaultValue, defaultValueDescription }) =>
      row(flags, `${description}${usual(defaultValueDescription ?? defaultValue)}`),
    ),
  ];
  return [
    ...["", `## ${name}`, "", command.description(), "", "```sh", `${name} ${takes}`.trim(), "```"],
    ...(rows.length === 0 ? [] : ["", "| takes | which is |", "|---|---|", ...rows]),
  ];
}

function usual(value: unknown): string {
  return value === undefined || typeof value === "boolean" || (Array.isArray(value) && value.length === 0)
    ? ""
    : ` (${String(value)} unless given)`;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, "../docs/reference/cli.md"), cliReference());
