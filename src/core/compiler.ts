/** What compiling a handler needs to know of the machine it belongs to. `compile.ts` implements it. */
import type { Condition, StateNode } from "./chart.ts";
import type { DataModel } from "./data-model.ts";
import type { Nearest } from "./nearest.ts";
import type { Reporter } from "./problem.ts";

/** Who checks names and shapes. */
export interface Checker extends Reporter {
  readonly nearest: Nearest;
}

export interface Compiler extends Checker {
  readonly model: DataModel;
  readonly vocabulary: Names;
  /** Whether writes must be attributed to the regions that make them. */
  readonly tracksWrites: boolean;
  find(name: string): StateNode | undefined;
  /** The paths of all states. */
  paths(): Iterable<string>;
}

/** The names a definition declares and uses. `vocabulary.ts` implements it. */
export interface Names {
  /** The guards and updates the definition brings, by name. */
  readonly guards: Parts;
  readonly updates: Parts;
  /** Named guards that are compiled, or under way; `guard.ts` fills it. */
  readonly conditions: Map<string, { readonly holds: Condition; readonly count: number } | undefined>;
  /** Notes that a name is used; reports it if the definition lists such names and this is none of them. */
  use(kind: "guard" | "update" | "machine" | "activity", name: string, place: string): void;
  /** The name of an activity that is a constant: any, or one of those declared. */
  useActivity(name: unknown, place: string): void;
  /** The name a child machine goes by, registering it if it is given inline. */
  machineName(machine: unknown, place: string): string | undefined;
  /** An event that the machine itself makes needs no declaration. */
  raise(type: unknown): void;
  /** Notes that a map of this name begins somewhere; false if one does so elsewhere already. */
  beginMap(name: string): boolean;
}

/** What an author wrote, before anybody looked at it. */
export type Parts = Readonly<Record<string, unknown>>;

/** One or many, as a list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
