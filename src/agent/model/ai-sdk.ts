/** Models of the AI SDK: asked once, without its own loop, retries or execution of tools, all of which are the agent's. */
import { type LanguageModel, jsonSchema as sdkSchema, streamText, type ToolSet, tool } from "ai";
import type { Json } from "../../core/json.ts";
import { isJsonSchema } from "../../core/json-schema/schema.ts";
import { toAiSdk } from "../formats/ai-sdk.ts";
import type { CallPart, TextPart, ThinkingPart } from "../thread/message.ts";
import type { ModelAnswer, ModelRequest, ModelScope } from "./model.ts";

export async function askSdk(
  model: LanguageModel,
  { messages, tools }: ModelRequest,
  { signal, say }: ModelScope,
): Promise<ModelAnswer> {
  const { stream, totalUsage } = streamText({
    model,
    messages: toAiSdk(messages),
    allowSystemInMessages: true,
    tools: Object.fromEntries(
      tools.map(({ name, description, input }) => [
        name,
        tool({ description, inputSchema: schemaOf(input) as never }),
      ]),
    ) as ToolSet,
    abortSignal: signal,
    maxRetries: 0,
    // What went wrong is thrown below, and told by whoever asked.
    onError: () => {},
  });
  const parts: (TextPart | ThinkingPart | CallPart)[] = [];
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    if (part.type === "text-delta") {
      lengthen(parts, "text", part.text);
      say({ type: "text", text: part.text });
    } else if (part.type === "reasoning-delta") {
      lengthen(parts, "thinking", part.text);
      say({ type: "thinking", text: part.text });
    } else if (part.type === "tool-call")
      parts.push({ type: "call", id: part.toolCallId, tool: part.toolName, input: part.input as Json });
  }
  const { inputTokens, outputTokens } = await totalUsage;
  return {
    parts,
    ...(inputTokens === undefined ? {} : { usage: { input: inputTokens, output: outputTokens ?? 0 } }),
  };
}

/** Schemas of Holdfast's own are told as what they are; all others the package knows, or refuses. */
const schemaOf = (input: unknown): unknown =>
  isJsonSchema(input) ? sdkSchema(input.jsonSchema as never) : input;

function lengthen(
  parts: (TextPart | ThinkingPart | CallPart)[],
  type: "text" | "thinking",
  text: string,
): void {
  const last = parts.at(-1);
  if (last?.type === type) parts[parts.length - 1] = { ...last, text: last.text + text };
  else parts.push({ type, text });
}
