/**
 * SCXML's null data model: no data at all, and the one condition `In(id)`. https://www.w3.org/TR/scxml/#null-profile
 * The importer has turned conditions on states of the document into native guards already, so that what arrives here
 * is either a constant or an error when it is reached.
 */
import type { DataModel } from "../../data-model.ts";
import { isScxmlSource } from "./source.ts";

export const nullModel: DataModel = {
  name: "scxml-null",
  start: () => () => ({}),
  value(source) {
    if (!isScxmlSource(source)) return () => source;
    if (source.scxml === "constant") return () => source.value;
    if (source.scxml === "xml") return () => source.text;
    return () => unavailable(source.scxml === "fault" ? source.reason : undefined);
  },
  condition(source) {
    const text = isScxmlSource(source) && source.scxml === "expression" ? source.text : "";
    // In() of a state that does not exist is false; anything else is not of this model.
    const about = /^\s*In\(\s*(?:'[^'\\]+'|"[^"\\]+")\s*\)\s*$/.test(text);
    return () => (about ? false : unavailable(undefined));
  },
  update: () => () => unavailable(undefined),
  action: () => () => unavailable(undefined),
  location: () => () => unavailable(undefined),
  declare: () => (scope) => scope.fail(new Error(nothingHere)),
};

const nothingHere = "The null data model has no data and no expressions";

function unavailable(reason: string | undefined): never {
  throw new Error(reason ?? nothingHere);
}
