/** What callers hand in beside names and events: whatever is none of it is refused before anything is done. */
import { showValue } from "../core/json.ts";
import { Nearest, nearest } from "../core/nearest.ts";
import { HoldfastError } from "../errors.ts";
import type { RunName } from "../store/records.ts";
import { checkName } from "./name.ts";

/** Every option that there is, by its name. */
export type Names<Options> = Readonly<Record<keyof Options, true>>;

/**
 * Throws OPTIONS_INVALID for what is no object, and, where it is said which options there are, for one that is none of them: what
 * somebody meant by it would not happen. `usage` says what to write, as `send(type, data, { key })`.
 */
export function checkOptions(usage: string, given: unknown, names?: Readonly<Record<string, true>>): void {
  if (!isRecord(given)) throw optionsError(usage, given);
  if (names === undefined) return;
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && !Object.hasOwn(names, name)) throw unknownError(usage, name, names);
}

function unknownError(usage: string, name: string, names: Readonly<Record<string, true>>): HoldfastError {
  const fix = new Nearest().fix(name, Object.keys(names), `there are ${Object.keys(names).join(", ")}`);
  return new HoldfastError(
    "OPTIONS_INVALID",
    `Write ${usage}: there is no option ${showValue(name)}; ${fix}`,
  );
}

/** Throws OPTIONS_INVALID for what is no number. */
export function checkNumber(usage: string, given: unknown): void {
  if (typeof given !== "number" || Number.isNaN(given)) throw optionsError(usage, given);
}

/** Throws OPTIONS_INVALID for what cannot be called. */
export function checkFunction(usage: string, given: unknown, what?: string): void {
  if (typeof given !== "function") throw optionsError(usage, given, what);
}

/** Throws OPTIONS_INVALID for an object without these methods. */
export function checkMethods(
  usage: string,
  part: Readonly<Record<string, unknown>>,
  methods: readonly string[],
): void {
  for (const [name, given] of Object.entries(part))
    if (!isRecord(given) || methods.some((method) => typeof given[method] !== "function"))
      throw optionsError(usage, given, `the ${name}`);
}

/** Throws OPTIONS_INVALID for what is none of these words. */
export function checkWord(usage: string, given: unknown, words: readonly string[]): void {
  if (!words.includes(given as string)) throw optionsError(usage, given);
}

/** What a conversation can be had with; throws OPTIONS_INVALID for anything else. */
export function asAgent<Agent>(given: Agent): Agent {
  checkMethods("thread(agent), with what defineAgent makes", { agent: given }, ["openThread"]);
  return given;
}

/** Somebody to be told; throws OPTIONS_INVALID for what cannot be. */
export function asListener<Listener>(given: Listener): Listener {
  checkFunction("a function that is told", given, "the listener");
  return given;
}

/** The name of a run that somebody refers to; throws OPTIONS_INVALID or NAME_INVALID. */
export function nameOf(given: { readonly id: string; readonly tenant: string }): RunName {
  checkOptions("diff(run, other), each a run or { id, tenant }", given);
  const { id: run, tenant } = given;
  checkName("run", run);
  checkName("tenant", tenant);
  return { tenant, run };
}

/** Throws OPTIONS_INVALID for what does not change a context. */
export function checkEdit(edit: unknown): void {
  if (edit !== undefined) checkFunction("{ edit: (draft) => {} }", edit, "edit");
}

/** Until when to go on, from a number on; throws OPTIONS_INVALID. */
export function signalOf(
  usage: string,
  from: number,
  options: { readonly signal?: AbortSignal },
): AbortSignal | undefined {
  checkNumber(usage, from);
  checkOptions(usage, options, { signal: true });
  const { signal } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw optionsError(usage, signal, "the signal");
  return signal;
}

/** Throws MACHINE_INVALID for what is not a machine. */
export function checkMachine(given: unknown): void {
  const machine = given as { readonly chart?: unknown; readonly id?: unknown } | undefined;
  if (isRecord(machine) && isRecord(machine.chart) && typeof machine.id === "string") return;
  throw new HoldfastError(
    "MACHINE_INVALID",
    `${showValue(given)} is not a machine; give what defineMachine makes`,
  );
}

/** Throws MACHINE_INVALID for what is neither a machine nor one with parts that can be used. */
export function checkEntry(given: unknown): void {
  const entry = isRecord(given) && isRecord(given.machine) ? given : { machine: given };
  checkMachine(entry.machine);
  const { activities = {}, attributes, activitiesOf, evolution = "pin", migrations = [] } = entry as Entry;
  const problem =
    (!isRecord(activities) && "activities must be an object of functions") ||
    Object.entries(activities as object)
      .map(wrongActivity)
      .find(Boolean) ||
    (attributes !== undefined && typeof attributes !== "function" && "attributes must be a function") ||
    (activitiesOf !== undefined && typeof activitiesOf !== "function" && "activitiesOf must be a function") ||
    (evolution !== "pin" && evolution !== "upgrade" && 'evolution must be "pin" or "upgrade"') ||
    (!(Array.isArray(migrations) && migrations.every(isRecord)) &&
      "migrations must be a list of migrations") ||
    slipIn(entry);
  if (!problem) return;
  const { id } = entry.machine as { readonly id: string };
  throw new HoldfastError("MACHINE_INVALID", `The machine ${id} cannot be used: ${problem}`);
}

const wrongActivity = ([name, code]: readonly [string, unknown]): string | undefined =>
  code === undefined || typeof code === "function"
    ? undefined
    : `the activity ${showValue(name)} must be a function`;

const entryNames = [
  "activities",
  "attributes",
  "activitiesOf",
  "evolution",
  "migrations",
  "unsealed",
] as const;

/** What stands beside a machine. */
type Entry = Readonly<Record<(typeof entryNames)[number], unknown>>;

/** Agents and others have more beside a machine than a runtime reads, so only what is nearly something that it reads is a mistake. */
function slipIn(entry: object): string | undefined {
  for (const name of Object.keys(entry)) {
    const meant =
      name === "machine" || (entryNames as readonly string[]).includes(name)
        ? undefined
        : nearest(name, entryNames);
    if (meant !== undefined)
      return `it has ${showValue(name)} beside it; did you mean ${JSON.stringify(meant)}?`;
  }
  return undefined;
}

export function optionsError(usage: string, given: unknown, what = "what was given"): HoldfastError {
  return new HoldfastError("OPTIONS_INVALID", `Write ${usage}: ${what} is ${showValue(given)}`);
}

/** Whether it is an object, and no list. */
export function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}
