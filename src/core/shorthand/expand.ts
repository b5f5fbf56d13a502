/** Shorthand, expanded to plain states. */
import type { Parts } from "../compiler.ts";
import type { Problems } from "../problem.ts";

export function expandShorthand(definition: Parts, _problems: Problems): Parts {
  return definition;
}
