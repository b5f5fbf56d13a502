/**
 * The ECMAScript data model of SCXML, as a data model of the core. https://www.w3.org/TR/scxml/#ecmascript-profile
 * Everything is compiled to closures over a session, and a session is made only when code of the document has to run:
 * a step that evaluates nothing costs nothing here.
 */
import type { DataModel } from "../core/data-model.ts";
import {
  type ActionSource,
  type BindSource,
  isScxmlSource,
  type LocationSource,
  type StartSource,
  type ValueSource,
} from "../core/formats/scxml/source.ts";
import type { Engine } from "./engine.ts";
import { evaluator } from "./evaluate.ts";
import { bindPerformer, performer } from "./perform.ts";
import { Program } from "./program.ts";
import { Sessions } from "./sessions.ts";
import { starter } from "./start.ts";

/** A data model for one machine: it learns the machine's code while the machine is compiled. */
export function ecmascriptModel(engine: Engine): DataModel {
  const sessions = new Sessions(engine, new Program());
  return {
    name: "ecmascript",
    start: (source, path) => starter(sessions, source as StartSource, path),
    value: (source) => (isScxmlSource(source) ? evaluator(sessions, source) : () => source),
    condition(source) {
      const { text, at } = source as Extract<ValueSource, { scxml: "expression" }>;
      sessions.program.scan(text);
      return (scope) => sessions.of(scope).holds(text, at);
    },
    update(_source, path) {
      throw new TypeError(`${path}: SCXML has no updates; use <assign> or <script>`);
    },
    action: (source, path, block) => performer(sessions, source as unknown as ActionSource, path, block),
    location(source) {
      const location = source as unknown as LocationSource;
      return (scope, value) => sessions.of(scope).store(location, value);
    },
    declare(source, path) {
      const { data } = source as unknown as BindSource;
      const binds = data.map((item, index) => bindPerformer(sessions, item, `${path}[${index}]`));
      return (scope) =>
        sessions.of(scope).bindOnce(path, () => {
          for (const bind of binds) bind(scope);
        });
    },
    // Sessions are made when code needs them; this only says that there may be something to close.
    open() {},
    save: (scope) => sessions.save(scope),
    close: (scope) => sessions.close(scope),
  };
}
