/**
 * A model of the AI SDK that says what a script has for it, word by word, in place of one that must be paid. The agent that
 * asks it cannot tell the difference: it is the same interface that providers implement.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";

/** What the model does when it is asked: says something, has tools called, or both. */
export interface Line {
  readonly text?: string;
  readonly calls?: readonly { readonly tool: string; readonly input: object }[];
}

/** What a model is asked with, as text: who said what. */
export interface Asked {
  readonly said: readonly { readonly role: string; readonly text: string }[];
  readonly options: LanguageModelV4CallOptions;
}

export type Script = (asked: Asked) => Line | Promise<Line>;

export interface ScriptedOptions {
  readonly id?: string;
  /** Told before each word: to wait, so that people can watch it speak. */
  readonly onWord?: (word: string) => Promise<void> | void;
}

export function scriptedModel(
  script: Script,
  { id = "scripted", onWord }: ScriptedOptions = {},
): LanguageModelV4 {
  const answer = async function* (
    options: LanguageModelV4CallOptions,
  ): AsyncGenerator<LanguageModelV4StreamPart> {
    const said = options.prompt.map(({ role, content }) => ({ role, text: textOf(content) }));
    const { text = "", calls = [] } = await script({ said, options });
    yield { type: "stream-start", warnings: [] };
    const words = text.match(/\S+\s*/g) ?? [];
    if (words.length > 0) yield { type: "text-start", id: "text" };
    for (const word of words) {
      await onWord?.(word);
      options.abortSignal?.throwIfAborted();
      yield { type: "text-delta", id: "text", delta: word };
    }
    if (words.length > 0) yield { type: "text-end", id: "text" };
    const turn = said.filter(({ role }) => role === "assistant").length + 1;
    for (const [index, { tool, input }] of calls.entries())
      yield {
        ...{ type: "tool-call", toolCallId: `call-${turn}-${index + 1}`, toolName: tool },
        input: JSON.stringify(input),
      };
    const finish = calls.length > 0 ? "tool-calls" : "stop";
    yield { type: "finish", usage: usageOf(said, text), finishReason: { unified: finish, raw: finish } };
  };
  return {
    ...{ specificationVersion: "v4", provider: "holdfast-examples", modelId: id, supportedUrls: {} },
    doStream: async (options) => ({ stream: ReadableStream.from(answer(options)) }),
    doGenerate: () => Promise.reject(new Error("This model only speaks in streams")),
  };
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { readonly text?: string; readonly output?: { readonly value?: unknown } }[])
    .map(({ text, output }) => text ?? (output === undefined ? "" : JSON.stringify(output.value)))
    .join("");
}

/** About four letters are a token. */
function usageOf(said: Asked["said"], text: string): LanguageModelV4Usage {
  const input = Math.ceil(said.reduce((sum, one) => sum + one.text.length, 0) / 4);
  const output = Math.ceil(text.length / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}
