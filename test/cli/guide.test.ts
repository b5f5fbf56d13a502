/** The guide's page about fleets against the command it is about. */
import { expect, test } from "vitest";
import { exit, exitOf } from "../../src/cli/exit.ts";
import { paths } from "../../src/cli/probes.ts";
import { metricsText } from "../../src/server/figures.ts";
import { read } from "../project.ts";
import { everyCommand } from "./read-command.ts";

const page = read("docs/guide/fleet.md");
/** The first cells of all tables. */
const cells = [...page.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = ""]) => cell);
const named = cells.flatMap((cell) => cell.split(", ").map((name) => name.replaceAll("`", "")));

test("it has every option of a worker, every path, every figure and every code it ends with", () => {
  const worker = everyCommand().find(({ name }) => name === "worker");
  for (const { long } of worker?.command.options ?? []) expect(named).toContain(long);
  for (const path of Object.values(paths)) expect(named).toContain(path);
  for (const code of [...Object.values(exit), ...Object.values(exitOf)])
    expect(named).toContain(String(code));
  const load = { slots: 1, running: 1, waiting: 1 };
  const text = metricsText({ isUp: true, isDraining: false, members: 1, fleet: load, process: load, due: 1 });
  for (const [, figure] of text.matchAll(/^# TYPE (\w+) /gm)) expect(named).toContain(figure);
});

test("it has the commands of fleets", () => {
  for (const command of ["worker", "fleet", "doctor"]) expect(page).toContain(`npx holdfast ${command}`);
});
