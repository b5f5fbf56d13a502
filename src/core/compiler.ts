/** What compiling a handler needs to know of the machine it belongs to. `compile.ts` implements it. */
import type { StateNode } from "./chart.ts";
import type { DataModel } from "./data-model.ts";

export interface Compiler {
  readonly model: DataModel;
  readonly guards: Readonly<Record<string, unknown>>;
  readonly updates: Readonly<Record<string, unknown>>;
  /** Whether writes must be attributed to the regions that make them. */
  readonly tracksWrites: boolean;
  find(name: string): StateNode | undefined;
  /** The name a child machine goes by, registering it if it is given inline. */
  machineName(machine: unknown): string | undefined;
  missing(what: string): void;
  problem(path: string, problem: string): void;
}

/** What an author wrote, before anybody looked at it. */
export type Parts = Readonly<Record<string, unknown>>;

/** The implementation that goes by this name; undefined, and noted as missing, if there is none. */
export function named(compiler: Compiler, kind: string, all: Parts, name: string): unknown {
  if (Object.hasOwn(all, name)) return all[name];
  compiler.missing(`${kind} ${JSON.stringify(name)}`);
  return undefined;
}

/** One or many, as a list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
