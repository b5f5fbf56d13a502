/** `holdfast worker`: a process that runs the machines of a module, and leaves in good order when it is told to. */
import type { Command } from "commander";
import { freezeStates } from "../core/json.ts";
import { limits } from "../limits.ts";
import { systemClock } from "../runtime/clock.ts";
import type { Runtime } from "../runtime/run.ts";
import { createRuntime } from "../runtime/runtime.ts";
import { hasThisProcess, isThisProcess } from "../runtime/worker.ts";
import { countDue } from "../server/due.ts";
import { type Figures, loadOf, metricsText } from "../server/figures.ts";
import { Readiness } from "../server/readiness.ts";
import type { Store } from "../store/store.ts";
import {
  type Address,
  addressOption,
  addStoreOptions,
  countOption,
  type Given,
  misused,
  type StoreArguments,
  storeOf,
  timeOption,
} from "./arguments.ts";
import { tellLine } from "./connect.ts";
import { exit } from "./exit.ts";
import { loadMachines } from "./load-machines.ts";
import { storeAt } from "./open-store.ts";
import { type Probes, serveProbes } from "./probes.ts";
import { Supervisor } from "./supervisor.ts";
import { addTelemetryOptions, type TelemetryArguments, telemetryOf, tellingOf } from "./telemetry.ts";
import { describe, type Terminal } from "./terminal.ts";
import { commandOf, type World } from "./world.ts";

export interface RunningArguments extends StoreArguments, TelemetryArguments {
  readonly module: string;
  readonly slots: number | undefined;
  readonly drainMs: number;
  /** Whether what it tells is JSON. */
  readonly json: boolean | undefined;
}

export interface WorkerArguments extends RunningArguments {
  readonly listen: Address | undefined;
}

export function workerCommand(world: World): Command {
  const command = commandOf({
    name: "worker",
    about: "Runs the machines of a module until it is told to stop (SIGTERM or SIGINT; twice: at once).",
    examples: ["worker ./machines.js --store postgres://localhost/agents", "worker ./machines.js --slots 50"],
  });
  return addRunningOptions(command)
    .addOption(
      addressOption(
        "--listen <host:port>",
        "where /healthz, /readyz and /metrics are served, off for nowhere",
        "127.0.0.1:9464",
      ),
    )
    .action(async (module: string, given: Given) =>
      world.end(await work(readWorker(module, given, world), world.terminal, world.stop)),
    );
}

/** Adds what every process that runs machines is told. */
export function addRunningOptions(command: Command): Command {
  const withStore = addStoreOptions(
    command.argument("<module>", "a file that exports machines, or entries of { machine, activities }"),
  );
  return addTelemetryOptions(withStore)
    .addOption(
      countOption("--slots <n>", "how many activities one process runs at a time; 1000 unless given"),
    )
    .addOption(timeOption("--drain <time>", "how long activities may take to end after SIGTERM", "30s"))
    .option("--json", "tells what it tells as lines of JSON");
}

export function readRunning(module: string, given: Given, world: Pick<World, "env">): RunningArguments {
  const slots = given.slots as number | undefined;
  return {
    ...storeOf(given, world),
    ...telemetryOf(given, world),
    module,
    slots,
    drainMs: given.drain as number,
    json: given.json as boolean | undefined,
  };
}

export function readWorker(module: string, given: Given, world: Pick<World, "env">): WorkerArguments {
  const listen = given.listen as Address | false;
  return { ...readRunning(module, given, world), listen: listen === false ? undefined : listen };
}

/** Runs until `stop` is aborted; gives the code to end with. */
export async function work(args: WorkerArguments, terminal: Terminal, stop: AbortSignal): Promise<number> {
  // As `holdfast start` does, and why.
  freezeStates(false);
  const machines = await loadMachines(args.module);
  const telling = await tellingOf(args, terminal);
  let store: Store | undefined;
  let readiness: Readiness | undefined;
  let probes: Probes | undefined;
  const supervisor = new Supervisor({
    open: () => {
      store = storeAt(args);
      readiness = new Readiness(store, systemClock);
      return createRuntime({
        store,
        machines,
        ...(args.slots === undefined ? {} : { flow: { slots: args.slots } }),
        ...telling,
      });
    },
    up: () => tellUp(args, { machines: machines.length, probes }, terminal),
    note: (line) => terminal.note(line),
  });
  if (args.listen !== undefined)
    probes = await serveProbes(args.listen, {
      unready: () => unready(supervisor.runtime, readiness, stop.aborted),
      metrics: async () => metricsText(await figuresOf(supervisor.runtime, store, stop.aborted)),
    }).catch((error: unknown) => {
      throw misused(`Probes cannot be served: ${describe(error)}; give --listen another address, or off`);
    });
  try {
    await supervisor.keepUp(stop);
    const { runtime } = supervisor;
    if (runtime === undefined) return exit.done;
    terminal.note(drainingLine(args));
    return await leave(runtime, args.drainMs, terminal);
  } finally {
    await probes?.close();
  }
}

/** Takes nothing new, lets activities end, and goes; gives the code to end with. */
export async function leave(runtime: Runtime, drainMs: number, terminal: Terminal): Promise<number> {
  const drained = await runtime.drain(drainMs).catch((error: unknown) => ({ error }));
  await runtime.close();
  if (typeof drained === "object") {
    // A store that is away leaves nothing to drain into, and nobody to ask what was under way.
    terminal.note(`it could not drain: ${describe(drained.error)}; others take over when its lease lapses`);
    return exit.failed;
  }
  terminal.note(drained ? "drained" : "activities were still under way; they are left to others");
  return drained ? exit.done : exit.undrained;
}

export const drainingLine = ({ drainMs }: RunningArguments): string =>
  `draining, for ${drainMs / 1_000} s at most; once more to end at once`;

function tellUp(
  { slots = limits.slots, json }: WorkerArguments,
  { machines, probes }: { readonly machines: number; readonly probes: Probes | undefined },
  terminal: Terminal,
): void {
  const up = { machines, slots, pid: process.pid, ...(probes === undefined ? {} : { url: probes.url }) };
  const served = probes === undefined ? "" : `, ${probes.url}`;
  const line = `up: ${machines} machine${machines === 1 ? "" : "s"}, ${slots} slots, process ${up.pid}${served}`;
  tellLine({ terminal }, { json }, { up }, line);
}

/** Whether others may count on it, and why not. One that owns its store alone is no member of anything. */
export async function unready(
  runtime: Pick<Runtime, "members"> | undefined,
  readiness: Pick<Readiness, "store"> | undefined,
  isDraining: boolean,
): Promise<string | undefined> {
  if (isDraining) return "draining";
  if (runtime === undefined || readiness === undefined) return "no runtime is up";
  if (!hasThisProcess(runtime.members())) return "not a member";
  // Who the members are is what it last heard; a store that is away tells it nothing more.
  const why = await readiness.store();
  return why === undefined ? undefined : `the store ${why}`;
}

/** What it tells whoever scrapes it: of the fleet, and of this process. */
export async function figuresOf(
  runtime: Pick<Runtime, "members"> | undefined,
  store: Store | undefined,
  isDraining: boolean,
): Promise<Figures> {
  const members = runtime?.members() ?? [];
  const due = runtime === undefined || store === undefined ? undefined : await countDue(store, Date.now());
  return {
    isUp: runtime !== undefined,
    isDraining,
    members: members.filter(({ isLeaving }) => !isLeaving).length,
    fleet: loadOf(members),
    process: loadOf(members.filter(({ worker }) => isThisProcess(worker))),
    due,
  };
}
