/** The machines of a user's module. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isMachine } from "../core/intake.ts";
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import { misused } from "./arguments.ts";
import { describe } from "./terminal.ts";

type Given = MachineEntry | AnyMachine;

/**
 * What a module gives to run: the list that is its default export or its export `machines`, or else every export that is a
 * machine or an entry with one. Throws COMMAND_INVALID if it cannot be loaded or gives nothing.
 */
export async function loadMachines(module: string): Promise<readonly Given[]> {
  const path = resolve(module);
  if (!existsSync(path))
    throw misused(`There is no module ${module}; give the path of a file that exports machines`);
  const exported = (await import(pathToFileURL(path).href).catch((error: unknown) => {
    throw misused(`The module ${module} cannot be loaded: ${describe(error)}`);
  })) as Readonly<Record<string, unknown>>;
  const lists = [exported.default, exported.machines].filter((value) => Array.isArray(value));
  const candidates: readonly unknown[] = lists.length > 0 ? lists.flat() : Object.values(exported);
  const found = [...new Set(candidates)].filter(isGiven);
  if (found.length === 0)
    throw misused(
      `The module ${module} exports no machine; export machines, entries of { machine, activities }, or a list of them as default`,
    );
  if (lists.length > 0 && found.length < new Set(candidates).size)
    throw misused(
      `The list that ${module} exports has something in it that is neither a machine nor an entry with one`,
    );
  return found;
}

function isGiven(value: unknown): value is Given {
  return (
    isMachine(value) ||
    (typeof value === "object" && value !== null && "machine" in value && isMachine(value.machine))
  );
}
