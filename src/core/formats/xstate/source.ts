/**
 * XState v5 as far as the importer reads it, described by shape: nothing here imports xstate, so any copy of it will do.
 * https://stately.ai/docs/xstate
 */

/** What an author wrote, before anybody looked at it. */
export type Parts = Readonly<Record<string, unknown>>;

export interface XStateEvent {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** What XState hands to guards, actions and expressions. */
export interface XStateArguments {
  readonly context: unknown;
  readonly event: XStateEvent;
  readonly self: unknown;
  readonly system: unknown;
}

export type XStateFunction = (given: XStateArguments, params?: unknown) => unknown;

/** Implementations by name, as `setup` and `createMachine` take them. */
export interface XStateImplementations {
  readonly actions?: Parts;
  readonly guards?: Parts;
  readonly actors?: Parts;
  readonly delays?: Parts;
}

/** A machine made by XState: its configuration and what was bound to it. */
export interface XStateMachine {
  readonly config: object;
  readonly implementations: XStateImplementations;
}

/** The configuration in what was given, and its implementations. */
export function readSource(
  given: object,
  bound: XStateImplementations | undefined,
): { readonly config: Parts; readonly implementations: Required<XStateImplementations> } {
  const machine = isMachine(given) ? given : undefined;
  const own = machine?.implementations;
  return {
    config: (machine?.config ?? given) as Parts,
    implementations: {
      actions: { ...own?.actions, ...bound?.actions },
      guards: { ...own?.guards, ...bound?.guards },
      actors: { ...own?.actors, ...bound?.actors },
      delays: { ...own?.delays, ...bound?.delays },
    },
  };
}

export function isMachine(value: unknown): value is XStateMachine {
  return isParts(value) && isParts(value.config) && isParts(value.implementations);
}

export function isParts(value: unknown): value is Parts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export type Code = ((...given: unknown[]) => unknown) & Parts;

export function isCode(value: unknown): value is Code {
  return typeof value === "function";
}

/** One or many, as a list; `undefined` is none. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

/** The transitions under one key, as parts. A forbidden event (`undefined`) is one that does nothing. */
export function transitionsOf(value: unknown): readonly Parts[] {
  return (Array.isArray(value) ? value : [value]).map((one) => {
    if (typeof one === "string") return { target: one };
    return (one ?? {}) as Parts;
  });
}

/** Runs probes that may find anything. */
function attempt<Value>(probe: () => Value): Value | undefined {
  try {
    return probe();
  } catch {
    return undefined;
  }
}

/** The code of a promise actor; undefined if it is none. Told by what it does, since all kinds of logic look alike. */
export function promiseCreator(logic: unknown): XStateFunction | undefined {
  if (!isParts(logic) || !isCode(logic.config) || !isCode(logic.transition)) return undefined;
  const transition = logic.transition as (state: unknown, event: unknown, scope: unknown) => unknown;
  const probe = { type: "xstate.promise.resolve", data: "resolved" };
  const end = attempt(() => transition({ status: "active" }, probe, { self: {} })) as Parts | undefined;
  return end?.status === "done" && end.output === "resolved" ? logic.config : undefined;
}

/** Which of XState's guard makers made a guard. Told by what it does: names do not survive bundling. */
export function builtinGuard(guard: Code): "and" | "or" | "not" | "stateIn" | undefined {
  if (!isCode(guard.check)) return undefined;
  if ("stateValue" in guard) return "stateIn";
  if (!Array.isArray(guard.guards)) return undefined;
  const check = guard.check as (snapshot: unknown, given: unknown, parts: unknown) => unknown;
  const snapshot = { machine: { implementations: { guards: {} } } };
  const holds = (...answers: boolean[]) =>
    attempt(() =>
      check(snapshot, { context: {}, event: { type: "" } }, { guards: answers.map((one) => () => one) }),
    );
  const answers = `${holds(true, false)} ${holds(false, true)}`;
  const kinds: Readonly<Record<string, "and" | "or" | "not">> = {
    "false false": "and",
    "true true": "or",
    "false true": "not",
  };
  return kinds[answers];
}
