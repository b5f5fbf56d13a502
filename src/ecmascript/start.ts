/** The start of a document: its variables, their first values, its scripts. SCXML 5.3 and 5.8 */
import type { ModelScope } from "../core/data-model.ts";
import type { Origin, StartSource } from "../core/formats/scxml/source.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { bindPerformer, scriptPerformer } from "./perform.ts";
import { attempt, type Sessions } from "./sessions.ts";

const origin: Origin = { tag: "datamodel", line: 1, column: 1 };

/** The code that starts a run. What fails in it is reported as events, and the rest goes on. */
export function starter(
  sessions: Sessions,
  { name, declared, data, scripts }: StartSource,
  path: string,
): (scope: ModelScope, input: Json | undefined) => JsonObject {
  sessions.program.name = name;
  const items = data.map((item, index) => ({
    item,
    bind: bindPerformer(sessions, item, `${path}.data[${index}]`),
  }));
  const scriptPaths = scripts.map((_, index) => `${path}.scripts[${index}]`);
  const runs = scripts.map((script, index) =>
    scriptPerformer(sessions, script, scriptPaths[index] as string),
  );
  return (scope, input) => {
    const session = sessions.of(scope);
    const given = (typeof input === "object" && input !== null ? input : {}) as JsonObject;
    for (const id of declared) attempt(scope, () => session.declare(id, origin));
    for (const { item, bind } of items) {
      const value = item.replaceable && Object.hasOwn(given, item.id) ? given[item.id] : undefined;
      if (value === undefined) bind(scope);
      else attempt(scope, () => session.bind(item.id, { scxml: "constant", value }, item.at));
    }
    session.checkFunctions();
    for (const run of runs) attempt(scope, () => run(scope));
    if (runs.length > 0) session.alwaysRerun(scriptPaths);
    return scope.context;
  };
}
