/** An error in a document's code: what went wrong, and at which element. Its data becomes the error event's. */
import type { Origin } from "../core/formats/scxml/source.ts";
import type { JsonObject } from "../core/json.ts";

export class ScriptError extends Error {
  override readonly name = "ScriptError";
  readonly data: JsonObject;

  constructor(reason: string, at: Origin) {
    super(`${reason} (in <${at.tag}> at line ${at.line}, column ${at.column})`);
    this.data = { tagname: at.tag, line: at.line, column: at.column, reason };
  }
}
