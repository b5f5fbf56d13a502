/**
 * `holdfast dev`: a store, a worker, a server and Studio in one process, on this machine only. When a file that
 * the machines were loaded from changes they are loaded anew, and live runs go on with them: a state is stored and code never replayed, so that is closing
 * one runtime and opening another. A module that cannot be loaded changes nothing.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { serve } from "../server/serve.ts";
import { addStoreOptions, countOption, type Given, misused, storeOf } from "./arguments.ts";
import { tellLine } from "./connect.ts";
import { type DevFile, devFileOf, devFolder } from "./dev-file.ts";
import { exit } from "./exit.ts";
import { loadModule } from "./load-machines.ts";
import { LoadedFiles } from "./loaded-files.ts";
import { openBrowser } from "./open-browser.ts";
import { isServer } from "./open-store.ts";
import { reloadOnChange } from "./reload.ts";
import { openStage } from "./stage.ts";
import { Stages } from "./stages.ts";
import { studioFolder } from "./studio-folder.ts";
import { describe } from "./terminal.ts";
import { commandOf, type World } from "./world.ts";

const usualModules = ["machines.ts", "machines.js", "machines.mjs", "src/machines.ts"];

export function devCommand(world: World): Command {
  const command = commandOf({
    name: "dev",
    about:
      "Runs the machines of a module with a server and Studio, on this machine only, and loads them anew when they change.",
    examples: ["dev", "dev ./machines.ts --port 4400", "dev --store scratch.db --no-open"],
  });
  return addStoreOptions(command, `a SQLite file or postgres://…; ${devFolder}/dev.db unless given`)
    .argument("[module]", `a file that exports machines; one of ${usualModules.join(", ")} unless given`)
    .addOption(countOption("--port <n>", "where it listens; 0 for any that is free", 0).default(4400))
    .option("--no-open", "opens no browser")
    .option("--no-reload", "leaves the machines as they are")
    .option("--json", "tells that it is up as JSON")
    .action(async (module: string | undefined, given: Given) =>
      world.end(await dev(moduleOf(module, world), given, world)),
    );
}

function moduleOf(given: string | undefined, { cwd }: World): string {
  const found = given ?? usualModules.find((name) => existsSync(join(cwd, name)));
  if (found !== undefined) return resolve(cwd, found);
  throw misused(
    `There are no machines here: name the file that exports them, or begin with holdfast init; looked for ${usualModules.join(", ")}`,
  );
}

async function dev(module: string, given: Given, world: World): Promise<number> {
  const { terminal, stop, cwd } = world;
  mkdirSync(join(cwd, devFolder), { recursive: true });
  const store = storeOf(given, { env: {} }, join(cwd, devFolder, "dev.db"));
  const token = randomBytes(24).toString("base64url");
  const stages = new Stages((loaded) =>
    openStage({ store, machines: loaded.machines, token, studio: studioFolder() }, world),
  );
  const files = new LoadedFiles();
  await stages.enter(await loadModule(module, files));
  const served = await serve(stages, { port: given.port as number }).catch(async (error: unknown) => {
    await stages.leave();
    throw misused(`It cannot listen there: ${describe(error)}; give --port another number, or 0`);
  });
  const file = devFileOf(cwd);
  const left: DevFile = { url: served.url, token, pid: process.pid };
  writeFileSync(file, JSON.stringify(left), { mode: 0o600 });
  const page = `${served.url}/?token=${token}`;
  tellLine(world, given, { up: left }, `up: ${page}`);
  terminal.note(
    `store ${isServer(store.store) ? "on PostgreSQL" : store.store}; other commands here find this server by themselves`,
  );
  if (given.open !== false && terminal.isInteractive) openBrowser(page);
  if (given.reload !== false) void reloadOnChange({ module, files, stages }, world);
  await aborted(stop);
  terminal.note("stopping; once more to end at once");
  await served.close();
  await stages.leave();
  rmSync(file, { force: true });
  return exit.done;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((told) => {
    if (signal.aborted) told();
    else signal.addEventListener("abort", () => told(), { once: true });
  });
