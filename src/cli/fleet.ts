/** `holdfast fleet`: starts and stops workers on this machine by how much there is to do. */
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { limits } from "../limits.ts";
import { type FleetArguments, misused, workerArguments } from "./arguments.ts";
import { Census } from "./census.ts";
import { Crew } from "./crew.ts";
import { exit } from "./exit.ts";
import { loadOf } from "./figures.ts";
import { loadMachines } from "./load-machines.ts";
import { isServer } from "./open-store.ts";
import { type Demand, type Scaling, scale } from "./scaling.ts";
import { describe, type Terminal } from "./terminal.ts";

/** What a fleet is started with, besides what it was called with. */
export interface FleetWorld {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What Node runs to be this command. */
  readonly program: readonly string[];
}

/** Runs until `stop` is aborted, and ends when all its workers have; gives the code to end with. */
export async function lead(args: FleetArguments, world: FleetWorld, stop: AbortSignal): Promise<number> {
  if (!isServer(args.store))
    throw misused(
      "A fleet needs a PostgreSQL store: a SQLite file is for one process; run holdfast worker instead",
    );
  // What the workers could not load either is told once, here.
  await loadMachines(args.module);
  const { terminal, env, program } = world;
  const { min, max, coolDownMs, slots = limits.slots } = args;
  const crew = new Crew({
    command: [...program, ...workerArguments(args)],
    env: { ...env, HOLDFAST_STORE: args.store },
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
    if (scaling.wanted !== before) terminal.data(`workers: ${scaling.wanted}, were ${before}`);
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
