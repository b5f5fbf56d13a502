/** A mapping: where what one definition has is to be found in another. What it does not mention stays what it was. */
import { type Chart, isLeaf } from "../chart.ts";
import type { Json, JsonObject } from "../json.ts";

export interface Mapping {
  readonly context?: (old: JsonObject, scope: MigrationScope) => unknown;
  /** By path, where a state is now. What lies inside it goes with it, or into it, if it has no inside any more. */
  readonly states: ReadonlyMap<string, readonly string[]>;
  readonly events: ReadonlyMap<string, EventChange | null>;
  readonly activities: Renames;
  readonly invocations: Renames;
  readonly children: Renames;
}

/** By old name: the new one, or null for what is not wanted any more. */
export type Renames = ReadonlyMap<string, string | null>;

/** What a migration's functions see besides what they change. */
export interface MigrationScope {
  /** The step's time in milliseconds since 1970. */
  readonly at: number;
}

export interface EventChange {
  readonly type: string;
  readonly data?: (data: Json | undefined, scope: MigrationScope) => unknown;
}

const none = new Map<string, never>();

/** Everything stays what it was. */
export const identity: Mapping = {
  states: none,
  events: none,
  activities: none,
  invocations: none,
  children: none,
};

/** Where the state of a path is in the new chart, whether there is such a state or not. */
export function placesOf({ states }: Mapping, to: Chart, path: string): readonly string[] {
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const targets = states.get(path.slice(0, end));
    if (targets === undefined) continue;
    const rest = path.slice(end);
    return rest === "" ? targets : targets.map((target) => (hasInside(to, target) ? target + rest : target));
  }
  return [path];
}

function hasInside(chart: Chart, path: string): boolean {
  const node = chart.byPath.get(path);
  return node === undefined || !isLeaf(node);
}

/** The name something goes by now; null if it is not wanted any more. */
export function renamed(names: Renames, name: string): string | null {
  const now = names.get(name);
  return now === undefined ? name : now;
}
