/** What an import under way knows, for the parts of the document that need to know it. */
import type { Guard } from "../../definition.ts";
import type { StateNames } from "./names.ts";
import type { DataItem } from "./source.ts";
import type { XmlElement } from "./xml.ts";

export interface ImportScope {
  /** The machine's id; child documents are named after it. */
  readonly id: string;
  readonly names: StateNames;
  /** When the data of states is bound: at the start, or on first entry. */
  readonly binding: "early" | "late";
  /** The text behind an address; undefined if there is none. */
  load(src: string): string | undefined;
  /** A guard from a condition. */
  guard(condition: string, element: XmlElement): Guard;
  /** Imports a document written inside this one, under a name. */
  adoptInline(document: XmlElement, name: string): void;
  /** Imports a document that stands elsewhere, under its address; false if it cannot be loaded now. */
  adoptLoaded(src: string): boolean;
  /** Takes data that belongs to the start. */
  collect(items: readonly DataItem[], replaceable: boolean): void;
  /** Takes the names of data that is bound later. */
  declare(items: readonly DataItem[]): void;
}
