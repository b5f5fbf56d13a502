/**
 * The ECMAScript engine: QuickJS as WebAssembly, which shares no memory and no objects with this process. One module
 * and one runtime serve all machines; each step gets a context of its own. What code may use is bounded, and the bound
 * on time is counted in work done, not in seconds, so that a step comes out the same on every machine.
 */
import {
  newQuickJSWASMModuleFromVariant,
  type QuickJSContext,
  type QuickJSRuntime,
} from "quickjs-emscripten-core";

export const engineLimits = {
  /** Bytes that one step's variables and code may take. Far beyond what a state should hold, far below a worker's memory. */
  memoryBytesMax: 64 * 1024 * 1024,
  /** Bytes of stack: deep enough for recursion over any JSON a state may hold. */
  stackBytesMax: 512 * 1024,
  /** How often the engine may ask whether to go on within one step: about 25 million simple operations, half a second or so. */
  ticksMax: 5_000,
} as const;

export class Engine {
  readonly #runtime: QuickJSRuntime;
  #ticks = 0;

  private constructor(runtime: QuickJSRuntime) {
    this.#runtime = runtime;
    runtime.setMemoryLimit(engineLimits.memoryBytesMax);
    runtime.setMaxStackSize(engineLimits.stackBytesMax);
    runtime.setInterruptHandler(() => ++this.#ticks > engineLimits.ticksMax);
  }

  /** Loads the engine; everything after is synchronous. */
  static async load(): Promise<Engine> {
    const module = await newQuickJSWASMModuleFromVariant(import("@jitl/quickjs-wasmfile-release-sync"));
    return new Engine(module.newRuntime());
  }

  /** A fresh world with its full allowance. Promises are left out: nothing would ever settle them inside a step. */
  newContext(): QuickJSContext {
    this.refill();
    return this.#runtime.newContext({
      intrinsics: {
        BaseObjects: true,
        Date: true,
        Eval: true,
        RegExpCompiler: true,
        RegExp: true,
        JSON: true,
        MapSet: true,
      },
    });
  }

  /** Gives the full allowance again. */
  refill(): void {
    this.#ticks = 0;
  }
}
