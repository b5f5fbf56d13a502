/** Whether an event descriptor takes an event type. https://www.w3.org/TR/scxml/#EventDescriptors */
import type { Matching } from "../../src/core/event.ts";

/** By tokens between dots. SCXML lets any descriptor be a prefix; Holdfast's own rule asks for a trailing `*`. */
export function descriptorTakes(descriptor: string, type: string, matching: Matching): boolean {
  const wanted = descriptor.split(".");
  const given = type.split(".");
  const isPrefix = wanted.at(-1) === "*" || matching === "scxml";
  const tokens = wanted.at(-1) === "*" ? wanted.slice(0, -1) : wanted;
  if (tokens.length > given.length || (!isPrefix && tokens.length !== given.length)) return false;
  return tokens.every((token, index) => token === given[index]);
}
