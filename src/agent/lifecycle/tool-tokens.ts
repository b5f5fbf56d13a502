/** What the descriptions of tools cost: models report them with the messages, and they are none. */
import { isJsonSchema } from "../../core/json-schema/schema.ts";
import type { ToolDescription } from "../model/model.ts";
import type { Counter } from "../window/tokens.ts";

const known = new WeakMap<readonly ToolDescription[], number>();

/** The tokens of what a model is told of these tools, about: counted once for each list. */
export function tokensOfTools(tools: readonly ToolDescription[], count: Counter): number {
  const before = known.get(tools);
  if (before !== undefined) return before;
  const tokens = tools.reduce(
    (sum, { name, description, input }) =>
      sum + count.text(JSON.stringify({ name, description, input: jsonOf(input) })),
    0,
  );
  known.set(tools, tokens);
  return tokens;
}

/** A schema as a model is told it; nothing where only the model's adapter could tell. */
function jsonOf(input: unknown): unknown {
  if (isJsonSchema(input)) return input.jsonSchema;
  const { jsonSchema, "~standard": standard } = Object(input) as {
    readonly jsonSchema?: unknown;
    readonly "~standard"?: { readonly jsonSchema?: { input?(options: object): unknown } };
  };
  try {
    return standard?.jsonSchema?.input?.({ target: "draft-2020-12" }) ?? jsonSchema;
  } catch {
    return undefined;
  }
}
