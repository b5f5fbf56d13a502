#!/usr/bin/env node
/** The `holdfast` command. The rest is loaded only by a Node that can. */
import { exitOf, type Stop } from "./exit.ts";

const needed = [24, 16] as const;
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `Holdfast needs Node ${needed.join(".")} or newer, and this is ${process.versions.node}.\n`,
  );
  process.exit(1);
}
const { execute } = await import("./command.ts");
const { terminalOf } = await import("./terminal.ts");

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"] satisfies Stop[])
  process.on(signal, () => {
    if (stop.signal.aborted) process.exit(exitOf[signal]);
    stop.abort();
  });
// Whoever read along has gone, as `head` does once it has enough: there is nobody to go on for, and nobody to tell.
process.stdout.on("error", () => stop.abort());
process.stderr.on("error", () => {});
// A worker whose fleet is gone has nobody to stop it later.
process.on("disconnect", () => stop.abort());
const world = {
  env: process.env,
  terminal: terminalOf(process.env),
  program: [...process.execArgv, process.argv[1] as string],
  cwd: process.cwd(),
  stop: stop.signal,
};
process.exit(await execute(process.argv.slice(2), world));
