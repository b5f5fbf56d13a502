/**
 * Exact counts for models of OpenAI, by gpt-tokenizer: an optional package, of which only the encoding that is asked for
 * is loaded. For other models it counts something else; take `estimate`, calibrated by what they report.
 */
import { type Counter, type CounterOptions, counterFrom } from "./tokens.ts";

export type Encoding = "o200k_base" | "o200k_harmony" | "cl100k_base" | "p50k_base" | "r50k_base";

/** A counter by the vocabulary of an encoding: that of all models since GPT-4o unless another is named. */
export async function gptCounter(
  encoding: Encoding = "o200k_base",
  options: CounterOptions = {},
): Promise<Counter> {
  const { countTokens } = await load(encoding);
  // What looks like a control token in a text is text; the tokenizer would refuse it.
  const asText = { disallowedSpecial: new Set<string>() };
  const counter = counterFrom((text) => countTokens(text, asText), {
    perMessage: 4,
    perCall: 12,
    ...options,
  });
  return { ...counter, isExact: true };
}

/** Named one by one, so that bundlers find them and a process reads one vocabulary, not all. */
function load(encoding: Encoding) {
  switch (encoding) {
    case "o200k_base":
      return import("gpt-tokenizer/encoding/o200k_base");
    case "o200k_harmony":
      return import("gpt-tokenizer/encoding/o200k_harmony");
    case "cl100k_base":
      return import("gpt-tokenizer/encoding/cl100k_base");
    case "p50k_base":
      return import("gpt-tokenizer/encoding/p50k_base");
    case "r50k_base":
      return import("gpt-tokenizer/encoding/r50k_base");
  }
}
