/** JSON text to values and back, for text that may come from anyone. */
import { limits } from "../../../limits.ts";
import type { Json } from "../../json.ts";

/** A value read from text, or why there is none. */
export type Read = { readonly value: Json } | { readonly problem: string };

/** JSON text as a value; a text that is too long, too deep, or names a field twice is refused. */
export function readJson(text: string): Read {
  if (text.length > limits.definitionLengthMax)
    return { problem: `is longer than ${limits.definitionLengthMax} characters` };
  const { depth, keys } = survey(text);
  if (depth > limits.jsonDepthMax) return { problem: `is nested deeper than ${limits.jsonDepthMax} levels` };
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    return { problem: `is no JSON: ${(error as Error).message}` };
  }
  if (countKeys(value) !== keys) return { problem: "names a field twice in one object" };
  return { value };
}

/** How deep a text is nested, and how many fields it names, told from its brackets and colons alone. */
function survey(text: string): { readonly depth: number; readonly keys: number } {
  let [depth, level, keys] = [0, 0, 0];
  let quoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (quoted) {
      if (character === "\\") index++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "[" || character === "{") depth = Math.max(depth, ++level);
    else if (character === "]" || character === "}") level--;
    else if (character === ":") keys++;
  }
  return { depth, keys };
}

function countKeys(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  const items = Object.values(value) as Json[];
  let keys = Array.isArray(value) ? 0 : items.length;
  for (const item of items) keys += countKeys(item);
  return keys;
}

/** A value as JSON text, for people to read. */
export function writeJsonText(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
