/** The façade: the way into the runtime. */
import { Engine } from "./engine.ts";
import type { Runtime, RuntimeOptions } from "./run.ts";

export type * from "./run.ts";

/** Opens a store and brings its runs back to life. */
export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const runtime = new Engine(options);
  try {
    await runtime.open();
  } catch (error) {
    await runtime.close().catch(() => {});
    throw error;
  }
  return runtime;
}
