/** The reference of the command against the command. */
import { expect, test } from "vitest";
import { cliReference } from "../../scripts/cli-reference.ts";
import { read } from "../project.ts";
import { everyCommand } from "./read-command.ts";

test("docs/reference/cli.md is what scripts/cli-reference.ts makes of the commands", () => {
  expect(read("docs/reference/cli.md")).toBe(cliReference());
});

test("every command that does something is in it", () => {
  const page = read("docs/reference/cli.md");
  for (const { name, command } of everyCommand())
    if (command.commands.length === 0) expect(page).toContain(`## holdfast ${name}\n`);
});
