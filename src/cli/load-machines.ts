/** The machines of a user's module, as often as it is asked for them: what has changed since is loaded anew. */
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isMachine } from "../core/intake.ts";
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import type { Runtime } from "../runtime/run.ts";
import { misused } from "./arguments.ts";
import { LoadedFiles } from "./loaded-files.ts";
import { describe } from "./terminal.ts";

type Given = MachineEntry | AnyMachine;

/** What a module gives. */
export interface Loaded {
  readonly machines: readonly Given[];
  /** What it does with every runtime that `holdfast dev` opens with them, until the signal is aborted. */
  readonly dev?: ((runtime: Runtime, signal: AbortSignal) => unknown) | undefined;
}

/**
 * What a module gives to run: the list that is its default export or its export `machines`, or else every export that is a
 * machine or an entry with one. Throws COMMAND_INVALID if it cannot be loaded or gives nothing.
 */
export async function loadMachines(module: string): Promise<readonly Given[]> {
  return (await loadModule(module)).machines;
}

/**
 * The same with what else it gives; loaded anew, with all of its own files, whenever it is asked for. `files` is told of each
 * of them, also where the module cannot be loaded.
 */
export async function loadModule(module: string, files = new LoadedFiles()): Promise<Loaded> {
  const path = resolve(module);
  if (!existsSync(path))
    throw misused(`There is no module ${module}; give the path of a file that exports machines`);
  const exported = (await import(anew(path, files)).catch((error: unknown) => {
    throw misused(`The module ${module} cannot be loaded: ${describe(error)}`);
  })) as Readonly<Record<string, unknown>>;
  const { dev } = exported;
  return {
    machines: machinesOf(module, exported),
    ...(typeof dev === "function" ? { dev: dev as Loaded["dev"] } : {}),
  };
}

/** The files of every load there was: the code of an older one may still import something. */
const loads: LoadedFiles[] = [];

/** Modules are kept by their address, so one that is to be read again has another one, and so has what it imports of its own. */
function anew(path: string, files: LoadedFiles): string {
  if (loads.length === 0)
    registerHooks({
      resolve: (name, context, next) => {
        const found = next(name, context);
        const [, load] = /[?&]holdfast-load=(\d+)$/.exec(context.parentURL ?? "") ?? [];
        const isOwn = /^\.{1,2}\//.test(name) && found.url.startsWith("file:");
        if (load === undefined || !isOwn) return found;
        loads[Number(load)]?.add(fileURLToPath(found.url));
        return { ...found, url: `${found.url}?holdfast-load=${load}` };
      },
    });
  files.add(path);
  const load = loads.push(files) - 1;
  return `${pathToFileURL(path).href}?holdfast-load=${load}`;
}

function machinesOf(module: string, exported: Readonly<Record<string, unknown>>): readonly Given[] {
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
