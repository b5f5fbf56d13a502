/** Threads: messages, branches, units, search, topics, references. Re-exports only. */
export * from "./message.ts";
export {
  type Entity,
  emptySalience,
  type Gender,
  type Meant,
  type Mention,
  noteMentions,
  type Reference,
  type Resolved,
  type ResolveOptions,
  resolveReference,
  resolveReferences,
  resolveReferencesWith,
  type Salience,
  type TextReading,
} from "./salience.ts";
export { type Found, type SearchOptions, searchThread } from "./search.ts";
export {
  allMessages,
  append,
  branchBefore,
  branches,
  branchFrom,
  type Entry,
  emptyThread,
  findMessage,
  lengthOf,
  messageAt,
  messagesOf,
  newestFirst,
  type OpenCall,
  type Overlay,
  switchTo,
  type Thread,
  type ThreadBranch,
  versionsOf,
} from "./thread.ts";
export { emptyTopics, labelOf, type Topic, type Topics, trackTopic } from "./topics.ts";
export { type CloseOptions, closeOpenCalls, openCalls, reasons, type Unit, unitsOf } from "./unit.ts";
