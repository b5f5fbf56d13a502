/** `holdfast init`: a project to begin with, whole and small: a machine, its versions, its tests, and a store. */
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { intro, isCancel, outro, select, text } from "@clack/prompts";
import type { Command } from "commander";
import { type Given, misused, textOf } from "../arguments.ts";
import { tell } from "../connect.ts";
import { exit } from "../exit.ts";
import { commandOf, type World } from "../world.ts";
import { filesOf, type StoreChoice, stores } from "./files.ts";

export function initCommand(world: World): Command {
  return commandOf({
    name: "init",
    about: "Makes a project: a machine that asks for approval, a migration, tests that run, and a store.",
    examples: ["init my-agent", "init my-agent --store postgres"],
  })
    .argument("[folder]", "where it is made; it is asked for at a terminal")
    .option("--store <kind>", Object.keys(stores).join(", "))
    .option("--json", "tells it as JSON, and asks nothing")
    .action(async (folder: string | undefined, given: Given) => world.end(await init(folder, given, world)));
}

async function init(folder: string | undefined, given: Given, world: World): Promise<number> {
  const { terminal, cwd } = world;
  const wanted = textOf(given, "store");
  if (wanted !== undefined && !isStore(wanted))
    throw misused(`--store is ${wanted}; there are ${Object.keys(stores).join(", ")}`);
  const isAsking =
    terminal.isInteractive && given.json !== true && (folder === undefined || wanted === undefined);
  const chosen = isAsking ? await ask(folder, wanted) : { folder: folder ?? "", store: wanted ?? "sqlite" };
  if (chosen === undefined) return exit.misused;
  if (chosen.folder === "") throw misused("Say where it is to be made, as in: holdfast init my-agent");
  const target = resolve(cwd, chosen.folder);
  if (existsSync(target) && !statSync(target).isDirectory())
    throw misused(`${chosen.folder} is a file; name a folder that is new or empty`);
  if (existsSync(target) && readdirSync(target).length > 0)
    throw misused(`There is something in ${chosen.folder} already; name a folder that is new or empty`);
  const files = Object.entries(filesOf(basename(target), chosen.store));
  for (const [name, content] of files) {
    const path = join(target, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    if (given.json !== true) terminal.note(`  ${relative(cwd, path)}`);
  }
  const made = { folder: target, store: chosen.store, files: files.map(([name]) => name) };
  tell(world, given, made, () => [
    ...["", `  cd ${relative(cwd, target) || "."}`, "  npm install", "  npm test", "  npm run dev"],
  ]);
  return exit.done;
}

const isStore = (name: string): name is StoreChoice => Object.hasOwn(stores, name);

/** Asks for what was not said; undefined if the person does not want to. */
async function ask(
  folder: string | undefined,
  store: StoreChoice | undefined,
): Promise<{ readonly folder: string; readonly store: StoreChoice } | undefined> {
  intro("A durable agent");
  const named =
    folder ?? (await text({ message: "Where?", placeholder: "my-agent", defaultValue: "my-agent" }));
  if (isCancel(named)) return undefined;
  const options = Object.entries(stores).map(([value, { about }]) => ({
    value: value as StoreChoice,
    label: about,
  }));
  const kept = store ?? (await select({ message: "Where are its runs kept?", options }));
  if (isCancel(kept)) return undefined;
  outro(`${named}, on ${kept}`);
  return { folder: named, store: kept };
}
