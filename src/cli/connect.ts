/**
 * Where a command finds runs: at a server, which it is told of or finds by what `holdfast dev` left in the folder, or in a
 * store, with a server of its own in this process that nobody else can ask. Either way it speaks through the same client.
 */
import type { Command } from "commander";
import { type Client, createClient } from "../client/client.ts";
import { type Given, misused, storeOf, textOf } from "./arguments.ts";
import { findDev } from "./dev-file.ts";
import { type Connection, openInside } from "./inside.ts";
import type { Described, World } from "./world.ts";
import { commandOf } from "./world.ts";

/** A command that is carried out through a connection, and can tell what it found as JSON. */
export function connectedCommand(described: Described): Command {
  return commandOf(described)
    .option(
      "--url <url>",
      "where a server is; the variable HOLDFAST_URL, or what holdfast dev left here, unless given",
    )
    .option("--api-key <key>", "the key for it; the variable HOLDFAST_KEY unless given")
    .option("--store <url>", "instead of a server: postgres://… or the path of a SQLite file")
    .option("--module <path>", "with --store: the file that exports the machines")
    .option("--json", "tells it as JSON");
}

/** An action that has a connection while it works. */
export function connected<Arguments extends readonly unknown[]>(
  world: World,
  act: (client: Client, given: Given, ...args: Arguments) => Promise<void>,
): (...all: unknown[]) => Promise<void> {
  return async (...all) => {
    const given = all.at(-2) as Given;
    const { client, close } = await connect(given, world);
    try {
      await act(client, given, ...(all.slice(0, -2) as unknown as Arguments));
    } finally {
      await close();
    }
  };
}

/** Tells what was asked for: as JSON, or in lines for people. */
export function tell(world: World, given: Given, value: unknown, lines: () => readonly string[]): void {
  if (given.json === true) world.terminal.data(JSON.stringify(value, undefined, 2));
  else for (const line of lines()) world.terminal.data(line);
}

async function connect(given: Given, world: World): Promise<Connection> {
  // A variable that is empty says nothing.
  const named = given.store === undefined ? world.env.HOLDFAST_URL || undefined : undefined;
  const url = textOf(given, "url") ?? named;
  const key = textOf(given, "apiKey") ?? (world.env.HOLDFAST_KEY || undefined);
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url)) throw misused(`--url is ${url}; write http://… or https://…`);
    return remote(url, key);
  }
  if (given.store !== undefined) return openInside(storeOf(given, world), textOf(given, "module"), world);
  const found = await findDev(world.cwd, world.terminal.note);
  // Whoever wrote that file is not to have the key of another server.
  if (found !== undefined) return remote(found.url, textOf(given, "apiKey") ?? found.token);
  if (world.env.HOLDFAST_STORE) return openInside(storeOf(given, world), textOf(given, "module"), world);
  throw misused(
    "There is no server here: start one with holdfast dev, say where one is with --url, or give a --store",
  );
}

function remote(url: string, key: string | undefined): Connection {
  const client = createClient({ url, ...(key === undefined ? {} : { key }) });
  return { client, url, close: async () => {} };
}
