/** Sources that do something, compiled: assignments, scripts, loops, and the binding of data. */
import type { Code } from "../core/data-model.ts";
import type { ActionSource, DataItem, LocationSource, ValueSource } from "../core/formats/scxml/source.ts";
import type { JsonObject } from "../core/json.ts";
import type { Source } from "./program.ts";
import { attempt, type Sessions } from "./sessions.ts";

export type Block = (actions: unknown, path: string) => Code;
type Of<Kind extends ActionSource["scxml"]> = Extract<ActionSource, { scxml: Kind }>;

/** The code of an action that only this model knows; `block` compiles what is nested in it. */
export function performer(sessions: Sessions, source: ActionSource, path: string, block: Block): Code {
  switch (source.scxml) {
    case "assign":
      scanValue(sessions, source.value);
      sessions.program.scan(source.location.text);
      return rerunnable(sessions, path, (runner) => runner.assign(source.location, source.value));
    case "script":
      return scriptPerformer(sessions, source, path);
    case "foreach":
      return loopPerformer(sessions, source, path, block);
    case "adopt":
      return adoptPerformer(sessions, source);
  }
}

export function scriptPerformer(
  sessions: Sessions,
  { text, at }: Omit<Of<"script">, "scxml">,
  path: string,
): Code {
  sessions.program.scanScript(text);
  return rerunnable(sessions, path, (runner) => runner.run(text, at));
}

/** A variable whose value fails is there all the same, and the next one gets its turn. SCXML 5.3.3 */
export function bindPerformer(sessions: Sessions, { id, value, at }: DataItem, path: string): Code {
  if (value === undefined) return () => {};
  scanValue(sessions, value);
  const bind = rerunnable(sessions, path, (runner) => runner.bind(id, value, at));
  return (scope) => attempt(scope, () => bind(scope));
}

function scanValue(sessions: Sessions, value: ValueSource): void {
  if (value.scxml === "expression") sessions.program.scan(value.text);
}

/** Code that may make functions, known by its path so that it can run again when the session is rebuilt. */
function rerunnable(sessions: Sessions, path: string, source: Source): Code {
  sessions.program.add(path, source);
  return (scope) => {
    const session = sessions.of(scope);
    source(session);
    session.note(path);
  };
}

function loopPerformer(
  sessions: Sessions,
  { array, item, index, actions, at }: Of<"foreach">,
  path: string,
  block: Block,
): Code {
  scanValue(sessions, array);
  const body = block(actions, `${path}.actions`);
  const place = (name: string): LocationSource => ({ scxml: "location", text: name, at });
  const itemPlace = place(item);
  const indexPlace = index === undefined ? undefined : place(index);
  return (scope) => sessions.of(scope).each(array, itemPlace, indexPlace, () => body(scope));
}

function adoptPerformer(sessions: Sessions, { pairs }: Of<"adopt">): Code {
  return (scope) => {
    const { data } = scope.event;
    if (typeof data !== "object" || data === null || Array.isArray(data)) return;
    for (const { name, location } of pairs) {
      const value = Object.hasOwn(data, name) ? (data as JsonObject)[name] : undefined;
      if (value !== undefined) sessions.of(scope).store(location, value);
    }
  };
}
