/** What callers hand in beside names and events: whatever is none of it is refused before anything is done. */
import { showValue } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";

/** Throws OPTIONS_INVALID for what is no object; `usage` says what to write, as `send(type, data, { key })`. */
export function checkOptions(usage: string, given: unknown): void {
  if (!isRecord(given)) throw optionsError(usage, given);
}

/** Throws OPTIONS_INVALID for what is no number. */
export function checkNumber(usage: string, given: unknown): void {
  if (typeof given !== "number" || Number.isNaN(given)) throw optionsError(usage, given);
}

/** Throws OPTIONS_INVALID for what cannot be called. */
export function checkFunction(usage: string, given: unknown, what?: string): void {
  if (typeof given !== "function") throw optionsError(usage, given, what);
}

/** Throws OPTIONS_INVALID for what is none of these words. */
export function checkWord(usage: string, given: unknown, words: readonly string[]): void {
  if (!words.includes(given as string)) throw optionsError(usage, given);
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

/** Throws MACHINE_INVALID or OPTIONS_INVALID for what no run can begin with. */
export function checkStart(machine: unknown, options: unknown): void {
  checkMachine(machine);
  checkOptions("start(machine, { id, input })", options ?? {});
}

export function optionsError(usage: string, given: unknown, what = "what was given"): HoldfastError {
  return new HoldfastError("OPTIONS_INVALID", `Write ${usage}: ${what} is ${showValue(given)}`);
}

/** Whether it is an object, and no list. */
export function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}
