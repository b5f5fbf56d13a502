/** What an export under way knows, and what SCXML has no word for, by name. `docs/guide/formats.md` lists them. */
import type { Chart, StateNode } from "../../chart.ts";
import type { Machine } from "../../machine.ts";
import type { Notes } from "../note.ts";
import type { Markup } from "./markup.ts";

export const exportTopics = {
  function: "is a function or a named one, which cannot be written",
  guard: "has a guard that cannot be written, and is never taken",
  model: "is text of a data model that SCXML does not have",
  error: "asks for the name of an error; SCXML's errors have none",
  map: "is part of a map over a list; SCXML has none",
  emit: "tells whoever listens; SCXML has nobody who does",
  reply: "answers whoever asked; SCXML has no replies",
  spawn: "starts or stops a child that no state owns; SCXML has none",
  compensate: "undoes activities; SCXML has no compensation",
  activity: "is an activity; SCXML invokes documents only",
  child: "invokes a machine that this machine does not bring",
  contract: "is a contract or an invariant; SCXML has none",
  writes: "says what becomes of contradictory writes; in SCXML the last one stands",
  policy: "is for whoever runs the machine",
  unhandled: "says what becomes of events that nobody takes; SCXML drops them",
  defer: "keeps events for later; SCXML drops them",
  resume: "says what outages do to a timer; SCXML does not know of any",
  prefix: "is an exact key; in SCXML it takes longer events too, unless the machine itself speaks of those",
  root: "is on the machine itself; an SCXML document has no such place",
  "parallel-root": "is a parallel machine; the document has one parallel state around its regions",
  "parallel-inside":
    "stays in a parallel state while its regions change; in SCXML that state is left and entered",
  delay: "is a delay that is computed",
  address: "sends to somewhere that SCXML has no target for",
  text: "is said in comments at best",
} as const;

export type ExportTopic = keyof typeof exportTopics;

export interface ExportScope {
  readonly machine: Machine;
  readonly chart: Chart;
  readonly notes: Notes<ExportTopic>;
  /** The id a state has in the document. */
  idOf(node: StateNode): string;
  /** A key of `on`, with the states' names replaced by their ids. */
  keyOf(descriptor: string): string;
  /** Whether the machine speaks of events that begin with this one. */
  isExtended(type: string): boolean;
  /** Something needs the ECMAScript data model. */
  needExpressions(): void;
  /** The document of a child; undefined if the machine does not bring it. */
  child(name: string): Markup | undefined;
}
