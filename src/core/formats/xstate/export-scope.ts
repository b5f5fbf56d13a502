/** What an export under way knows, for the parts of the machine that need to know it. */
import type { StateNode } from "../../chart.ts";
import type { Event } from "../../event.ts";
import type { JsonObject } from "../../json.ts";
import type { Machine } from "../../machine.ts";
import type { Scope } from "../../scope.ts";
import type { Notes } from "../note.ts";
import type { EventNames } from "./event.ts";
import type { ExportTopic } from "./export-topic.ts";
import type { XStateLibrary } from "./library.ts";
import type { Parts, XStateEvent } from "./source.ts";

export interface XStateExportOptions {
  /** XState itself: `import * as xstate from "xstate"`. */
  readonly xstate: XStateLibrary;
  /** The code of activities by name. */
  readonly activities?: Readonly<Record<string, (input: never, scope: never) => unknown>>;
  /** The time that handlers see. XState gives them none. */
  readonly now?: () => number;
}

/** Implementations by name, as XState's `createMachine` takes them. */
export type Implementations = Readonly<
  Record<"actions" | "guards" | "actors" | "delays", Record<string, unknown>>
>;

export interface ExportScope {
  readonly machine: Machine;
  readonly options: XStateExportOptions;
  readonly notes: Notes<ExportTopic>;
  readonly implementations: Implementations;
  readonly names: EventNames;
  readonly rootId: string;
  /** XState's machine of a child; undefined if the machine does not bring it. */
  child(name: string): Parts | undefined;
}

/** A guard or an action by its name, with its params if it takes some. */
export type Reference = string | { readonly type: string; readonly params: unknown };

/** What XState hands to functions, and what it leaves to its own guards: whether a state is active. */
export interface Given {
  readonly context: JsonObject;
  readonly event: XStateEvent;
  readonly in?: (state: string) => boolean;
}

/** What handlers see, made of what XState gives. */
export function scopeOf(given: Given, { names, options }: ExportScope): Scope {
  return {
    context: given.context,
    event: names.back(given.event) as Event,
    at: options.now?.() ?? 0,
    in:
      given.in ??
      (() => {
        throw new TypeError("XState tells only guards which states are active");
      }),
  };
}

/** How XState names a state: by its own id, or by its path from the machine down. */
export function xstateId(node: StateNode, rootId: string): string {
  if (node.parent === undefined) return rootId;
  return node.name === node.path ? `${rootId}.${node.path}` : node.name;
}

/** How a target names a state from anywhere. An id with a dot in it cannot be one. */
export function targetId(node: StateNode, rootId: string): string {
  const id = xstateId(node, rootId);
  return `#${/[.\\]/.test(node.name) ? `${rootId}.${node.path}` : id}`;
}

export function placeIn(at: string, key: string): string {
  return at === "" ? key : `${at}.${key}`;
}
