/**
 * A session: the sandbox of one run for the length of one step. It is built from the run's context when the first
 * expression needs it, and its variables become the new context at the end. Nothing else survives.
 *
 * S1. Only JSON text crosses the border, both ways; no object of the sandbox is held outside beyond one call.
 * S2. Code of the document runs with the step's time, the run's own chance and no other input.
 */
import type { QuickJSHandle } from "quickjs-emscripten-core";
import type { ModelScope } from "../core/data-model.ts";
import type { Event } from "../core/event.ts";
import type { LocationSource, Origin, ValueSource } from "../core/formats/scxml/source.ts";
import { parseXml, writeXml } from "../core/formats/scxml/xml.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { type Kept, readContext, writeContext } from "./context.ts";
import { domSource } from "./dom.ts";
import type { Engine } from "./engine.ts";
import { preludeSource } from "./prelude.ts";
import type { Program, Runner } from "./program.ts";
import { Sandbox } from "./sandbox.ts";
import { ScriptError } from "./script-error.ts";
import { eventFields, systemVariables } from "./system.ts";

const nowhere: Origin = { tag: "scxml", line: 1, column: 1 };

interface Encoded {
  readonly data: JsonObject;
  readonly kinds: Readonly<Record<string, string>>;
  readonly chance: number;
}

export class Session implements Runner {
  readonly #program: Program;
  readonly #sandbox: Sandbox;
  /** The sandbox's own functions, by name. */
  readonly #inner: QuickJSHandle;
  readonly #kept: Kept;
  readonly #seed: number;
  readonly #bound: string[];
  #rerun: readonly string[];
  /** The sources run since functions were last looked for. */
  #ran = new Set<string>();
  #scope: ModelScope;
  #event: Event | undefined;

  constructor(engine: Engine, program: Program, scope: ModelScope) {
    this.#program = program;
    this.#scope = scope;
    this.#kept = readContext(scope.context);
    this.#bound = [...this.#kept.bound];
    this.#rerun = this.#kept.rerun;
    this.#seed = this.#kept.chance ?? seedOf(scope.run);
    this.#sandbox = new Sandbox(engine);
    this.#inner = this.#install();
    try {
      this.#callWith("begin", {
        at: scope.at,
        chance: this.#seed,
        lexicals: program.lexicals,
        system: systemVariables(scope, program.name),
      });
      this.#restore();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The scope of the code about to run: what `In` asks, and whose event `_event` is. */
  enter(scope: ModelScope): this {
    this.#scope = scope;
    if (scope.event === this.#event) return this;
    this.#event = scope.event;
    const fields = eventFields(scope.event, scope.run);
    if (fields === undefined) this.#call("setEvent").dispose();
    else this.#callWith("setEvent", fields, isXmlText(fields.data));
    return this;
  }

  /** A value, as JSON. */
  value(source: ValueSource): Json | undefined {
    return this.#evaluate(source).consume((handle) => this.#toJson(handle, originOf(source)));
  }

  /** Whether a condition holds, in the sense of ECMAScript's truth. */
  holds(text: string, at: Origin): boolean {
    return this.#sandbox.run(`!!(\n${text}\n)`, at).consume((handle) => this.#sandbox.isTrue(handle));
  }

  /** Runs a script in the global scope, as sloppy as scripts are. */
  run(text: string, at: Origin): void {
    this.#sandbox.run(text, at).dispose();
  }

  /** Writes a value to a place that exists; strict, so that places that do not exist or are read-only are errors. */
  assign(location: LocationSource, source: ValueSource): void {
    this.#evaluate(source).consume((value) => this.#assign(location, value));
  }

  store(location: LocationSource, value: Json): void {
    this.assign(location, { scxml: "constant", value });
  }

  /** Makes a variable, without a value. */
  declare(name: string, at: Origin): void {
    this.#sandbox.text(name).consume((handle) => this.#call("declare", [handle], at).dispose());
  }

  /** Gives a variable its value. */
  bind(name: string, source: ValueSource, at: Origin): void {
    this.#evaluate(source).consume((value) =>
      this.#sandbox.text(name).consume((handle) => this.#call("set", [handle, value], at).dispose()),
    );
  }

