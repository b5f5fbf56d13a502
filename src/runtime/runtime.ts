/** The façade: the way into the runtime. */
import { systemClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import type { FlowOptions } from "./flow/flow.ts";
import type { HousekeepingPlan } from "./housekeeping/housekeeper.ts";
import { systemIds } from "./ids.ts";
import { checkFunction, checkMethods, checkOptions, isRecord, type Names, optionsError } from "./options.ts";
import { Profiler } from "./profile/profiler.ts";
import type { Runtime, RuntimeOptions } from "./run.ts";
import { noSeal } from "./seal.ts";

export type * from "./run.ts";

/** Opens a store and brings its runs back to life. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  checkRuntimeOptions(options);
  const profiler = options.profile === true ? new Profiler(options.clock ?? systemClock) : undefined;
  const store = profiler?.watch(options.store) ?? options.store;
  const runtime = new Engine({ ...options, store }, profiler);
  try {
    await runtime.open();
  } catch (error) {
    await runtime.close().catch(() => {});
    throw error;
  }
  return runtime;
}

/** Throws OPTIONS_INVALID for options without which there is no runtime. */
function checkRuntimeOptions(given: RuntimeOptions): void {
  const usage = 'createRuntime({ store, machines, role: "worker" or "client", observers: [] })';
  checkOptions(usage, given, runtimeNames);
  const { store, machines, role, observers = [] } = given;
  checkMethods(usage, { store }, ["open"]);
  if (!Array.isArray(machines)) throw optionsError(usage, machines, "machines");
  if (role !== undefined && role !== "worker" && role !== "client")
    throw optionsError(usage, role, "the role");
  if (!Array.isArray(observers) || !observers.every(isRecord))
    throw optionsError(usage, observers, "observers");
  checkPorts(given);
}

const runtimeNames: Names<RuntimeOptions> = {
  ...{ store: true, machines: true, seal: true, clock: true, ids: true, flow: true, role: true },
  ...{ observers: true, onLog: true, onEmit: true, onProblem: true },
  ...{ mustKnowAll: true, housekeeping: true, profile: true },
};
const flowNames: Names<FlowOptions> = { slots: true };
const housekeepingNames: Names<HousekeepingPlan> = {
  ...{ every: true, expire: true, retain: true, prune: true, backup: true, tenants: true },
};

/** What stands between a runtime and the world would fail with the first step, and not before. */
function checkPorts({ clock = systemClock, ids = systemIds, seal = noSeal, ...given }: RuntimeOptions): void {
  checkMethods("createRuntime({ clock: { now, after, soon } })", { clock }, ["now", "after", "soon"]);
  checkMethods("createRuntime({ ids: { next, chance } })", { ids }, ["next", "chance"]);
  checkMethods("createRuntime({ seal: { close, open } })", { seal }, ["close", "open"]);
  for (const name of ["onLog", "onEmit", "onProblem"] as const)
    if (given[name] !== undefined)
      checkFunction(`createRuntime({ ${name}: (told) => {} })`, given[name], name);
  const { flow = {}, housekeeping = {} } = given;
  checkOptions("createRuntime({ flow: {} })", flow, flowNames);
  checkOptions("createRuntime({ housekeeping: {} })", housekeeping, housekeepingNames);
}
