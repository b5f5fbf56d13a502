/**
 * The variables inside a sandbox: how they come in from a context and go out to one. Plain JSON takes the short way
 * through the frame; anything more needs the keeper, which is read in only then.
 */
import type { QuickJSHandle } from "quickjs-emscripten-core";
import type { Origin } from "../core/formats/scxml/source.ts";
import { parseXml, writeXml } from "../core/formats/scxml/xml.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Kept } from "./context.ts";
import { domSource } from "./dom.ts";
import { frameSource } from "./frame.ts";
import { keeperSource } from "./keeper.ts";
import { type Argument, nowhere, type Sandbox } from "./sandbox.ts";

export interface Encoded {
  readonly data: JsonObject;
  readonly kinds: Readonly<Record<string, string>>;
  /** Whether there are functions that were not there when functions were last remembered. */
  readonly grown: boolean;
}

export class Variables {
  readonly #sandbox: Sandbox;
  readonly #lexicals: readonly string[];
  readonly #frame: QuickJSHandle;
  #keeper: QuickJSHandle | undefined;
  #dom: QuickJSHandle | undefined;

  constructor(sandbox: Sandbox, lexicals: readonly string[]) {
    this.#sandbox = sandbox;
    this.#lexicals = lexicals;
    this.#frame = sandbox.make(frameSource, []);
  }

  /** What must be let go of before the sandbox can be closed. */
  get held(): readonly (QuickJSHandle | undefined)[] {
    return [this.#frame, this.#keeper, this.#dom];
  }

  /** Calls one of the frame's functions. */
  call(name: string, args: readonly Argument[] = [], at: Origin = nowhere): QuickJSHandle {
    return this.#callIn(this.#frame, name, args, at);
  }

  /** A document object made from XML text. */
  xml(text: string): QuickJSHandle {
    return this.#callIn(this.#domOf(), "read", [text], nowhere);
  }

  /** Brings values back. `runAgain` runs code that makes functions, with the values in place, before they come again. */
  restore({ data, kinds, rerun }: Kept, runAgain: (path: string) => void): void {
    if (rerun.length === 0 && Object.keys(data).length === 0) return;
    const simple = this.#lexicals.length === 0 ? simplyDecoded(data, kinds) : undefined;
    const json = JSON.stringify({ data, kinds });
    const put = (remade: boolean): void => {
      if (simple !== undefined && this.#putSimply(simple)) return;
      if (simple === undefined || remade) this.#keep("restore", [json, remade]).dispose();
    };
    if (rerun.length > 0) {
      put(false);
      for (const path of rerun) runAgain(path);
    }
    put(true);
    if (rerun.length > 0) this.rememberFunctions();
  }

  /** From here on, the functions there are now count as known. */
  rememberFunctions(): void {
    this.call("rememberFunctions").dispose();
    if (this.#saveSimply() === undefined) this.#keep("rememberFunctions").dispose();
  }

  encode(): Encoded {
    return (
      this.#saveSimply() ?? JSON.parse(this.#keep("save").consume((handle) => this.#sandbox.textOf(handle)))
    );
  }

  #putSimply(simple: Simple): boolean {
    return this.call("restore", [JSON.stringify(simple)]).consume((handle) => this.#sandbox.isTrue(handle));
  }

  #saveSimply(): Encoded | undefined {
    if (this.#keeper !== undefined || this.#lexicals.length > 0) return undefined;
    return this.call("save").consume((handle) =>
      this.#sandbox.typeOf(handle) === "string"
        ? simplyEncoded(JSON.parse(this.#sandbox.textOf(handle)))
        : undefined,
    );
  }

  #keep(name: string, args: readonly Argument[] = []): QuickJSHandle {
    this.#keeper ??= this.#makeKeeper();
    return this.#callIn(this.#keeper, name, args, nowhere);
  }

  #makeKeeper(): QuickJSHandle {
    return this.#sandbox
      .hostFunction("xml", (text = "") => this.xml(text))
      .consume((xml) => this.#sandbox.make(keeperSource, [this.#frame, xml, this.#lexicals]));
  }

  #domOf(): QuickJSHandle {
    if (this.#dom === undefined) {
      const sandbox = this.#sandbox;
      const parse = sandbox.hostFunction("parse", (text = "") => JSON.stringify(parseXml(text)));
      const write = sandbox.hostFunction("write", (tree = "") => writeXml(JSON.parse(tree)));
      this.#dom = sandbox.make(domSource, [parse, write, this.#frame]);
      parse.dispose();
      write.dispose();
    }
    return this.#dom;
  }

  #callIn(owner: QuickJSHandle, name: string, args: readonly Argument[], at: Origin): QuickJSHandle {
    return this.#sandbox.part(owner, name).consume((inner) => this.#sandbox.call(inner, args, at));
  }
}

/** Variables that are JSON, that have no value, and that are functions the document's code makes. */
interface Simple {
  readonly data: JsonObject;
  readonly unset: readonly string[];
  readonly functions: readonly string[];
}

function simplyEncoded({ data, unset, functions }: Simple): Encoded {
  const others = [
    ...unset.map((name) => [name, "undefined"]),
    ...functions.map((name) => [name, "function"]),
  ];
  return {
    data: { ...data, ...Object.fromEntries(others.map(([name]) => [name, null])) },
    kinds: Object.fromEntries(others.map(([name = "", kind = ""]) => [pointer(name), kind])),
    grown: false,
  };
}

/** The same way back; undefined if there is more to these variables. */
function simplyDecoded(data: JsonObject, kinds: Kept["kinds"]): Simple | undefined {
  const simple = { data: {} as Record<string, Json>, unset: [] as string[], functions: [] as string[] };
  let odd = Object.keys(kinds).length;
  for (const [name, value] of Object.entries(data)) {
    const kind = Object.hasOwn(kinds, pointer(name)) ? kinds[pointer(name)] : undefined;
    if (kind === undefined) simple.data[name] = value;
    else if (kind === "undefined") simple.unset.push(name);
    else if (kind === "function") simple.functions.push(name);
    else return undefined;
    if (kind !== undefined) odd--;
  }
  return odd === 0 ? simple : undefined;
}

/** A JSON pointer to a variable. */
function pointer(name: string): string {
  return `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