  /** Runs `body` for each item of an array as it was at the beginning. https://www.w3.org/TR/scxml/#foreach */
  each(array: ValueSource, item: LocationSource, index: LocationSource | undefined, body: () => void): void {
    this.#evaluate(array).consume((given) =>
      this.#call("copyArray", [given], item.at).consume((copy) => {
        for (const one of [item, index]) if (one !== undefined) this.#declareItem(one);
        const length = this.#sandbox.lengthOf(copy);
        for (let position = 0; position < length; position++) {
          this.#sandbox.part(copy, position).consume((value) => this.#assign(item, value));
          if (index !== undefined) this.store(index, position);
          body();
        }
      }),
    );
  }

  /** Runs late data once in the life of the run. */
  bindOnce(path: string, bind: () => void): void {
    if (this.#bound.includes(path)) return;
    this.#bound.push(path);
    bind();
  }

  /** Takes note that a source ran, for the case that it made functions. */
  note(path: string): void {
    this.#ran.delete(path);
    this.#ran.add(path);
  }

  /** These sources run again whenever the session is rebuilt, whether they made functions or not. */
  alwaysRerun(paths: readonly string[]): void {
    this.#remember(paths);
    this.#ran = new Set();
    this.#call("rememberFunctions").dispose();
  }

  /** The sources run so far made functions if there are any now: then they are to run again. */
  checkFunctions(): void {
    this.#encode();
  }

  /** The variables as the new context. A step whose variables cannot be kept is refused. */
  save(): JsonObject {
    this.#sandbox.refill();
    const { data, kinds, chance } = this.#encodeOrRefuse();
    const kept = {
      data,
      kinds,
      rerun: this.#rerun,
      bound: this.#bound,
      chance: chance === this.#seed ? this.#kept.chance : chance,
    };
    return writeContext(kept, this.#scope.context);
  }

  close(): void {
    if (!this.#sandbox.isBroken) this.#inner.dispose();
    this.#sandbox.close();
  }

  /** Puts the sandbox's own functions in place, with the few things they need of the host. */
  #install(): QuickJSHandle {
    const sandbox = this.#sandbox;
    const isIn = sandbox.hostFunction("In", (id) => this.#scope.in(`#${id}`));
    const makeDom = sandbox.hostMaker("makeDom", () => {
      const parse = sandbox.hostFunction("parse", (text) => JSON.stringify(parseXml(text)));
      const write = sandbox.hostFunction("write", (tree) => writeXml(JSON.parse(tree)));
      return this.#make(domSource, [parse, write]);
    });
    return this.#make(preludeSource, [isIn, makeDom]);
  }

  /** What a function in source text gives for these arguments, which are used up. */
  #make(source: string, args: readonly QuickJSHandle[]): QuickJSHandle {
    const made = this.#sandbox
      .run(source, nowhere)
      .consume((maker) => this.#sandbox.call(maker, args, nowhere));
    for (const handle of args) handle.dispose();
    return made;
  }

  /** Brings the variables back: their values, then the functions, which need the values, then the values again. */
  #restore(): void {
    const { data, kinds, rerun } = this.#kept;
    if (rerun.length > 0) {
      this.#callWith("restore", { data, kinds }, false);
      for (const path of rerun) this.#runAgain(path);
    }
    if (Object.keys(data).length > 0) this.#callWith("restore", { data, kinds }, true);
    if (rerun.length > 0) this.#call("rememberFunctions").dispose();
    this.#ran = new Set();
  }

  /** Its errors were reported when it ran first, and what it does to variables is undone after. */
  #runAgain(path: string): void {
    try {
      this.#program.source(path)?.(this);
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
    }
  }

  #evaluate(source: ValueSource): QuickJSHandle {
    switch (source.scxml) {
      case "expression":
        // A trailing semicolon is no part of an expression, but people write it.
        return this.#sandbox.run(`(\n${source.text.replace(/;\s*$/, "")}\n)`, source.at);
      case "constant":
        return this.#sandbox
          .text(JSON.stringify(source.value))
          .consume((json) => this.#call("parse", [json]));
      case "xml":
        return this.#sandbox.text(source.text).consume((text) => this.#call("xml", [text]));
      case "fault":
        throw new ScriptError(source.reason, source.at);
    }
  }

  #assign(location: LocationSource, value: QuickJSHandle): void {
    const { text, at } = location;
    this.#sandbox
      .run(`(function () { "use strict"; ${text}\n = arguments[0]; })`, at)
      .consume((setter) => this.#sandbox.call(setter, [value], at).dispose());
  }

  /** Loop variables are made if they are not there. A name that cannot be one fails before anything is made. */
  #declareItem({ text, at }: LocationSource): void {
    if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(text))
      throw new ScriptError(`${text} is not the name of a variable`, at);
    this.#sandbox.run(`(function (${text}) { "use strict"; })`, at).dispose();
    this.declare(text, at);
  }

  #toJson(handle: QuickJSHandle, at: Origin): Json | undefined {
    const type = this.#sandbox.typeOf(handle);
    if (type === "undefined") return undefined;
    if (type === "string") return this.#sandbox.textOf(handle);
    return this.#call("toJson", [handle], at).consume(
      (json) => JSON.parse(this.#sandbox.textOf(json)) as Json,
    );
  }

  #encodeOrRefuse(): Encoded {
    try {
      return this.#encode();
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      const reason = `${error.data.reason}`;
      throw this.#sandbox.isBroken
        ? new HoldfastError("STEP_UNBOUNDED", `${reason}; let the step do less`, { cause: error })
        : new HoldfastError("NOT_JSON", `${reason}; keep plain data in variables`, { cause: error });
    }
  }

  #encode(): Encoded {
    const json = this.#call("save").consume((handle) => this.#sandbox.textOf(handle));
    const { grown, ...encoded } = JSON.parse(json);
    if (grown) this.#remember([...this.#ran]);
    return encoded;
  }

  #remember(paths: readonly string[]): void {
    this.#rerun = [...this.#rerun.filter((path) => !paths.includes(path)), ...paths];
  }

  #call(name: string, args: readonly QuickJSHandle[] = [], at: Origin = nowhere): QuickJSHandle {
    return this.#sandbox.part(this.#inner, name).consume((inner) => this.#sandbox.call(inner, args, at));
  }

  #callWith(name: string, value: unknown, flag = false): void {
    this.#sandbox
      .text(JSON.stringify(value))
      .consume((json) => this.#call(name, [json, this.#sandbox.truth(flag)]).dispose());
  }
}

function originOf(source: ValueSource): Origin {
  return "at" in source ? source.at : nowhere;
}

/** Event data that is XML arrives as a document. https://www.w3.org/TR/scxml/#ecmascript-profile */
function isXmlText(data: Json | undefined): boolean {
  if (typeof data !== "string" || !data.trimStart().startsWith("<")) return false;
  try {
    parseXml(data.trim());
    return true;
  } catch {
    return false;
  }
}

/** A number of its own for each run, for its chance to begin with. */
function seedOf(run: string): number {
  let hash = 0;
  for (let index = 0; index < run.length; index++) hash = (Math.imul(hash, 31) + run.charCodeAt(index)) | 0;
  return hash;
}
