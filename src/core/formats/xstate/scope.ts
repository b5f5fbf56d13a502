/** What an import under way knows, for the parts of the configuration that need to know it. */
import type { Guard, MachineReference, Recipe } from "../../definition.ts";
import type { Scope } from "../../scope.ts";
import type { Notes } from "../note.ts";
import type { EventNames } from "./event.ts";
import type { Handlers } from "./handler.ts";
import type { Places } from "./place.ts";
import type { XStateFunction, XStateImplementations, XStateMachine } from "./source.ts";
import type { Topic } from "./topic.ts";

/** User code that a runtime calls outside the step: the body of a promise actor. */
export type ActivityCode = (input: never, scope: { readonly signal: AbortSignal }) => unknown;

export interface ImportScope {
  /** The machine's id here; its children are named after it. */
  readonly id: string;
  readonly places: Places;
  readonly names: EventNames;
  readonly handlers: Handlers;
  readonly notes: Notes<Topic>;
  readonly implementations: Required<XStateImplementations>;
  /** What the definition refers to by name, as it is found. */
  readonly guards: Record<string, (scope: Scope, params: unknown) => boolean>;
  readonly updates: Record<string, (...given: [...Parameters<Recipe>, params: unknown]) => unknown>;
  readonly machines: Record<string, MachineReference>;
  readonly activities: Record<string, ActivityCode>;
  readonly actions: Record<string, XStateFunction>;
  /** Whether the definition is made: from then on nothing can be added to it, and lists are read while stepping. */
  readonly complete: boolean;
  /** Whether the definition needs the data model that runs `enqueueActions`. */
  enqueues: boolean;
  /** The name of an activity: children share a runtime with their parent, so theirs are named after them. */
  activityName(name: string): string;
  /** Imports a child machine under this name. */
  adopt(machine: XStateMachine, name: string, at: string): void;
}

/** A guard that never holds. */
export const never: Guard = { or: [] };
