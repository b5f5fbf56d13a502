/**
 * The ECMAScript engine: QuickJS as WebAssembly, which shares no objects with this process. One instance serves all
 * machines; each step gets a context of its own. What code may use is bounded, and the bound on work is counted, not
 * timed, so that a step comes out the same on every machine.
 *
 * E1. Code that meets a bound gets an error like any other.
 * E2. Code that breaks the instance (it overflows the native stack, or memory fails where the engine does not look)
 *     takes down its own step only: the instance is given up, and the next step runs in the spare one.
 */
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from "quickjs-emscripten-core";
import { HoldfastError } from "../errors.ts";

/** The part of WebAssembly used here; the compiler's library has it for browsers only. */
declare const WebAssembly: {
  readonly Memory: new (pages: {
    readonly initial: number;
    readonly maximum: number;
  }) => { readonly buffer: ArrayBuffer };
};

const pageBytes = 65_536;

export const engineLimits = {
  /** Bytes of one allocation: the longest string, the largest array, the JSON text of a whole context. */
  allocationBytesMax: 16 * 1024 * 1024,
  /** Bytes by which one step may grow the instance. Far beyond what a state should hold. */
  growthBytesMax: 64 * 1024 * 1024,
  /** Bytes after which an instance is replaced before the next step, since WebAssembly memory never shrinks. */
  retireBytes: 128 * 1024 * 1024,
  /** Bytes of an instance at most: room for one step's growth beyond the size at which it would be replaced. */
  memoryBytesMax: 256 * 1024 * 1024,
  /** Bytes of stack: over a thousand calls deep, and most often met before the native stack is. */
  stackBytesMax: 256 * 1024,
  /** How often the engine may ask whether to go on within one step: some 25 million simple operations, about a second. */
  ticksMax: 5_000,
  /** Milliseconds of one step, where there is a clock. Only builtins over very large values get there before the ticks. */
  stepMsMax: 10_000,
} as const;

export interface EngineOptions {
  /** A clock in milliseconds, as a second bound beside the count of ticks. The engine has none of its own. */
  readonly now?: () => number;
}

export class Engine {
  readonly #options: EngineOptions;
  #current: Instance;
  #spare: Instance | undefined;

  private constructor(options: EngineOptions, current: Instance, spare: Instance) {
    this.#options = options;
    this.#current = current;
    this.#spare = spare;
  }

  /** Loads the engine; everything after is synchronous. */
  static async load(options: EngineOptions = {}): Promise<Engine> {
    return new Engine(options, await Instance.load(options), await Instance.load(options));
  }

  /** The instance to run the next step in. */
  instance(): Instance {
    if (this.#current.isWorn && this.#spare !== undefined) {
      this.#current = this.#spare;
      this.#spare = undefined;
      void this.#loadSpare();
    }
    if (this.#current.isBroken) {
      throw new HoldfastError(
        "SANDBOX_UNAVAILABLE",
        "The sandbox broke down twice in a row and is being loaded anew; take the step again",
      );
    }
    return this.#current;
  }

  async #loadSpare(): Promise<void> {
    this.#spare = await Instance.load(this.#options);
  }
}

/** One life of the engine: a WebAssembly module with its memory. */
export class Instance {
  readonly #runtime: QuickJSRuntime;
  readonly #bytes: () => number;
  readonly #now: () => number;
  #ticks = 0;
  #startedAt = 0;
  #startBytes = 0;
  #broken = false;

  private constructor(runtime: QuickJSRuntime, bytes: () => number, { now = () => 0 }: EngineOptions) {
    this.#runtime = runtime;
    this.#bytes = bytes;
    this.#now = now;
    runtime.setMemoryLimit(engineLimits.allocationBytesMax);
    runtime.setMaxStackSize(engineLimits.stackBytesMax);
    runtime.setInterruptHandler(() => this.#isExhausted());
  }

  static async load(options: EngineOptions): Promise<Instance> {
    const memory = new WebAssembly.Memory({
      initial: (16 * 1024 * 1024) / pageBytes,
      maximum: engineLimits.memoryBytesMax / pageBytes,
    });
    const { default: variant } = await import("@jitl/quickjs-wasmfile-release-sync");
    const bounded = newVariant(variant as unknown as QuickJSSyncVariant, { wasmMemory: memory });
    const module = await newQuickJSWASMModuleFromVariant(bounded);
    return new Instance(module.newRuntime(), () => memory.buffer.byteLength, options);
  }

  /** Whether another one should take its place. */
  get isWorn(): boolean {
    return this.#broken || this.#bytes() > engineLimits.retireBytes;
  }

  /** Whether nothing in it can be trusted any more. */
  get isBroken(): boolean {
    return this.#broken;
  }

  giveUp(): void {
    this.#broken = true;
  }

  /** A fresh world with its full allowance. Promises are left out: nothing would ever settle them inside a step. */
  newContext({ withDate }: { readonly withDate: boolean }): QuickJSContext {
    this.refill();
    return this.#runtime.newContext({
      intrinsics: {
        BaseObjects: true,
        Date: withDate,
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
    this.#startedAt = this.#now();
    this.#startBytes = this.#bytes();
  }

  #isExhausted(): boolean {
    return (
      ++this.#ticks > engineLimits.ticksMax ||
      this.#bytes() - this.#startBytes > engineLimits.growthBytesMax ||
      this.#now() - this.#startedAt > engineLimits.stepMsMax
    );
  }
}
