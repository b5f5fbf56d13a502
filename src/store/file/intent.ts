/** What one call changes, as data: it says what is to be, never what is to be added, so making it twice is making it once. */
import type { RunHead, RunName } from "../records.ts";
import type { Changes } from "./tracked.ts";

/** What is to be in a file; paths are relative to the store's directory, with `/` between folders. */
export type FileChange =
  | { readonly put: string; readonly value: unknown }
  | { readonly remove: string }
  | { readonly append: string; readonly at: number; readonly lines: readonly unknown[] };

/** What one call changes. */
export interface Intent {
  readonly number: number;
  readonly files: readonly FileChange[];
  readonly runs: readonly (RunChange | RunRemoval)[];
}

/** How much of the files beside it belongs to a run: what a crash left behind that does not. */
interface Extents {
  readonly journalBytes: number;
  readonly chunkBytes: number;
  /** Up to which checkpoint the journal was pruned. */
  readonly pruned: number;
  readonly snapshots: readonly number[];
  /** Which of them are kept for good. */
  readonly kept: readonly number[];
}

/** A run that is not there any more, whatever is told of it before. */
export interface RunRemoval {
  readonly removed: RunName;
}

/** What became of a run. The first since the log was emptied tells the whole run, so that its file need not be good. */
export interface RunChange {
  readonly whole: boolean;
  readonly head: RunHead;
  readonly files: Extents;
  readonly inbox: Changes<string, object>;
  readonly activities: Changes<string, object>;
  readonly keys: Changes<string, object>;
}
