/** The entry `holdfast/agent`: agents, and what they remember and share. Re-exports only. */
export * from "./board/index.ts";
export * from "./formats/index.ts";
export { type Agent, type AgentDefinition, defineAgent } from "./lifecycle/agent.ts";
export type { ModelWithTools } from "./lifecycle/asking.ts";
export type { CallDecision } from "./lifecycle/calls.ts";
export type {
  AgentContext,
  Budget,
  CallRecord,
  Decided,
  PendingCall,
  Referred,
  Turn,
  TurnEnd,
  Used,
} from "./lifecycle/context.ts";
export type {
  Conversation,
  ConversationOptions,
  Saying,
  SayOptions,
} from "./lifecycle/conversation.ts";
export { toolLogOf } from "./lifecycle/log.ts";
export type { Successors } from "./lifecycle/own-tools.ts";
export type { RecalledFact } from "./lifecycle/recalled.ts";
export type { AgentMemory, Drawn, Extractor } from "./lifecycle/remembering.ts";
export * from "./lifecycle/report.ts";
export type { Stretch, WindowReport } from "./lifecycle/report-window.ts";
export type { SeenWindow } from "./lifecycle/seen.ts";
export type { BusyPolicy } from "./lifecycle/stopping.ts";
export type { Reflection, Steps } from "./lifecycle/turn.ts";
export type { Cursor, TurnPart } from "./lifecycle/turn-part.ts";
export type { References } from "./lifecycle/understanding.ts";
export type { AgentWindow } from "./lifecycle/view.ts";
export type { Occasion, Reflector, StepFinder } from "./lifecycle/work.ts";
export * from "./memory/index.ts";
export type * from "./model/model.ts";
export * from "./plan/index.ts";
export * from "./profile/index.ts";
export * from "./scope/index.ts";
export * from "./thread/index.ts";
export type { Tool, ToolScope } from "./tool/tool.ts";
export * from "./window/index.ts";
