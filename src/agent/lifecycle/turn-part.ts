/** The parts of which listeners hear what an agent says and does. */
import type { CallPart, ResultPart } from "../thread/message.ts";
import type { PendingCall, TurnEnd } from "./context.ts";

/** Where somebody who listened has come to: the step, and in it the last part, or the last piece of what the model said. */
export interface Cursor {
  /** The run that was listened to, after that the conversation began with; absent for that one. */
  readonly run?: string;
  readonly seq: number;
  readonly part?: number;
  readonly piece?: number;
}

/** What comes of what was said. Every part has a text, which is empty unless the agent speaks. */
export type TurnPart = {
  readonly cursor: Cursor;
  readonly text: string;
} /** What the user said has its turn now. */ & (
  | { readonly type: "said"; readonly message: string }
  | { readonly type: "text" }
  | { readonly type: "thinking"; readonly thinking: string }
  /** What was said of this message so far no longer counts: the model was asked again, and said something else. */
  | { readonly type: "restart" }
  | { readonly type: "call"; readonly call: CallPart }
  | { readonly type: "result"; readonly result: ResultPart }
  /** People are asked: `approve` or `reject` each of them. */
  | { readonly type: "approval"; readonly calls: readonly PendingCall[] }
  /** The model has handed the conversation to another agent, whose run this is; what that one says comes next. */
  | { readonly type: "handedOver"; readonly to: string }
  | ({ readonly type: "end" } & TurnEnd)
);
