/**
 * A sandbox: one context of the engine and the only door to it. Code and calls go in, handles come out, and whatever
 * goes wrong inside comes out as a ScriptError that names the element.
 */
import type { QuickJSContext, QuickJSHandle } from "quickjs-emscripten-core";
import type { Origin } from "../core/formats/scxml/source.ts";
import type { Engine, Instance } from "./engine.ts";
import { ScriptError } from "./script-error.ts";

type Result = ReturnType<QuickJSContext["callFunction"]>;

/** What may be handed in: text, a truth value, a number, a list of texts, or something that is inside already. */
export type Argument = string | boolean | number | readonly string[] | QuickJSHandle;

/** Where errors of the sandbox's own code are said to be. */
export const nowhere: Origin = { tag: "scxml", line: 1, column: 1 };

export class Sandbox {
  readonly #instance: Instance;
  readonly #context: QuickJSContext;

  constructor(engine: Engine, options: { readonly withDate: boolean }) {
    this.#instance = engine.instance();
    this.#context = this.#instance.newContext(options);
  }

  /** Whether it broke down, so that nothing of it can be used or saved. */
  get isBroken(): boolean {
    return this.#instance.isBroken;
  }

  /** Runs code in the global scope. */
  run(code: string, at: Origin): QuickJSHandle {
    return this.#guard(at, () => this.#context.evalCode(code, `${at.tag}:${at.line}`, { type: "global" }));
  }

  call(inner: QuickJSHandle, args: readonly Argument[], at: Origin): QuickJSHandle {
    const handles = args.map((argument) => this.#handleOf(argument));
    try {
      return this.#guard(at, () => this.#context.callFunction(inner, this.#context.undefined, ...handles));
    } finally {
      for (const [index, handle] of handles.entries())
        if (handle !== args[index] && !this.isBroken) handle.dispose();
    }
  }

  /** What a function in source text gives for these arguments. */
  make(source: string, args: readonly Argument[]): QuickJSHandle {
    return this.run(source, nowhere).consume((maker) => this.call(maker, args, nowhere));
  }

  /** A function of the host for code inside to call, with texts. */
  hostFunction(name: string, work: (...texts: string[]) => Argument): QuickJSHandle {
    const context = this.#context;
    return context.newFunction(name, (...args) =>
      this.#handleOf(work(...args.map((arg) => context.getString(arg)))),
    );
  }

  /** Makes a global that cannot be changed. */
  define(name: string, value: QuickJSHandle): void {
    this.#context.defineProp(this.#context.global, name, { value });
  }

  /** Puts something in place of a part of a global object. */
  replace(object: string, key: string, value: QuickJSHandle): void {
    this.part(this.#context.global, object).consume((found) => this.#context.setProp(found, key, value));
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

  /** Ends it, with whatever is still held of it. What is broken is left alone: touching it could break more. */
  close(held: readonly (QuickJSHandle | undefined)[]): void {
    if (this.isBroken) return;
    for (const handle of held) handle?.dispose();
    this.#context.dispose();
  }

  #handleOf(value: Argument): QuickJSHandle {
    const context = this.#context;
    if (typeof value === "string") return context.newString(value);
    if (typeof value === "number") return context.newNumber(value);
    if (typeof value === "boolean") return value ? context.true : context.false;
    if (!Array.isArray(value)) return value as QuickJSHandle;
    const list = context.newArray();
    for (const [index, item] of value.entries())
      context.newString(item).consume((handle) => context.setProp(list, index, handle));
    return list;
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
