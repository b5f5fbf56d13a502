/**
 * A sandbox: one context of the engine and the only door to it. Code and calls go in, handles come out, and whatever
 * goes wrong inside comes out as a ScriptError that names the element.
 */
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";
import type { Origin } from "../core/formats/scxml/source.ts";
import type { Engine, Instance } from "./engine.ts";
import { ScriptError } from "./script-error.ts";

type Result = ReturnType<QuickJSContext["callFunction"]>;

export class Sandbox {
  readonly #instance: Instance;
  readonly #context: QuickJSContext;

  constructor(engine: Engine) {
    this.#instance = engine.instance();
    this.#context = this.#instance.newContext();
  }

  /** Whether it broke down, so that nothing of it can be used or saved. */
  get isBroken(): boolean {
    return this.#instance.isBroken;
  }

  /** Runs code in the global scope. */
  run(code: string, at: Origin): QuickJSHandle {
    return this.#guard(at, () => this.#context.evalCode(code, `${at.tag}:${at.line}`, { type: "global" }));
  }

  call(inner: QuickJSHandle, args: readonly QuickJSHandle[], at: Origin): QuickJSHandle {
    return this.#guard(at, () => this.#context.callFunction(inner, this.#context.undefined, ...args));
  }

  /** A function of the host, for code inside to call. Text goes in; text or a truth value comes out. */
  hostFunction(name: string, work: (text: string) => string | boolean): QuickJSHandle {
    return this.#context.newFunction(name, (text) => {
      const given = work(this.#context.getString(text));
      return typeof given === "string" ? this.#context.newString(given) : this.truth(given);
    });
  }

  /** A function of the host that gives whatever is made inside. */
  hostMaker(name: string, make: () => QuickJSHandle): QuickJSHandle {
    return this.#context.newFunction(name, make);
  }

  text(value: string): QuickJSHandle {
    return this.#context.newString(value);
  }

  truth(value: boolean): QuickJSHandle {
    return value ? this.#context.true : this.#context.false;
  }

  part(handle: QuickJSHandle, key: string | number): QuickJSHandle {
    return this.#context.getProp(handle, key);
  }

  typeOf(handle: QuickJSHandle): string {
    return this.#context.typeof(handle);
  }

  textOf(handle: QuickJSHandle): string {
    return this.#context.getString(handle);
  }

  isTrue(handle: QuickJSHandle): boolean {
    return this.#context.dump(handle) === true;
  }

  lengthOf(array: QuickJSHandle): number {
    return this.#context.getLength(array) ?? 0;
  }

  /** Gives the full allowance of work again. */
  refill(): void {
    this.#instance.refill();
  }

  close(): void {
    // What is broken is left to the garbage collector as a whole; touching it could break more.
    if (!this.isBroken) this.#context.dispose();
  }

  #guard(at: Origin, work: () => Result): QuickJSHandle {
    if (this.isBroken) throw new ScriptError("The sandbox of this step broke down before", at);
    let result: Result;
    try {
      result = work();
    } catch (error) {
      // Errors of the code inside are results; one that is thrown went through the engine and left it in pieces.
      this.#instance.giveUp();
      throw new ScriptError(`The code broke its sandbox: ${(error as Error).message}`, at);
    }
    if (result.error === undefined) return result.value;
    throw new ScriptError(describeThrown(result.error.consume((thrown) => this.#context.dump(thrown))), at);
  }
}

function describeThrown(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null) return String(thrown) || "out of memory";
  const { name, message } = thrown as { name?: unknown; message?: unknown };
  return message === undefined ? JSON.stringify(thrown) : `${name}: ${message}`;
}
