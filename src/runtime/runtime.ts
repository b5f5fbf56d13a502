/** The façade: the way into the runtime. */
import { Engine } from "./engine.ts";
import type { Runtime, RuntimeOptions } from "./run.ts";

export type * from "./run.ts";

/** Opens a store and brings its runs back to life. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const runtime = new Engine(options);
  await runtime.open();
  return runtime;
}
