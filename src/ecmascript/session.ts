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
import { parseXml } from "../core/formats/scxml/xml.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { Chance } from "./chance.ts";
import { readContext, writeContext } from "./context.ts";
import { dateSource } from "./date.ts";
import type { Engine } from "./engine.ts";
import type { Program, Runner } from "./program.ts";
import { nowhere, Sandbox } from "./sandbox.ts";
import { ScriptError } from "./script-error.ts";
import { eventFields, systemVariables } from "./system.ts";
import { type Encoded, Variables } from "./variables.ts";

export class Session implements Runner {
  readonly #program: Program;
  readonly #sandbox: Sandbox;
  readonly #variables: Variables;
  readonly #chance: Chance;
  readonly #bound: string[];
  #rerun: readonly string[];
  /** The sources run since functions were last looked for. */
  #ran = new Set<string>();
  #scope: ModelScope;
  #event: Event | undefined;

  constructor(engine: Engine, program: Program, scope: ModelScope) {
    const kept = readContext(scope.context);
    this.#program = program;
    this.#scope = scope;
    this.#chance = new Chance(kept.chance);
    this.#bound = [...kept.bound];
    this.#rerun = kept.rerun;
    this.#sandbox = new Sandbox(engine, { withDate: program.usesDate });
    this.#equip();
    this.#variables = new Variables(this.#sandbox, program.lexicals);
    try {
      const system = JSON.stringify(systemVariables(scope, program.name));
      this.#variables.call("begin", [system]).dispose();
      this.#variables.restore(kept, (path) => this.#runAgain(path));
    } catch (error) {
      this.close();
      throw error;
    }
    this.#ran = new Set();
    this.#chance.rewind();
  }

  /** The scope of the code about to run: what `In` asks, and whose event `_event` is. */
  enter(scope: ModelScope): this {
    this.#scope = scope;
    if (scope.event !== this.#event) {
      this.#event = scope.event;
      this.#setEvent(eventFields(scope.event, scope.run));
    }
    return this;
  }

  /** A value, as JSON. */
  value(source: ValueSource): Json | undefined {
    const at = "at" in source ? source.at : nowhere;
    return this.#evaluate(source).consume((handle) => this.#toJson(handle, at));
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
    this.#variables.call("declare", [name], at).dispose();
  }

  /** Gives a variable its value. */
  bind(name: string, source: ValueSource, at: Origin): void {
    this.#evaluate(source).consume((value) => this.#variables.call("set", [name, value], at).dispose());
  }

  /** Runs `body` for each item of an array as it was at the beginning. https://www.w3.org/TR/scxml/#foreach */
  each(array: ValueSource, item: LocationSource, index: LocationSource | undefined, body: () => void): void {
    const copied = this.#evaluate(array).consume((given) =>
      this.#variables.call("copyArray", [given], item.at),
    );
    copied.consume((copy) => {
      for (const one of [item, index]) if (one !== undefined) this.#declareItem(one);
      const length = this.#sandbox.lengthOf(copy);
      for (let position = 0; position < length; position++) {
        this.#sandbox.part(copy, position).consume((value) => this.#assign(item, value));
        if (index !== undefined) this.store(index, position);
        body();
      }
    });
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
    this.#variables.rememberFunctions();
  }

  /** The sources run so far made functions if there are any now: then they are to run again. */
  checkFunctions(): void {
    this.#encode();
  }

  /** The variables as the new context. A step whose variables cannot be kept is refused. */
  save(): JsonObject {
    this.#sandbox.refill();
    const { data, kinds } = this.#encodeOrRefuse();
    const kept = { data, kinds, rerun: this.#rerun, bound: this.#bound, chance: this.#chance.state };
    return writeContext(kept, this.#scope.context);
  }

  close(): void {
    this.#sandbox.close(this.#variables.held);
  }

  /** What code finds besides the language itself: `In`, and chance and time that are inputs of the step. */
  #equip(): void {
    const sandbox = this.#sandbox;
    const isIn = sandbox.hostFunction("In", (id) => this.#scope.in(`#${id}`));
    sandbox.define("In", isIn);
    isIn.dispose();
    const random = sandbox.hostFunction("random", () => this.#chance.next(this.#scope.run));
    sandbox.replace("Math", "random", random);
    random.dispose();
    if (this.#program.usesDate) sandbox.make(dateSource, [this.#scope.at]).dispose();
  }

  #setEvent(fields: JsonObject | undefined): void {
    if (fields === undefined) {
      this.#variables.call("setEvent").dispose();
    } else if (isXmlText(fields.data)) {
      const { data, ...rest } = fields;
      this.#variables
        .xml(data)
        .consume((document) => this.#variables.call("setEvent", [JSON.stringify(rest), document]).dispose());
    } else {
      this.#variables.call("setEvent", [JSON.stringify(fields)]).dispose();
    }
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
        return this.#variables.call("parse", [JSON.stringify(source.value)]);
      case "xml":
        return this.#variables.xml(source.text);
      case "fault":
        throw new ScriptError(source.reason, source.at);
    }
  }

  #assign({ text, at }: LocationSource, value: QuickJSHandle): void {
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
    const json = this.#variables.call("toJson", [handle], at);
    return JSON.parse(json.consume((text) => this.#sandbox.textOf(text)));
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
    const encoded = this.#variables.encode();
    if (encoded.grown) this.#remember([...this.#ran]);
    return encoded;
  }

  #remember(paths: readonly string[]): void {
    this.#rerun = [...this.#rerun.filter((path) => !paths.includes(path)), ...paths];
  }
}

/** Event data that is XML arrives as a document. https://www.w3.org/TR/scxml/#ecmascript-profile */
function isXmlText(data: Json | undefined): data is string {
  if (typeof data !== "string" || !data.trimStart().startsWith("<")) return false;
  try {
    parseXml(data.trim());
    return true;
  } catch {
    return false;
  }
}
