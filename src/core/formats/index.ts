/** Formats that machines come from and go to: re-exports only. */

export { type MermaidOptions, toMermaid } from "./mermaid/export.ts";
export { type RanStep, runToMermaid } from "./mermaid/run.ts";
export type { Note } from "./note.ts";
export { type ScxmlExport, toScxml } from "./scxml/export.ts";
export { toXState, type XStateExport } from "./xstate/export.ts";
export type { XStateExportOptions } from "./xstate/export-scope.ts";
export { fromXState, type XStateImport, type XStateImportOptions } from "./xstate/import.ts";
export type { XStateLibrary } from "./xstate/library.ts";
