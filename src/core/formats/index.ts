/** Formats that machines come from and go to: re-exports only. */

export type { Note } from "./note.ts";
export { fromXState, type XStateImport, type XStateImportOptions } from "./xstate/import.ts";
