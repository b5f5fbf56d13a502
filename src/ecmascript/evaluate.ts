/** Sources that give values, compiled: expressions, and what SCXML makes of them in sends and invocations. */
import type { Evaluate } from "../core/data-model.ts";
import type { Address } from "../core/effect.ts";
import { addressOf, httpProcessor, invokesScxml, processorOf } from "../core/formats/scxml/address.ts";
import { delayMs } from "../core/formats/scxml/delay.ts";
import type {
  AddressSource,
  DelaySource,
  MachineSource,
  Origin,
  ParamsSource,
  ProcessorSource,
  ScxmlSource,
  ValueSource,
} from "../core/formats/scxml/source.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { ScriptError } from "./script-error.ts";
import type { Sessions } from "./sessions.ts";

/** What a source evaluates to. */
export function evaluator(sessions: Sessions, source: ScxmlSource): Evaluate<unknown> {
  switch (source.scxml) {
    case "params":
      return paramsEvaluator(sessions, source);
    case "delay":
      return delayEvaluator(sessions, source);
    case "address":
      return addressEvaluator(sessions, source);
    case "processor":
      return processorEvaluator(sessions, source);
    case "machine":
      return machineEvaluator(sessions, source);
    default:
      return valueEvaluator(sessions, source as ValueSource);
  }
}

/** Constants need no session. */
function valueEvaluator(sessions: Sessions, source: ValueSource): Evaluate<Json | undefined> {
  if (source.scxml === "constant") return () => source.value;
  if (source.scxml === "xml") return () => source.text;
  if (source.scxml === "expression") sessions.program.scan(source.text);
  return (scope) => sessions.of(scope).value(source);
}

function textEvaluator(sessions: Sessions, source: ValueSource, at: Origin): Evaluate<string> {
  const evaluate = valueEvaluator(sessions, source);
  return (scope) => {
    const given = evaluate(scope);
    if (typeof given !== "string") throw new ScriptError(`${JSON.stringify(given)} is not text`, at);
    return given;
  };
}

function paramsEvaluator(
  sessions: Sessions,
  { params, lenient }: ParamsSource,
): Evaluate<JsonObject | undefined> {
  const compiled = params.map(({ name, value }) => ({ name, evaluate: valueEvaluator(sessions, value) }));
  return (scope) => {
    const pairs: [string, Json][] = [];
    for (const { name, evaluate } of compiled) {
      try {
        const given = evaluate(scope);
        if (given !== undefined) pairs.push([name, given]);
      } catch (error) {
        if (!lenient) throw error;
        scope.fail(error);
      }
    }
    return gather(pairs);
  };
}

/** An object of pairs; undefined if there are none. All values of a repeated name are kept, as a list. SCXML 6.2 */
function gather(pairs: readonly (readonly [string, Json])[]): JsonObject | undefined {
  if (pairs.length === 0) return undefined;
  const names = [...new Set(pairs.map(([name]) => name))];
  return Object.fromEntries(
    names.map((name) => {
      const values = pairs.filter(([one]) => one === name).map(([, given]) => given);
      return [name, values.length === 1 ? (values[0] as Json) : values];
    }),
  );
}

function delayEvaluator(sessions: Sessions, { value, at }: DelaySource): Evaluate<number> {
  const evaluate = valueEvaluator(sessions, value);
  return (scope) => {
    const given = evaluate(scope);
    const ms = typeof given === "number" ? given : delayMs(String(given));
    if (ms === undefined || ms < 0) throw new ScriptError(`${JSON.stringify(given)} is not a delay`, at);
    return ms;
  };
}

function addressEvaluator(sessions: Sessions, { target, type, at }: AddressSource): Evaluate<Address> {
  const targetText = target && textEvaluator(sessions, target, at);
  const typeText = type && textEvaluator(sessions, type, at);
  return (scope) => {
    const asked = typeText?.(scope);
    const processor = processorOf(asked);
    if (processor === undefined) throw new ScriptError(`The send type ${asked} is not supported`, at);
    const to = targetText?.(scope);
    const address = addressOf(to, processor);
    if (address === undefined) throw new ScriptError(`The send target ${to} is not legal`, at);
    return address;
  };
}

/** The way a send goes. One whose type is unknown has failed already, over its address. */
function processorEvaluator(sessions: Sessions, { type, at }: ProcessorSource): Evaluate<string | undefined> {
  const typeText = textEvaluator(sessions, type, at);
  return (scope) => (processorOf(typeText(scope)) === httpProcessor ? httpProcessor : undefined);
}

function machineEvaluator(sessions: Sessions, { name, type, at }: MachineSource): Evaluate<string> {
  const typeText = type && textEvaluator(sessions, type, at);
  const nameText = textEvaluator(sessions, name, at);
  return (scope) => {
    const asked = typeText?.(scope);
    if (!invokesScxml(asked)) throw new ScriptError(`The invoke type ${asked} is not supported`, at);
    return nameText(scope);
  };
}
