/** `holdfast worker`: a process that runs the machines of a module, and leaves in good order when it is told to. */
import { hostname } from "node:os";
import { limits } from "../limits.ts";
import type { Runtime } from "../runtime/run.ts";
import { createRuntime } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";
import { misused, type WorkerArguments } from "./arguments.ts";
import { countDue } from "./due.ts";
import { exit } from "./exit.ts";
import { type Figures, loadOf, metricsText } from "./figures.ts";
import { loadMachines } from "./load-machines.ts";
import { storeAt } from "./open-store.ts";
import { type Probes, serveProbes } from "./probes.ts";
import { Supervisor } from "./supervisor.ts";
import { describe, type Terminal } from "./terminal.ts";

/** Runs until `stop` is aborted; gives the code to end with. */
export async function work(args: WorkerArguments, terminal: Terminal, stop: AbortSignal): Promise<number> {
  const machines = await loadMachines(args.module);
  let store: Store | undefined;
  let probes: Probes | undefined;
  const supervisor = new Supervisor({
    open: () => {
      store = storeAt(args);
      return createRuntime({
        store,
        machines,
        ...(args.slots === undefined ? {} : { flow: { slots: args.slots } }),
        onProblem: ({ tenant, run, error }) => terminal.note(`run ${run} of ${tenant}: ${describe(error)}`),
      });
    },
    up: () => terminal.data(upLine(args, machines.length, probes)),
    note: (line) => terminal.note(line),
  });
  if (args.listen !== undefined)
    probes = await serveProbes(args.listen, {
      unready: () => unready(supervisor.runtime, stop.aborted),
      metrics: async () => metricsText(await figuresOf(supervisor.runtime, store, stop.aborted)),
    }).catch((error: unknown) => {
      throw misused(`Probes cannot be served: ${describe(error)}; give --listen another address, or off`);
    });
  try {
    await supervisor.keepUp(stop);
    return await leave(supervisor.runtime, args.drainMs, terminal);
  } finally {
    await probes?.close();
  }
}

/** Takes nothing new, lets activities end, and goes. */
async function leave(runtime: Runtime | undefined, drainMs: number, terminal: Terminal): Promise<number> {
  if (runtime === undefined) return exit.done;
  terminal.note(`draining, for ${drainMs / 1_000} s at most; once more to end at once`);
  // A store that is away now leaves nothing to drain into: others take over when the lease lapses.
  const isDrained = await runtime.drain(drainMs).catch((error: unknown) => {
    terminal.note(describe(error));
    return false;
  });
  await runtime.close();
  terminal.note(isDrained ? "drained" : "activities were still under way; they are left to others");
  return isDrained ? exit.done : exit.undrained;
}

function upLine(
  { slots = limits.slots }: WorkerArguments,
  machines: number,
  probes: Probes | undefined,
): string {
  const served = probes === undefined ? "" : `, ${probes.url}`;
  return `up: ${machines} machine${machines === 1 ? "" : "s"}, ${slots} slots, process ${process.pid}${served}`;
}

/** Whether others may count on it, and why not. One that owns its store alone is no member of anything. */
function unready(runtime: Runtime | undefined, isDraining: boolean): string | undefined {
  if (isDraining) return "draining";
  if (runtime === undefined) return "no runtime is up";
  const members = runtime.members();
  return members.length === 0 || members.some(isThisProcess) ? undefined : "not a member";
}

async function figuresOf(
  runtime: Runtime | undefined,
  store: Store | undefined,
  isDraining: boolean,
): Promise<Figures> {
  const members = runtime?.members() ?? [];
  const due = runtime === undefined || store === undefined ? undefined : await countDue(store);
  return {
    isUp: runtime !== undefined,
    isDraining,
    members: members.filter(({ isLeaving }) => !isLeaving).length,
    fleet: loadOf(members),
    process: loadOf(members.filter(isThisProcess)),
    due,
  };
}

const isThisProcess = ({ worker }: { readonly worker: string }): boolean =>
  worker.startsWith(`${hostname()} ${process.pid} `);
