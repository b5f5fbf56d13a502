/**
 * Shapes: which keys each part of a definition has, and what kind of value belongs where. A key that is not known is a
 * slip that would otherwise be ignored in silence.
 */
import type { Checker, Parts } from "./compiler.ts";
import type {
  Branch,
  CompensateParts,
  DelayedTransition,
  InvokeActivity,
  InvokeMachine,
  MachineDefinition,
  SendParts,
  SpawnParts,
  StateDefinition,
} from "./definition.ts";
import { isObject } from "./json.ts";
import { inside, show, someOf } from "./problem.ts";

/** A list of all keys of a type; the compiler misses those that are left out. */
const keysOf = <Key extends string>(keys: Readonly<Record<Key, true>>): readonly string[] =>
  Object.keys(keys);

const stateKeys = keysOf<keyof StateDefinition>({
  ...{ id: true, data: true, type: true, initial: true, states: true, on: true, always: true, after: true },
  ...{ entry: true, exit: true, invoke: true, onDone: true, defer: true, output: true, history: true },
  ...{ target: true, update: true, actions: true, writes: true, invariants: true, require: true },
  ...{ ensure: true, tags: true, description: true, meta: true, attempt: true, map: true, approval: true },
});

const machineKeys = keysOf<Exclude<keyof MachineDefinition, keyof StateDefinition>>({
  ...{ version: true, start: true, events: true, priorities: true, unhandled: true, matching: true },
  ...{ limits: true, checkpoint: true, guards: true, updates: true, machines: true, model: true },
  ...{ context: true, input: true, activities: true, $schema: true },
});

const transitionKeys = keysOf<Exclude<keyof DelayedTransition, "delay" | "resume">>({
  ...{ target: true, guard: true, update: true, actions: true, reenter: true, require: true, ensure: true },
  ...{ description: true, meta: true },
});

/** The keys that each part of a definition may have, by what the part is called. */
export const shapes = {
  machine: [...stateKeys, ...machineKeys],
  state: stateKeys,
  transition: [...transitionKeys, "resume"],
  "delayed transition": [...transitionKeys, "resume", "delay"],
  handler: [...transitionKeys, "event"],
  initial: ["target", "update", "actions"],
  invocation: keysOf<keyof InvokeActivity | keyof InvokeMachine>({
    ...{ id: true, input: true, onDone: true, onError: true, onUnknown: true, finalize: true },
    ...{ idLocation: true, activity: true, compensate: true, retry: true, timeout: true, heartbeat: true },
    ...{ once: true, reconcile: true, machine: true, autoforward: true, item: true },
    ...{ concurrency: true, rate: true, priority: true },
  }),
  compensation: keysOf<keyof CompensateParts>({ activity: true, input: true }),
  concurrency: ["limit", "key", "scope"],
  rate: ["limit", "per", "key", "scope"],
  retry: ["attempts", "first", "factor", "max", "never"],
  event: ["type", "data"],
  send: keysOf<keyof SendParts>({
    ...{ type: true, data: true, to: true, delay: true, resume: true, id: true, via: true, idLocation: true },
  }),
  spawn: keysOf<keyof SpawnParts>({ machine: true, id: true, input: true }),
  branch: keysOf<keyof Branch>({ guard: true, actions: true }),
  map: ["begin", "over", "workers", "tolerate", "collect", "settle", "end", "worker"],
  item: ["of", "worker", "as"],
  attempt: keysOf<keyof Exclude<StateDefinition["attempt"], undefined>>({
    invoke: true,
    catch: true,
    timeout: true,
    onTimeout: true,
    finally: true,
  }),
  "map over a list": keysOf<keyof Exclude<StateDefinition["map"], undefined>>({
    ...{ over: true, as: true, activity: true, machine: true, input: true, retry: true, timeout: true },
    ...{ heartbeat: true, once: true, reconcile: true, compensate: true, concurrency: true, tolerate: true },
    ...{ collect: true, onDone: true, onError: true, rate: true, priority: true },
  }),
  approval: keysOf<keyof Exclude<StateDefinition["approval"], undefined>>({
    ...{
      ask: true,
      approve: true,
      reject: true,
      by: true,
      timeout: true,
      onApproved: true,
      onRejected: true,
    },
    ...{ onTimeout: true },
  }),
  /** A guard or an update by name, with parameters. */
  reference: ["type", "params"],
  unhandled: ["known", "unknown"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type Shape = keyof typeof shapes;

/** Reports every key of `parts` that is none of `known`. */
export function checkKeys(
  checker: Checker,
  parts: Parts,
  known: readonly string[],
  what: string,
  place: string,
): void {
  for (const key of Object.keys(parts)) {
    if (known.includes(key)) continue;
    checker.problem(inside(place, key), `is no key of ${what}`, () =>
      checker.nearest.fix(key, known, `there are ${someOf(known)}`),
    );
  }
}

/** The parts of something that has keys; nothing, and a problem, if it has none or is something else. */
export function partsAt(checker: Checker, given: unknown, shape: Shape, place: string): Parts {
  const what = /^[aeiou]/.test(shape) ? `an ${shape}` : `a ${shape}`;
  if (!isObject(given)) {
    checker.problem(place, `is ${show(given)}`, `write ${what}: an object with ${someOf(shapes[shape])}`);
    return {};
  }
  checkKeys(checker, given, shapes[shape], what, place);
  return given;
}

/** Names an object's prototype has: no state, event or guard may go by them. */
const reserved = ["__proto__", "constructor", "prototype"];

/** The entries of something that maps names to values, as long as it does. */
export function entriesAt(checker: Checker, given: unknown, place: string): [name: string, value: unknown][] {
  if (given === undefined) return [];
  if (!isObject(given)) {
    checker.problem(place, `is ${show(given)}`, "write an object: a name for each key");
    return [];
  }
  const entries = Object.entries(given);
  for (const [name] of entries)
    if (reserved.includes(name))
      checker.problem(inside(place, name), "is a name that every object has already", "choose another");
  return entries;
}

/** Reports what is given and not text. */
export function checkText(checker: Checker, given: unknown, place: string): void {
  if (given !== undefined && typeof given !== "string")
    checker.problem(place, `is ${show(given)}`, "write text");
}

/** Whether something is given and true; reports what is neither true nor false. */
export function flagAt(checker: Checker, given: unknown, place: string): boolean {
  if (given !== undefined && typeof given !== "boolean")
    checker.problem(place, `is ${show(given)}`, "write true or false");
  return given === true;
}

/** A list of names; empty, and a problem, if it is none. */
export function namesAt(checker: Checker, given: unknown, place: string): readonly string[] {
  if (given === undefined) return [];
  if (Array.isArray(given) && given.every((name) => typeof name === "string" && name !== "")) return given;
  checker.problem(place, "must be a list of names");
  return [];
}

/** Whether a value names something. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
