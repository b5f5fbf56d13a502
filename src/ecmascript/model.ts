/**
 * The ECMAScript data model of SCXML, as a data model of the core. https://www.w3.org/TR/scxml/#ecmascript-profile
 * Everything is compiled to closures over a session, and a session is made only when code of the document has to run:
 * a step that evaluates nothing costs nothing here.
 */

import type { Code, DataModel, Evaluate, ModelScope } from "../core/data-model.ts";
import type { Address } from "../core/effect.ts";
import { addressOf, httpProcessor, invokesScxml, processorOf } from "../core/formats/scxml/address.ts";
import { delayMs } from "../core/formats/scxml/delay.ts";
import type {
  ActionSource,
  AddressSource,
  BindSource,
  DataItem,
  LocationSource,
  MachineSource,
  Origin,
  ParamsSource,
  ProcessorSource,
  ScxmlSource,
  StartSource,
  ValueSource,
} from "../core/formats/scxml/source.ts";
import { isScxmlSource } from "../core/formats/scxml/source.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Engine } from "./engine.ts";
import { Program } from "./program.ts";
import { ScriptError } from "./script-error.ts";
import { Session } from "./session.ts";

type Block = (actions: unknown, path: string) => Code;

/** A data model for one machine: it learns the machine's code while the machine is compiled. */
export function ecmascriptModel(engine: Engine): DataModel {
  const program = new Program();
  const within = (scope: ModelScope): Session => {
    scope.session ??= new Session(engine, program, scope);
    return (scope.session as Session).enter(scope);
  };
  const value = (source: ValueSource): Evaluate<Json | undefined> => {
    if (source.scxml === "constant") return () => source.value;
    if (source.scxml === "xml") return () => source.text;
    return (scope) => within(scope).value(source);
  };
  const text = (source: ValueSource, at: Origin): Evaluate<string> => {
    const evaluate = value(source);
    return (scope) => {
      const given = evaluate(scope);
      if (typeof given !== "string") throw new ScriptError(`${JSON.stringify(given)} is not text`, at);
      return given;
    };
  };

  /** Sources of the document's own kinds, each to what it evaluates to. */
  const evaluators = {
    params(source: ParamsSource): Evaluate<JsonObject | undefined> {
      const params = source.params.map(({ name, value: given }) => ({ name, evaluate: value(given) }));
      return (scope) => {
        const pairs: [string, Json][] = [];
        for (const { name, evaluate } of params) {
          try {
            const given = evaluate(scope);
            if (given !== undefined) pairs.push([name, given]);
          } catch (error) {
            if (!source.lenient) throw error;
            scope.fail(error);
          }
        }
        return gather(pairs);
      };
    },
    delay(source: { readonly value: ValueSource }): Evaluate<number> {
      const evaluate = value(source.value);
      return (scope) => {
        const given = evaluate(scope);
        const ms = typeof given === "number" ? given : delayMs(String(given));
        if (ms === undefined || ms < 0)
          throw new ScriptError(`${JSON.stringify(given)} is not a delay`, placeOf(source.value));
        return ms;
      };
    },
    address({ target, type, at }: AddressSource): Evaluate<Address> {
      const targetText = target && text(target, at);
      const typeText = type && text(type, at);
      return (scope) => {
        const asked = typeText?.(scope);
        const processor = processorOf(asked);
        if (processor === undefined) throw new ScriptError(`The send type ${asked} is not supported`, at);
        const to = targetText?.(scope);
        const address = addressOf(to, processor);
        if (address === undefined) throw new ScriptError(`The send target ${to} is not legal`, at);
        return address;
      };
    },
    processor({ type, at }: ProcessorSource): Evaluate<string | undefined> {
      const typeText = text(type, at);
      return (scope) => (processorOf(typeText(scope)) === httpProcessor ? httpProcessor : undefined);
    },
    machine({ name, type, at }: MachineSource): Evaluate<string> {
      const typeText = type && text(type, at);
      const nameText = text(name, at);
      return (scope) => {
        const asked = typeText?.(scope);
        if (!invokesScxml(asked)) throw new ScriptError(`The invoke type ${asked} is not supported`, at);
        return nameText(scope);
      };
    },
  };

  const store = (location: LocationSource, given: ValueSource, path: string): Code => {
    program.add(path, (session) => session.assign(location, given));
    return (scope) => {
      const session = within(scope);
      session.assign(location, given);
      session.note(path);
    };
  };

  const bind = ({ id, value: given, at }: DataItem, path: string): Code => {
    if (given === undefined) return () => {};
    program.add(path, (session) => session.bind(id, given, at));
    return (scope) => {
      // A variable whose value fails is there all the same, and the next one gets its turn. SCXML 5.3.3
      attempt(scope, () => {
        const session = within(scope);
        session.bind(id, given, at);
        session.note(path);
      });
    };
  };

  const actions = {
    assign: ({ location, value: given }: Extract<ActionSource, { scxml: "assign" }>, path: string): Code =>
      store(location, given, path),
    script({ text: code, at }: Extract<ActionSource, { scxml: "script" }>, path: string): Code {
      program.addScript(code);
      program.add(path, (session) => session.run(code, at));
      return (scope) => {
        const session = within(scope);
        session.run(code, at);
        session.note(path);
      };
    },
    foreach(
      { array, item, index, actions: inner, at }: Extract<ActionSource, { scxml: "foreach" }>,
      path: string,
      block: Block,
    ): Code {
      const body = block(inner, `${path}.actions`);
      const place = (name: string): LocationSource => ({ scxml: "location", text: name, at });
      const indexPlace = index === undefined ? undefined : place(index);
      return (scope) => within(scope).each(array, place(item), indexPlace, () => body(scope));
    },
    adopt({ pairs }: Extract<ActionSource, { scxml: "adopt" }>): Code {
      return (scope) => {
        const { data } = scope.event;
        if (typeof data !== "object" || data === null || Array.isArray(data)) return;
        for (const { name, location } of pairs)
          if (Object.hasOwn(data, name)) within(scope).store(location, (data as JsonObject)[name]!);
      };
    },
  };

  return {
    name: "ecmascript",
    start(source, path) {
      const { name, declared, data, scripts } = source as StartSource;
      program.name = name;
      const items = data.map((item, index) => {
        const place = `${path}.data[${index}]`;
        return { item, run: bind(item, place) };
      });
      const runs = scripts.map((script, index) => {
        const place = `${path}.scripts[${index}]`;
        return { place, run: actions.script({ scxml: "script", ...script }, place) };
      });
      return (scope, input) => {
        const given = (typeof input === "object" && input !== null ? input : {}) as JsonObject;
        const session = within(scope);
        for (const id of declared) attempt(scope, () => session.declare(id, startOrigin));
        for (const { item, run } of items) {
          if (item.replaceable && Object.hasOwn(given, item.id))
            attempt(scope, () =>
              session.bind(item.id, { scxml: "constant", value: given[item.id]! }, item.at),
            );
          else run(scope);
        }
        session.checkFunctions();
        for (const { run } of runs) attempt(scope, () => run(scope));
        if (runs.length > 0) session.alwaysRerun(runs.map(({ place }) => place));
        return scope.context;
      };
    },
    value(source) {
      if (!isScxmlSource(source)) return () => source;
      return source.scxml in evaluators
        ? evaluators[source.scxml as keyof typeof evaluators](source as never)
        : value(source as ValueSource);
    },
    condition(source) {
      const { text: code, at } = source as Extract<ScxmlSource, { scxml: "expression" }>;
      return (scope) => within(scope).holds(code, at);
    },
    update(_source, path) {
      throw new TypeError(`${path}: SCXML has no updates; use <assign> or <script>`);
    },
    action(source, path, block) {
      const given = source as unknown as ActionSource;
      return actions[given.scxml](given as never, path, block);
    },
    location(source) {
      const location = source as unknown as LocationSource;
      return (scope, given) => within(scope).store(location, given);
    },
    declare(source, path) {
      const { data } = source as unknown as BindSource;
      const items = data.map((item, index) => bind(item, `${path}[${index}]`));
      return (scope) =>
        within(scope).bindOnce(path, () => {
          for (const run of items) run(scope);
        });
    },
    // Sessions are made when the first code needs one; this only says that there will be something to close.
    open() {},
    save(scope) {
      return scope.session === undefined ? scope.context : (scope.session as Session).save();
    },
    close(scope) {
      (scope.session as Session | undefined)?.close();
      scope.session = undefined;
    },
  };
}

const startOrigin: Origin = { tag: "datamodel", line: 1, column: 1 };

function placeOf(source: ValueSource): Origin {
  return "at" in source ? source.at : startOrigin;
}

/** An object of pairs; undefined if there are none. All values of a repeated name are kept, as a list. SCXML 6.2.4 */
function gather(pairs: readonly (readonly [string, Json])[]): JsonObject | undefined {
  if (pairs.length === 0) return undefined;
  const names = [...new Set(pairs.map(([name]) => name))];
  return Object.fromEntries(
    names.map((name) => {
      const values = pairs.filter(([one]) => one === name).map(([, given]) => given);
      return [name, values.length === 1 ? values[0]! : values];
    }),
  );
}

function attempt(scope: ModelScope, work: () => void): void {
  try {
    work();
  } catch (error) {
    scope.fail(error);
  }
}
