/** `holdfast fleet`: starts and stops workers on this machine by how much there is to do. */
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { limits } from "../limits.ts";
import { loadOf } from "../server/figures.ts";
import { countOption, type Given, misused, timeOption } from "./arguments.ts";
import { Census } from "./census.ts";
import { tellLine } from "./connect.ts";
import { Crew } from "./crew.ts";
import { exit } from "./exit.ts";
import { loadMachines } from "./load-machines.ts";
import { isServer } from "./open-store.ts";
import { type Demand, type Scaling, scale } from "./scaling.ts";
import { asOptions } from "./telemetry.ts";
import { describe } from "./terminal.ts";
import { addRunningOptions, type RunningArguments, readRunning } from "./worker.ts";
import { commandOf, type World } from "./world.ts";

export interface FleetArguments extends RunningArguments {
  readonly min: number;
  readonly max: number;
  readonly everyMs: number;
  readonly coolDownMs: number;
}

export function fleetCommand(world: World): Command {
  const command = commandOf({
    name: "fleet",
    about: "Starts and stops workers on this machine, by how much there is to do.",
    examples: ["fleet ./machines.js --store postgres://localhost/agents --min 1 --max 8"],
  });
  return addRunningOptions(command)
    .addOption(countOption("--min <n>", "how many workers there are at least").default(1))
    .addOption(countOption("--max <n>", "how many workers there are at most").default(4))
    .addOption(timeOption("--every <time>", "how often the load is looked at", "2s"))
    .addOption(timeOption("--cool-down <time>", "how long it must be calm before workers go", "30s"))
    .action(async (module: string, given: Given) =>
      world.end(await lead(readFleet(module, given, world), world)),
    );
}

export function readFleet(module: string, given: Given, world: Pick<World, "env">): FleetArguments {
  const { min, max, every, coolDown } = given as Readonly<Record<string, number>>;
  if ((min as number) > (max as number)) throw misused(`--min ${min} is more than --max ${max}`);
  const times = { everyMs: every as number, coolDownMs: coolDown as number };
  return { ...readRunning(module, given, world), min: min as number, max: max as number, ...times };
}

/** The arguments that make a worker of what a fleet was called with. The store goes by the environment, unseen by others. */
export function workerArguments(given: RunningArguments): string[] {
  const { module, slots, drainMs, schema, signals, json } = given;
  return [
    ...["worker", module, "--listen", "off", "--drain", `${drainMs}ms`],
    ...(slots === undefined ? [] : ["--slots", String(slots)]),
    ...asOptions(given),
    ...(schema === undefined ? [] : ["--schema", schema]),
    ...(json ? ["--json"] : []),
    ...(signals === undefined ? [] : ["--signals", signals === false ? "off" : signals]),
  ];
}

/** Runs until it is told to stop, and ends when all its workers have; gives the code to end with. */
async function lead(args: FleetArguments, { terminal, env, program, stop }: World): Promise<number> {
  if (!isServer(args.store))
    throw misused(
      "A fleet needs a PostgreSQL store: a SQLite file is for one process; run holdfast worker instead",
    );
  // What the workers could not load either is told once, here.
  await loadMachines(args.module);
  const { min, max, coolDownMs, slots = limits.slots } = args;
  const crew = new Crew({
    command: [...program, ...workerArguments(args)],
    env: { ...env, HOLDFAST_STORE: args.store, HOLDFAST_REDIS: args.redis },
    note: (line) => terminal.note(line),
  });
  // Whoever ends this process at once means all of it.
  process.once("exit", () => crew.dismissNow());
  const census = await Census.open(args.store, args.schema);
  let scaling: Scaling = { wanted: min };
  while (!stop.aborted) {
    const demand = await demandOf(census, crew).catch((error: unknown) => {
      terminal.note(describe(error));
      return undefined;
    });
    const before = scaling.wanted;
    // Of a store that does not answer nothing can be concluded.
    if (demand !== undefined) scaling = scale(scaling, demand, { min, max, coolDownMs, slots }, Date.now());
    if (scaling.wanted !== before)
      tellLine(
        { terminal },
        { json: args.json },
        { workers: scaling.wanted, were: before },
        `workers: ${scaling.wanted}, were ${before}`,
      );
    crew.keep(scaling.wanted);
    await sleep(args.everyMs, undefined, { signal: stop }).catch(() => {});
  }
  await crew.dismissAll();
  await census.close();
  return exit.done;
}

/**
 * What its own workers have to do, and what nobody does. Others who share the store see to themselves. Undefined until the
 * first worker has made the store.
 */
async function demandOf(census: Census, crew: Crew): Promise<Demand | undefined> {
  if (!(await census.isReady())) return undefined;
  const own = crew.pids.map((pid) => `${hostname()} ${pid} `);
  const { members } = await census.members();
  const { running, waiting } = loadOf(
    members.filter(({ worker }) => own.some((name) => worker.startsWith(name))),
  );
  return { running, waiting, due: await census.due() };
}
