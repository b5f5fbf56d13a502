/** The façade: the way into the runtime. */
import { systemClock } from "./clock.ts";
import { Engine } from "./engine.ts";
import { checkOptions, isRecord, optionsError } from "./options.ts";
import { Profiler } from "./profile/profiler.ts";
import type { Runtime, RuntimeOptions } from "./run.ts";

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
  checkOptions(usage, given);
  const { store, machines, role, observers = [] } = given;
  const isStore = isRecord(store) && typeof store.open === "function";
  if (!isStore) throw optionsError(usage, store, "the store");
  if (!Array.isArray(machines)) throw optionsError(usage, machines, "machines");
  if (role !== undefined && role !== "worker" && role !== "client")
    throw optionsError(usage, role, "the role");
  if (!Array.isArray(observers) || !observers.every(isRecord))
    throw optionsError(usage, observers, "observers");
}
