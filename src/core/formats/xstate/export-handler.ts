/** Handlers and invocations of a state, under XState's keys. */
import type { StateNode } from "../../chart.ts";
import type { Guard, StateDefinition } from "../../definition.ts";
import { durationMs } from "../../duration.ts";
import { afterType, doneStateType } from "../../event.ts";
import { resolveTarget } from "../../target.ts";
import { bindChild, workNames } from "./export-action.ts";
import { expressionOf, guardName, transitionsIn } from "./export-guard.ts";
import { type ExportScope, type Given, placeIn, targetId, xstateId } from "./export-scope.ts";
import { isCode, isParts, listOf, type Parts } from "./source.ts";

/** A state in both its forms, and where it stands. */
export interface Listed {
  readonly node: StateNode;
  readonly state: StateDefinition;
  readonly at: string;
}

/** Pairs the names of a state's own events on both sides, before anything is said about them. */
export function pairNames({ node, state }: Listed, { names, rootId }: ExportScope): void {
  const id = xstateId(node, rootId);
  names.pair(doneStateType(node.name), `xstate.done.state.${id}`);
  delaysOf(state).forEach(({ key }, index) => {
    names.pair(afterType(node.path, index), `xstate.after.${key ?? delayName(node, index)}.${id}`);
  });
}

export function handlersIn(listed: Listed, scope: ExportScope): Parts {
  const { state, at } = listed;
  const always = transitions(state.always, placeIn(at, "always"), listed, scope);
  const onDone = transitions(state.onDone, placeIn(at, "onDone"), listed, scope);
  return {
    ...onIn(listed, scope),
    ...(always.length === 0 ? {} : { always }),
    ...(onDone.length === 0 ? {} : { onDone }),
    ...afterIn(listed, scope),
  };
}

function onIn(listed: Listed, scope: ExportScope): Parts {
  const { state, at } = listed;
  const on: Record<string, Parts[]> = {};
  const add = (key: string, given: unknown, place: string) => {
    const theirs = scope.names.theirKey(key);
    if (theirs === undefined) scope.notes.add(place, "own-events", key);
    else on[theirs] = [...(on[theirs] ?? []), ...transitions(given, place, listed, scope)];
  };
  if (Array.isArray(state.on)) {
    if (state.on.length > 1) scope.notes.add(placeIn(at, "on"), "order");
    for (const [index, handler] of (state.on as readonly Parts[]).entries())
      for (const key of listOf(handler.event).flatMap((event) => String(event).trim().split(/\s+/)))
        add(key, handler, `${placeIn(at, "on")}[${index}]`);
  } else
    for (const [key, given] of Object.entries(state.on ?? {}))
      add(key, given, placeIn(placeIn(at, "on"), key));
  return Object.keys(on).length === 0 ? {} : { on };
}

/** Delays, with their key in XState where they are constant. */
function delaysOf(
  state: StateDefinition,
): { readonly key: number | undefined; readonly delay: unknown; readonly given: unknown }[] {
  const list = Array.isArray(state.after)
    ? (state.after as readonly Parts[]).map((one) => [one.delay, one] as const)
    : Object.entries(state.after ?? {});
  return list.map(([delay, given]) => {
    const constant = typeof delay === "number" || typeof delay === "string";
    return { key: constant ? durationMs(delay) : undefined, delay, given };
  });
}

const delayName = (node: StateNode, index: number): string => `${node.path || "machine"} after ${index}`;

function afterIn(listed: Listed, scope: ExportScope): Parts {
  const { node, state, at } = listed;
  const after: Record<string, Parts[]> = {};
  delaysOf(state).forEach(({ key, delay, given }, index) => {
    const place = `${placeIn(at, "after")}[${index}]`;
    const name = String(key ?? delayName(node, index));
    if (key === undefined) {
      const wait = expressionOf(delay, place, scope);
      scope.implementations.delays[name] = (step: Given) => durationMs(isCode(wait) ? wait(step) : 0);
    }
    if (transitionsIn(given).some(({ resume }) => resume !== undefined)) scope.notes.add(place, "resume");
    after[name] = [...(after[name] ?? []), ...transitions(given, place, listed, scope)];
  });
  return Object.keys(after).length === 0 ? {} : { after };
}

