/**
 * Where a command finds runs: at a server, which it is told of or finds by what `holdfast dev` left in the folder, or in a
 * store, with a server of its own in this process that nobody else can ask. Either way it speaks through the same client.
 */
import type { Command } from "commander";
import { type Client, createClient } from "../client/client.ts";
import { addStoreOptions, type Given, misused, storeOf, textOf } from "./arguments.ts";
import { findDev } from "./dev-file.ts";
import { type Connection, openInside } from "./inside.ts";
import type { Described, World } from "./world.ts";
import { commandOf } from "./world.ts";

/** A command that is carried out through a connection, and can tell what it found as JSON. */
export function connectedCommand(described: Described): Command {
  const command = commandOf(described)
    .option(
      "--url <url>",
      "where a server is; the variable HOLDFAST_URL, or what holdfast dev left here, unless given",
    )
    .option("--api-key <key>", "the key for it; the variable HOLDFAST_KEY unless given");
  return addStoreOptions(command, "instead of a server: postgres://… or the path of a SQLite file")
    .option("--module <path>", "with --store: the file that exports the machines")
    .option("--json", "tells it as JSON");
}

/** The same for a command about one run. */
export const runCommand = (described: Described): Command =>
  connectedCommand(described).argument("<run>", "the run's id");

/** The same for a command that acts on runs: it may say who does. */
export const addActor = (command: Command): Command =>
  command.option("--as <name>", "with --store: who does it, for the journal; your user unless given");

type Act<Arguments extends readonly unknown[]> = (
  client: Client,
  given: Given,
  ...args: Arguments
) => Promise<void>;

/** An action that has a connection while it works. One that is only tried looks at runs and no more. */
export function connected<Arguments extends readonly unknown[]>(
  world: World,
  act: Act<Arguments>,
  isLooking = (given: Given) => given.dryRun === true,
): (...all: unknown[]) => Promise<void> {
  return async (...all) => {
    const given = all.at(-2) as Given;
    const { client, close } = await connect(given, isLooking(given), world);
    try {
      await act(client, given, ...(all.slice(0, -2) as unknown as Arguments));
    } finally {
      await close();
    }
  };
}

/**
 * The same for an action that changes no run: it takes nothing of a store from whoever works on it. One that waits for steps
 * to come is no such action, since somebody must take those.
 */
export function looking<Arguments extends readonly unknown[]>(world: World, act: Act<Arguments>) {
  return connected(world, act, (given) => given.watch !== true);
}

/** Tells what was asked for: as JSON, or in lines for people. */
export function tell(world: World, given: Given, value: unknown, lines: () => readonly string[]): void {
  // Where more is to come each is a line, so that whoever reads them knows where one ends.
  if (given.json === true)
    world.terminal.data(JSON.stringify(value, undefined, given.watch === true ? undefined : 2));
  else for (const line of lines()) world.terminal.data(line);
}

/** The same of a process that goes on: a line for each thing it tells. */
export function tellLine(world: Pick<World, "terminal">, given: Given, value: unknown, line: string): void {
  world.terminal.data(given.json === true ? JSON.stringify(value) : line);
}

async function connect(given: Given, isLooking: boolean, world: World): Promise<Connection> {
  const [module, by] = [textOf(given, "module"), textOf(given, "as")];
  const inside = () => openInside({ store: storeOf(given, world), module, isLooking, by }, world);
  const at = (url: string, key: string | undefined) => {
    if (by === undefined) return remote(url, key);
    throw misused(`--as goes with --store; at the server ${url} the key says who does it`);
  };
  // A variable that is empty says nothing.
  const named = given.store === undefined ? world.env.HOLDFAST_URL || undefined : undefined;
  const url = textOf(given, "url") ?? named;
  const key = textOf(given, "apiKey") ?? (world.env.HOLDFAST_KEY || undefined);
  // What goes into a header; anything else would be told in the words of whoever sends it.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw misused("The key has characters that no key has; look for it where keys create told it: hf_…");
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url)) throw misused(`--url is ${url}; write http://… or https://…`);
    return at(url, key);
  }
  if (given.store !== undefined) return inside();
  const found = await findDev(world.cwd, world.terminal.note);
  // Whoever wrote that file is not to have the key of another server.
  if (found !== undefined) return at(found.url, textOf(given, "apiKey") ?? found.token);
  if (world.env.HOLDFAST_STORE) return inside();
  throw misused(
    "There is no server here: start one with holdfast dev, say where one is with --url, or give a --store",
  );
}

function remote(url: string, key: string | undefined): Connection {
  const client = createClient({ url, ...(key === undefined ? {} : { key }) });
  return { client, url, close: async () => {} };
}
