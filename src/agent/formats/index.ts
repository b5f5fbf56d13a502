/** Messages in the formats of others. Re-exports only. */
export { type AiMessage, fromAiSdk, toAiSdk } from "./ai-sdk.ts";
export { type AnthropicInput, type AnthropicPrompt, fromAnthropic, toAnthropic } from "./anthropic.ts";
export { fromOpenAI, type OpenAIMessage, toOpenAI } from "./openai.ts";
export type { Left, ReadOptions } from "./reading.ts";
export type { Imported, Repair } from "./repair.ts";
