/**
 * `holdfast dev`: a store, a worker, a server and Studio in one process, on this machine only. When a file of the machines
 * changes they are loaded anew, and live runs go on with them: a state is stored and code never replayed, so that is closing
 * one runtime and opening another. A module that cannot be loaded changes nothing.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, watch, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { serve } from "../server/serve.ts";
import { countOption, type Given, misused, storeOf } from "./arguments.ts";
import { type DevFile, devFileOf, devFolder } from "./dev-file.ts";
import { exit } from "./exit.ts";
import { loadModule } from "./load-machines.ts";
import { openBrowser } from "./open-browser.ts";
import { isServer } from "./open-store.ts";
import { openStage } from "./stage.ts";
import { Stages } from "./stages.ts";
import { studioFolder } from "./studio-folder.ts";
import { describe } from "./terminal.ts";
import { commandOf, type World } from "./world.ts";

const usualModules = ["machines.ts", "machines.js", "machines.mjs", "src/machines.ts"];
/** Editors write a file in several steps. */
const settleMs = 120;

export function devCommand(world: World): Command {
  return commandOf({
    name: "dev",
    about:
      "Runs the machines of a module with a server and Studio, on this machine only, and loads them anew when they change.",
    examples: ["dev", "dev ./machines.ts --port 4400", "dev --store :memory: --no-open"],
  })
    .argument("[module]", `a file that exports machines; one of ${usualModules.join(", ")} unless given`)
    .option("--store <url>", `a SQLite file or postgres://…; ${devFolder}/dev.db unless given`)
    .addOption(countOption("--port <n>", "where it listens; 0 for any that is free", 0).default(4400))
    .option("--no-open", "opens no browser")
    .option("--no-reload", "leaves the machines as they are")
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
  await stages.enter(await loadModule(module));
  const served = await serve(stages, { port: given.port as number }).catch(async (error: unknown) => {
    await stages.leave();
    throw misused(`It cannot listen there: ${describe(error)}; give --port another number, or 0`);
  });
  const file = devFileOf(cwd);
  const left: DevFile = { url: served.url, token, pid: process.pid };
  writeFileSync(file, JSON.stringify(left), { mode: 0o600 });
  const page = `${served.url}/?token=${token}`;
  terminal.data(`up: ${page}`);
  terminal.note(
    `store ${isServer(store.store) ? "on PostgreSQL" : store.store}; other commands here find this server by themselves`,
  );
  if (given.open !== false && terminal.isInteractive) openBrowser(page);
  if (given.reload !== false) void reloadOnChange(module, stages, world);
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

/** Loads the machines anew when something in their folder changes. */
async function reloadOnChange(module: string, stages: Stages, { terminal, stop }: World): Promise<void> {
  let isChanged = false;
  const watching = watch(dirname(module), { recursive: true, signal: stop }, (_, name) => {
    if (
      name !== null &&
      /\.(ts|mts|js|mjs|json|ya?ml)$/.test(name) &&
      !/(^|[/\\])(node_modules|\.)/.test(name)
    )
      isChanged = true;
  });
  watching.on("error", (error) => terminal.note(`Changes are not noticed any more: ${describe(error)}`));
  while (!stop.aborted) {
    await sleep(settleMs, undefined, { signal: stop }).catch(() => {});
    if (!isChanged || stop.aborted) continue;
    isChanged = false;
    try {
      await stages.enter(await loadModule(module));
      terminal.note("loaded anew");
    } catch (error) {
      terminal.note(`not loaded: ${describe(error)}; what was there goes on`);
    }
  }
}
