/** Models of the AI SDK: asked once, without its own loop, retries or execution of tools, all of which are the agent's. */
import {
  DownloadError,
  type LanguageModel,
  jsonSchema as sdkSchema,
  streamText,
  type ToolSet,
  tool,
} from "ai";
import { isJsonSchema } from "../../core/json-schema/schema.ts";
import { readAnswer, toAiSdk, wordsFor } from "../formats/ai-sdk.ts";
import type { Message } from "../thread/message.ts";
import { AnswerContent } from "./ai-sdk-answer.ts";
import type { ModelAnswer, ModelRequest, ModelScope } from "./model.ts";

/** Asks a model. A file of an earlier message that cannot be fetched any more is told of in words: it is no reason to be silent for ever. */
export async function askSdk(
  model: LanguageModel,
  { messages, tools }: ModelRequest,
  scope: ModelScope,
): Promise<ModelAnswer> {
  for (let shown = messages; ; ) {
    try {
      return await askOnce(model, { messages: shown, tools }, scope);
    } catch (error) {
      const without = DownloadError.isInstance(error) ? withoutFile(shown, error.url) : undefined;
      if (without === undefined) throw error;
      shown = without;
    }
  }
}

async function askOnce(
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
  const content = new AnswerContent();
  for await (const part of stream) {
    if (part.type === "error") throw part.error;
    content.take(part);
    if (part.type === "text-delta") say({ type: "text", text: part.text });
    else if (part.type === "reasoning-delta") say({ type: "thinking", text: part.text });
  }
  const { inputTokens, outputTokens } = await totalUsage;
  return {
    ...readAnswer(content.parts()),
    ...(inputTokens === undefined ? {} : { usage: { input: inputTokens, output: outputTokens ?? 0 } }),
  };
}

/** The messages with a file in words; undefined if none before the newest of the user has it. */
function withoutFile(messages: readonly Message[], url: string): readonly Message[] | undefined {
  const newest = messages.findLastIndex(({ role }) => role === "user");
  let isFound = false;
  const without = messages.map((message, index) => {
    if (index >= newest) return message;
    const parts = message.parts.map((part) => {
      if (part.type !== "file" || part.url === undefined || URL.parse(part.url)?.href !== url) return part;
      isFound = true;
      return { type: "text" as const, text: wordsFor(part) };
    });
    return { ...message, parts };
  });
  return isFound ? without : undefined;
}

/** Schemas of Holdfast's own are told as what they are; all others the package knows, or refuses. */
const schemaOf = (input: unknown): unknown =>
  isJsonSchema(input) ? sdkSchema(input.jsonSchema as never) : input;
