/** Long-term memory: facts, when they are true, where they came from, and finding them. Re-exports only. */
export { audit, type MemoryAudit } from "./audit.ts";
export { defineMemory, type MemoryKind, type MemoryOptions } from "./define-memory.ts";
export type { Embedding, GivenEmbedding, SdkEmbedding } from "./embedding.ts";
export {
  type Candidate,
  emptyMemory,
  type Fact,
  type FactVector,
  isValid,
  type Memory,
  type MemoryRules,
} from "./fact.ts";
export {
  type AskedRecall,
  type ExportedMemory,
  type OpenMemory,
  type OpenMemoryOptions,
  openMemory,
} from "./open-memory.ts";
export { FactSearch, type Recalled, type RecallOptions, strengthOf } from "./recall.ts";
export {
  closeFact,
  confirmFact,
  consolidate,
  correctFact,
  forgetAll,
  forgetFacts,
  forgetFrom,
  noteRecalled,
  quarantineFact,
  type Remembered,
  remember,
} from "./remember.ts";
export { hasSecret } from "./secrets.ts";
export type { FactSource } from "./sources.ts";
