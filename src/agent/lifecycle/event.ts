/** What an agent hears, and the form of the states in which it does. */
import type { StateDefinition } from "../../core/definition.ts";
import type { CallDecision } from "./calls.ts";
import type { AgentContext, Said } from "./context.ts";

export type AgentEvent =
  | { readonly type: "say"; readonly data: Said }
  | { readonly type: "decide"; readonly data: CallDecision }
  | { readonly type: "stop" }
  | { readonly type: "handOver"; readonly data: { readonly to: string } }
  | { readonly type: "close" };

export type Definition = StateDefinition<AgentContext, AgentEvent>;
