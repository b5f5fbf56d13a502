/** States as their author wrote them: names that are constants can be compared, what is computed cannot. */
import type { Parts } from "../compiler.ts";
import { durationMs } from "../duration.ts";
import { isMachine } from "../intake.ts";
import { isObject } from "../json.ts";
import { itemsAt } from "../problem.ts";
import { said } from "./said.ts";

/** What a definition says of the state at a path; its shorthand is expanded already. */
export function writtenAt(definition: object, path: string): Parts {
  let parts = definition as Parts;
  if (path !== "") for (const key of path.split(".")) parts = (parts.states as Parts)[key] as Parts;
  return parts;
}

/** An invocation as it was written; what is computed is undefined. */
export interface WrittenInvocation {
  readonly kind: "activity" | "machine";
  readonly source: string | undefined;
  readonly id: string | undefined;
  /** Whether its author named it, and not its place. */
  readonly named: boolean;
}

export function writtenInvocations(definition: object, path: string): readonly WrittenInvocation[] {
  const items = itemsAt(writtenAt(definition, path).invoke, "");
  return items.map(([item], index) => {
    const { id, activity, machine } = item as Parts;
    const source = isMachine(machine) ? machine.id : (activity ?? machine);
    const ownId = items.length > 1 ? `${path}:${index}` : path;
    return {
      kind: activity === undefined ? "machine" : "activity",
      source: textOrNone(source),
      id: id === undefined ? ownId : textOrNone(id),
      named: id !== undefined,
    };
  });
}

function textOrNone(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The delays of a state in order, each as a value that is equal for equal delays. */
export function writtenDelays(definition: object, path: string): readonly string[] {
  const { after } = writtenAt(definition, path);
  const delays = Array.isArray(after) ? after.map(({ delay }: Parts) => delay) : Object.keys(after ?? {});
  return delays.map((delay) =>
    typeof delay === "string" || typeof delay === "number" ? String(durationMs(delay)) : said(delay),
  );
}

/** The workers of a map that a state's own parts speak of; 0 stands for the map as a whole. */
export function mapWorkersAt(definition: object, path: string, map: string): ReadonlySet<number> {
  const { states: _, ...parts } = writtenAt(definition, path);
  const workers = new Set<number>();
  const look = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) look(item);
    else if (isObject(value) && !isMachine(value)) {
      const { of, begin, settle, end, worker } = value as Parts;
      if ([of, begin, settle, end].includes(map)) workers.add(typeof worker === "number" ? worker : 0);
      for (const item of Object.values(value)) look(item);
    }
  };
  look(parts);
  return workers;
}

/** The names a definition lists under a key; undefined if it lists none, and leaves them to others. */
export function listed(
  definition: object,
  key: "events" | "activities" | "machines",
): readonly string[] | undefined {
  const names = Object.keys(((definition as Parts)[key] ?? {}) as object);
  return names.length === 0 ? undefined : names;
}