function transitions(given: unknown, at: string, { node }: Listed, scope: ExportScope): Parts[] {
  const list = transitionsIn(given);
  return list.map((parts, index) =>
    transitionOf(parts, list.length > 1 ? `${at}[${index}]` : at, node, scope),
  );
}

function transitionOf(parts: Parts, at: string, node: StateNode, scope: ExportScope): Parts {
  if ((parts.require ?? parts.ensure) !== undefined) scope.notes.add(at, "contract");
  const target = listOf(parts.target).map((name) => {
    const found = resolveTarget(String(name), node, scope.machine.chart);
    return found === undefined ? String(name) : targetId(found, scope.rootId);
  });
  const actions = workNames(parts, at, scope);
  return {
    ...(parts.guard === undefined
      ? {}
      : { guard: guardName(parts.guard as Guard, placeIn(at, "guard"), scope) }),
    ...(target.length === 0 ? {} : { target: target.length === 1 ? target[0] : target }),
    ...(actions.length === 0 ? {} : { actions }),
    ...(parts.reenter === true ? { reenter: true } : {}),
    ...(parts.description === undefined ? {} : { description: parts.description }),
    ...(parts.meta === undefined ? {} : { meta: parts.meta }),
  };
}

export function invokesIn(listed: Listed, scope: ExportScope): Parts {
  const { node, state, at } = listed;
  const list = listOf(state.invoke) as readonly Parts[];
  const invoke = list.map((parts, index) => {
    const place = list.length > 1 ? `${placeIn(at, "invoke")}[${index}]` : placeIn(at, "invoke");
    const id = parts.id ?? (list.length > 1 ? `${node.path}:${index}` : node.path);
    noteInvoke(parts, place, scope);
    const handlers = (key: string) => {
      const made = transitions(parts[key], placeIn(place, key), listed, scope);
      return made.length === 0 ? {} : { [key]: made };
    };
    const input = expressionOf(parts.input, placeIn(place, "input"), scope);
    return {
      id,
      src: actorName(parts, place, scope),
      ...(input === undefined ? {} : { input }),
      ...handlers("onDone"),
      ...handlers("onError"),
    };
  });
  return invoke.length === 0 ? {} : { invoke: invoke.length === 1 ? invoke[0] : invoke };
}

function noteInvoke(parts: Parts, at: string, { notes }: ExportScope): void {
  const { retry, timeout, heartbeat, once, reconcile, onUnknown, compensate, concurrency, rate, priority } =
    parts;
  const flow = [concurrency, rate, priority];
  if ([retry, timeout, heartbeat, once, reconcile, onUnknown, ...flow].some((one) => one !== undefined))
    notes.add(at, "activity");
  if (compensate !== undefined) notes.add(at, "compensate");
  if (parts.finalize !== undefined) notes.add(at, "finalize");
  if (parts.autoforward === true) notes.add(at, "autoforward");
}

/** The name under which XState finds what is invoked. */
function actorName(parts: Parts, at: string, scope: ExportScope): string {
  if (parts.machine !== undefined) {
    const name = isParts(parts.machine) ? String(parts.machine.id) : String(parts.machine);
    bindChild(name, at, scope);
    return name;
  }
  const name = String(parts.activity);
  const code = scope.options.activities?.[name];
  if (code === undefined) scope.notes.add(at, "unbound", name);
  else
    scope.implementations.actors[name] ??= scope.options.xstate.fromPromise(((given: {
      readonly input: unknown;
      readonly signal: AbortSignal;
    }) => code(given.input as never, { signal: given.signal } as never)) as never);
  return name;
}
