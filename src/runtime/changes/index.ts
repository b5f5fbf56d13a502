/** Table changes as events: `holdfast/changes`. */
export type { FailedChange, FailedChanges } from "./failed.ts";
export type { Change, ChangeRule, Operation, Sendable, SendRule, StartRule } from "./rule.ts";
export {
  type ChangesStatus,
  type TableChanges,
  unwatchTables,
  type WatchOptions,
  watchTables,
} from "./watch.ts";
