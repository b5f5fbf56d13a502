/**
 * Messages of a conversation, as they are kept: plain JSON, in a form that is nobody's but ours, from which the formats of
 * models and frameworks are made and to which they are read back.
 */
import type { Json, JsonObject } from "../../core/json.ts";

export type Role = "system" | "user" | "assistant" | "tool";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

/** What a model thought before it spoke. Providers sign it, and take it back only whole and unchanged. */
export interface ThinkingPart {
  readonly type: "thinking";
  readonly text: string;
  readonly signature?: string;
}

/** A file or an image: where it is, or what is in it, in base64. */
export interface FilePart {
  readonly type: "file";
  readonly mediaType: string;
  readonly url?: string;
  readonly data?: string;
  readonly name?: string;
}

export interface CallPart {
  readonly type: "call";
  /** Links the call and its result; unique in its thread. */
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
}

export interface ResultPart {
  readonly type: "result";
  /** The id of the call it answers. */
  readonly call: string;
  readonly tool: string;
  readonly output: Json;
  /** Whether the output is an error: the tool's own, or that nobody knows what became of the call. */
  readonly isError?: true;
}

export type Part = TextPart | ThinkingPart | FilePart | CallPart | ResultPart;

export interface Message {
  /** Unique in its thread. */
  readonly id: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  /** When it was added, in milliseconds since 1970. */
  readonly at: number;
  readonly metadata?: JsonObject;
}

/** What is said in a message, without calls, results and thinking. */
export const textOf = ({ parts }: Pick<Message, "parts">): string =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
