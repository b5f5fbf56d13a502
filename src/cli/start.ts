/** `holdfast start`: a worker with a server and Studio, for others to ask with their keys. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { freezeStates } from "../core/json.ts";
import { serve } from "../server/serve.ts";
import { type Address, addressOption, type Given, misused } from "./arguments.ts";
import { tellLine } from "./connect.ts";
import { exit } from "./exit.ts";
import { loadMachines } from "./load-machines.ts";
import { isServer } from "./open-store.ts";
import { openStage } from "./stage.ts";
import { studioFolder } from "./studio-folder.ts";
import { tellingOf } from "./telemetry.ts";
import { describe } from "./terminal.ts";
import { addRunningOptions, drainingLine, leave, readRunning } from "./worker.ts";
import { commandOf, type World } from "./world.ts";

export function startCommand(world: World): Command {
  const command = commandOf({
    name: "start",
    about: "Runs the machines of a module with a server and Studio, for whoever has a key.",
    examples: [
      "start ./machines.js --store postgres://localhost/agents --listen 0.0.0.0:4400",
      "keys create me --role admin --store postgres://localhost/agents",
    ],
  });
  return addRunningOptions(command)
    .addOption(addressOption("--listen <host:port>", "where it is asked", "127.0.0.1:4400"))
    .action(async (module: string, given: Given) => world.end(await start(module, given, world)));
}

async function start(module: string, given: Given, world: World): Promise<number> {
  const { terminal, stop, cwd } = world;
  const listen = given.listen as Address | false;
  if (listen === false)
    throw misused("A server listens somewhere; holdfast worker runs machines without one");
  const args = readRunning(module, given, world);
  // `dev` and tests find whoever changes a state; a server that is in use pays for no more than it needs.
  freezeStates(false);
  const machines = await loadMachines(resolve(cwd, module));
  const telling = await tellingOf(args, terminal);
  const stage = await openStage(
    { store: args, machines, slots: args.slots, studio: studioFolder(), telling },
    world,
  );
  const served = await serve(stage.server, listen).catch(async (error: unknown) => {
    await stage.close();
    throw misused(`It cannot listen there: ${describe(error)}; give --listen another address`);
  });
  const up = { url: served.url, machines: machines.length, pid: process.pid };
  const line = `up: ${up.url}, ${up.machines} machine${up.machines === 1 ? "" : "s"}, process ${up.pid}`;
  tellLine(world, given, { up }, line);
  if ((await stage.server.keys.count()) === 0)
    terminal.note(
      `There is no key yet: make the first one with holdfast keys create NAME --role admin --store ${isServer(args.store) ? "…" : args.store}`,
    );
  const told = new Promise<"stop">((over) => {
    stop.addEventListener("abort", () => over("stop"), { once: true });
    if (stop.aborted) over("stop");
  });
  const reason = await Promise.race([told, stage.runtime.stopped]);
  terminal.note(reason === "stop" ? drainingLine(args) : describe(reason));
  const isServed = await served.close(args.drainMs);
  if (reason !== "stop") {
    await stage.close();
    return exit.failed;
  }
  const code = await leave(stage.runtime, args.drainMs, terminal);
  return code === exit.done && !isServed ? exit.undrained : code;
}
