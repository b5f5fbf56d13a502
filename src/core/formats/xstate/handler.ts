/** XState's functions, called from a step: they get what they know (`context`, `event`) in the shape they know it. */
import type { NamedUse } from "../../definition.ts";
import { type Json, toJson } from "../../json.ts";
import type { Scope } from "../../scope.ts";
import type { EventNames } from "./event.ts";
import { isCode, isParts, type XStateArguments, type XStateFunction } from "./source.ts";

/** Stands for the actor itself, and for its parent, in functions that say where to send. */
export const selfReference = Object.freeze({ id: "self", sessionId: "self" });
export const parentReference = Object.freeze({ id: "parent", sessionId: "parent" });
const self = Object.freeze({ ...selfReference, _parent: parentReference });
const system = Object.freeze({ get: () => undefined, getAll: () => ({}) });

/** Whether a function's `self` or `self._parent` is what it gave back. */
export const isSelf = (value: unknown): boolean => value === self;
export const isParent = (value: unknown): boolean => value === parentReference;

export class Handlers {
  readonly #names: EventNames;

  constructor(names: EventNames) {
    this.#names = names;
  }

  given(scope: Scope): XStateArguments {
    const event = this.#names.event(scope.event);
    // XState tells only its own guards what is active; guards that came from here may ask.
    return {
      context: scope.context,
      event,
      self,
      system,
      in: (state: string) => scope.in(state),
    } as XStateArguments;
  }

  /** A function of XState as one over a step; anything else is a constant. */
  expression(value: unknown, params: Params): unknown {
    if (!isCode(value)) return value;
    return (scope: Scope) => this.call(value, scope, params);
  }

  call(code: XStateFunction, scope: Scope, params: Params): unknown {
    const given = this.given(scope);
    return code(given, params?.(given));
  }
}

/** The params of a named guard or action, computed when it is used; undefined where there are none. */
export type Params = ((given: XStateArguments) => unknown) | undefined;

/** How the author referred to a guard or an action: by its name, with params as they were written. */
export interface Reference {
  readonly name: string;
  readonly written: unknown;
  readonly params: Params;
}
export function referenceOf(value: unknown): Reference | undefined {
  if (typeof value === "string") return { name: value, written: undefined, params: undefined };
  if (!isParts(value) || typeof value.type !== "string") return undefined;
  const { type: name, params } = value;
  return { name, written: params, params: paramsOf(params) };
}

function paramsOf(params: unknown): Params {
  if (params === undefined) return undefined;
  return isCode(params) ? (given) => params(given) : () => params;
}

/** A name with its params, as a definition has it; undefined if they are a constant that no definition can hold. */
export function useOf({ name, written }: Reference, handlers: Handlers): string | NamedUse | undefined {
  if (written === undefined) return name;
  if (isCode(written))
    return { type: name, params: (scope: Scope) => written(handlers.given(scope)) as Json };
  try {
    return { type: name, params: toJson(written, [], "params") };
  } catch {
    return undefined;
  }
}

/** Whether the text of a function speaks of actors, which it will not find. A hint for the reader, nothing more. */
export function mentionsActors(value: unknown): boolean {
  return typeof value === "function" && /\b(spawn|self|system)\b/.test(String(value));
}
