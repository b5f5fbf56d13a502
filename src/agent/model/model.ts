/** Models, as agents see them: what is asked of one, and what it answers. Any function will do; `ai-sdk.ts` makes one of an AI SDK model. */
import type { Json, JsonObject } from "../../core/json.ts";
import type { CallPart, Message, TextPart, ThinkingPart } from "../thread/message.ts";

/** A tool, as a model is told of it. */
export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** What it takes: a Standard Schema, or whatever the model's adapter understands. */
  readonly input: unknown;
}

export interface ModelRequest {
  /** What the model may see, within the budget of the window; system messages first. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDescription[];
}

/** A piece of what a model says, while it does. */
export type ModelPiece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string };

export interface ModelScope {
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal;
  /** The same for every attempt at this answer. */
  readonly key: string;
  /** Tells whoever listens. */
  say(piece: ModelPiece): void;
}

/** What a model used up, as its provider reports it. */
export interface Usage {
  readonly input: number;
  readonly output: number;
}

/** What a model's format says besides what parts hold, to be handed back as it was: signatures, for instance. */
export interface Besides {
  /** Of the format; what is said in its name goes out again when it is written. */
  readonly format: string;
  /** Of each part, in their order. */
  readonly parts: readonly (JsonObject | undefined)[];
  /** Parts that are none of ours, each with the number of our parts before it. */
  readonly kept?: readonly { readonly at: number; readonly part: Json }[];
}

export interface ModelAnswer {
  /** What it thought, said, and wants to have called, in this order. */
  readonly parts: readonly (TextPart | ThinkingPart | CallPart)[];
  readonly besides?: Besides;
  readonly usage?: Usage;
  /** In the currency of the budget. */
  readonly cost?: number;
}

/** What thinks: a model, or a function in its place. */
export type Model = (request: ModelRequest, scope: ModelScope) => Promise<ModelAnswer> | ModelAnswer;
