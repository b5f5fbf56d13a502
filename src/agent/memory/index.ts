/** Long-term memory: facts, when they are true, where they came from, and finding them. Re-exports only. */
export { audit, type MemoryAudit } from "./audit.ts";
export {
  type Candidate,
  emptyMemory,
  type Fact,
  type FactSource,
  isValid,
  type Memory,
  type MemoryRules,
} from "./fact.ts";
export { FactSearch, type Recalled, type RecallOptions, strengthOf } from "./recall.ts";
export {
  closeFact,
  confirmFact,
  forgetFrom,
  noteRecalled,
  type Remembered,
  remember,
} from "./remember.ts";
export { hasSecret } from "./secrets.ts";
