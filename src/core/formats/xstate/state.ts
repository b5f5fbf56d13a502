/** States of an XState configuration, as a definition's. */
import type { Action, StateDefinition } from "../../definition.ts";
import { afterType } from "../../event.ts";
import type { Json } from "../../json.ts";
import type { Scope } from "../../scope.ts";
import { actionsOf, delayOf } from "./action.ts";
import { routeType } from "./event.ts";
import { guardOf } from "./guard.ts";
import { invokeAt, joined, type Place } from "./place.ts";
import type { ImportScope } from "./scope.ts";
import { isCode, isParts, listOf, type Parts, transitionsOf, type XStateFunction } from "./source.ts";
import { invokeOf } from "./spawn.ts";
import { handlersOf, targetsOf, transitionOf } from "./transition.ts";

/** The output of each state that has one here. */
export type Outputs = ReadonlyMap<Place, unknown>;

/** A state with all that is inside it. */
export function stateOf(place: Place, outputs: Outputs, scope: ImportScope): StateDefinition {
  if (place.kind === "history") return historyState(place, scope);
  if (place.kind === "final") return finalState(place, outputs, scope);
  const { config, at } = place;
  const output = outputs.get(place);
  return {
    ...described(place, scope),
    ...structureOf(place, outputs, scope),
    ...contentOf(place, scope),
    ...delaysOf(place, scope),
    ...onOf(place, scope),
    ...invokesOf(place, scope),
    ...(config.always === undefined
      ? {}
      : { always: handlersOf(config.always, place, joined(at, "always"), scope) }),
    ...(config.onDone === undefined || place.parent === undefined
      ? {}
      : { onDone: handlersOf(config.onDone, place, joined(at, "onDone"), scope) }),
    ...(output === undefined ? {} : { output: output as Json }),
  };
}

function structureOf(place: Place, outputs: Outputs, scope: ImportScope): StateDefinition {
  const { config, children, kind, at } = place;
  const states = Object.fromEntries(
    children.map((child) => [child.key, stateOf(child, outputs, scope)] as const),
  );
  // Regions act one after the other, and the last write stands.
  if (kind === "parallel") return { type: "parallel", writes: "last", states };
  if (children.length === 0) {
    if (place.parent !== undefined) return {};
    scope.notes.add("", "stateless");
    return { initial: "active", states: { active: {} } };
  }
  const { initial } = config;
  if (!isParts(initial))
    return { ...(initial === undefined ? {} : { initial: keyOf(place, initial) }), states };
  const actions = actionsOf(initial.actions, joined(at, "initial", "actions"), scope);
  const target = keyOf(place, initial.target);
  return { initial: actions.length === 0 ? target : { target, actions }, states };
}

function keyOf(place: Place, initial: unknown): string {
  const [key] = listOf(initial);
  return place.children.find(({ givenKey }) => givenKey === key)?.key ?? String(key);
}

function described({ config, id, at }: Place, scope: ImportScope): StateDefinition {
  const tags = listOf(config.tags) as readonly string[];
  if (config.route !== undefined) scope.notes.add(joined(at, "route"), "option", "see on of the machine");
  return {
    ...(id === undefined ? {} : { id }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(typeof config.description === "string" ? { description: config.description } : {}),
    ...(config.meta === undefined ? {} : { meta: config.meta as Json }),
  };
}

function contentOf(place: Place, scope: ImportScope): StateDefinition {
  const { config, at } = place;
  const entry = actionsOf(config.entry, joined(at, "entry"), scope);
  const exit = actionsOf(config.exit, joined(at, "exit"), scope);
  noteEarlySends(entry, place, scope);
  return { ...(entry.length === 0 ? {} : { entry }), ...(exit.length === 0 ? {} : { exit }) };
}

/** Entry actions run before invocations begin, those of the states around included. */
function noteEarlySends(entry: readonly Action[], place: Place, scope: ImportScope): void {
  const invoked = new Set<unknown>();
  for (let up: Place | undefined = place; up !== undefined; up = up.parent)
    listOf(up.config.invoke).forEach((invoke, index) => {
      invoked.add(invokeId(up as Place, invoke as Parts, index));
    });
  const early = entry.some((action) => {
    const to = "send" in action && isParts(action.send) ? action.send.to : undefined;
    return isParts(to) && invoked.has(to.child);
  });
  if (early) scope.notes.add(joined(place.at, "entry"), "early-send");
}

function invokeId(place: Place, invoke: Parts, index: number): string {
  return typeof invoke.id === "string" ? invoke.id : `${index}.${place.xstateId}`;
}

function invokesOf(place: Place, scope: ImportScope): StateDefinition {
  const list = listOf(place.config.invoke) as readonly Parts[];
  const invoke = list.map((parts, index) => {
    const at = invokeAt(place.at, list, index);
    const handlers = (key: "onDone" | "onError") =>
      parts[key] === undefined ? {} : { [key]: handlersOf(parts[key], place, joined(at, key), scope) };
    return invokeOf(
      parts,
      invokeId(place, parts, index),
      { ...handlers("onDone"), ...handlers("onError") },
      { at, scope },
    );
  });
  return invoke.length === 0 ? {} : { invoke: invoke.length === 1 ? invoke[0]! : invoke };
}

function onOf(place: Place, scope: ImportScope): StateDefinition {
  const { config, at } = place;
  const on: Record<string, unknown> = {};
  for (const [given, value] of Object.entries((config.on ?? {}) as Parts)) {
    const key = scope.names.key(given);
    const where = joined(at, "on", given);
    if (key === undefined) scope.notes.add(where, "own-events");
    else on[key] = handlersOf(value, place, where, scope);
  }
  if (place.parent === undefined) Object.assign(on, routesOf(scope));
  return Object.keys(on).length === 0 ? {} : { on: on as NonNullable<StateDefinition["on"]> };
}

/** States that can be gone to from anywhere, by the event `xstate.route` with their id. */
function routesOf(scope: ImportScope): Parts {
  const routes = scope.places.all.flatMap((place) => {
    const { route } = place.config;
    if (!isParts(route) || place.id === undefined) return [];
    const wanted = `#${place.id}`;
    const matches = ({ event }: Scope) =>
      (event.data as { readonly to?: unknown } | undefined)?.to === wanted;
    const at = joined(place.at, "route");
    const guard =
      route.guard === undefined
        ? matches
        : { and: [matches, guardOf(route.guard, joined(at, "guard"), scope)] };
    const { guard: _, ...rest } = transitionOf({ ...route, target: wanted }, scope.places.root, at, scope);
    return [{ ...rest, guard }];
  });
  return routes.length === 0 ? {} : { [routeType]: routes };
}

function delaysOf(place: Place, scope: ImportScope): StateDefinition {
  const { config, at, path } = place;
  const delays = Object.entries((config.after ?? {}) as Parts).map(([key, value]) => {
    const where = joined(at, "after", key);
    const number = Number(key);
    const delay = Number.isNaN(number) ? delayOf(key, undefined, where, scope) : number;
    const type = `xstate.after.${Number.isNaN(number) ? key : number}.${place.xstateId}`;
    return { delay, type, where, value };
  });
  if (delays.length === 0) return {};
  if (delays.every(({ delay }) => typeof delay === "number")) {
    const after: Record<string, unknown> = {};
    for (const { delay, value, where } of delays)
      after[String(delay)] = handlersOf(value, place, where, scope);
    Object.keys(after).forEach((key, index) => {
      const pair = delays.find(({ delay }) => String(delay) === key);
      scope.names.pair(afterType(path, index), pair!.type);
    });
    return { after: after as NonNullable<StateDefinition["after"]> };
  }
  const after = delays.flatMap(({ delay, value, where, type }) =>
    transitionsOf(value).map((parts, index, all) => {
      if (all.length > 1) scope.notes.add(where, "many-candidates");
      const others = all.slice(0, index).map((one) => one.guard);
      return { type, delay, ...exclusive(parts, others, place, where, scope) };
    }),
  );
  for (const [index, { type }] of after.entries()) scope.names.pair(afterType(path, index), type);
  return { after: after.map(({ type: _, ...parts }) => parts) as NonNullable<StateDefinition["after"]> };
}

/** A candidate that is taken only if none before it is. */
function exclusive(parts: Parts, before: readonly unknown[], place: Place, at: string, scope: ImportScope) {
  const transition = transitionOf(parts, place, at, scope);
  if (before.length === 0) return transition;
  const none = before.map((guard) =>
    guard === undefined ? { or: [] } : { not: guardOf(guard, joined(at, "guard"), scope) },
  );
  const { guard } = transition;
  return { ...transition, guard: { and: guard === undefined ? none : [...none, guard] } };
}

function historyState(place: Place, scope: ImportScope): StateDefinition {
  const { config, at } = place;
  noteDead(place, ["on", "always", "after", "invoke", "onDone", "entry", "exit", "states"], scope);
  const base = { ...described(place, scope), type: "history" } as const;
  const history = config.history === "deep" ? ("deep" as const) : ("shallow" as const);
  if (config.target !== undefined && config.target !== "")
    return { ...base, history, target: targetsOf(config.target, place, at, scope) };
  return { ...base, history, ...defaultOf(place.parent as Place, scope) };
}

/** Where a history without a target of its own leads: where its parent begins. */
function defaultOf(parent: Place, scope: ImportScope): StateDefinition {
  if (parent.kind === "parallel")
    return { target: parent.children.filter(({ kind }) => kind !== "history").map(({ key }) => key) };
  const { initial } = parent.config;
  if (!isParts(initial)) return { target: keyOf(parent, initial) };
  const actions = actionsOf(initial.actions, joined(parent.at, "initial", "actions"), scope);
  return { target: keyOf(parent, initial.target), ...(actions.length === 0 ? {} : { actions }) };
}

function finalState(place: Place, outputs: Outputs, scope: ImportScope): StateDefinition {
  noteDead(place, ["on", "always", "after", "invoke", "onDone", "initial", "states"], scope);
  const output = outputs.get(place);
  const content = { ...contentOf(place, scope), ...(output === undefined ? {} : { output: output as Json }) };
  if (place.parent?.kind !== "parallel") return { ...described(place, scope), type: "final", ...content };
  scope.notes.add(place.at, "final-region");
  return { ...described(place, scope), initial: "done", states: { done: { type: "final", ...content } } };
}

function noteDead({ config, at }: Place, keys: readonly string[], scope: ImportScope): void {
  for (const key of keys) if (config[key] !== undefined) scope.notes.add(joined(at, key), "dead-content");
}

/**
 * Outputs, by state. In XState a machine's own `output` is what a run ends with, computed from the event that carries
 * its final state's; here it is the final state's own. So each final state of the machine gets both in one.
 */
export function outputsOf(config: Parts, scope: ImportScope): Outputs {
  const outputs = new Map<Place, unknown>();
  const { root } = scope.places;
  for (const place of scope.places.all) {
    const given = place.config.output;
    if (place.kind !== "final" || given === undefined) continue;
    if (place.parent === root && config.output === undefined)
      scope.notes.add(joined(place.at, "output"), "unused-output");
    else outputs.set(place, scope.handlers.expression(given, undefined));
  }
  if (config.output === undefined) return outputs;
  if (!isCode(config.output)) {
    for (const place of root.children) outputs.delete(place);
    return outputs.set(root, config.output);
  }
  const ends = root.kind === "parallel" ? [root] : root.children.filter(({ kind }) => kind === "final");
  for (const place of ends) outputs.set(place, ending(config.output, place, outputs.get(place), scope));
  return outputs;
}

function ending(output: XStateFunction, place: Place, own: unknown, { handlers }: ImportScope) {
  const type = `xstate.done.state.${place.xstateId}`;
  return (scope: Scope) => {
    const value = isCode(own) ? (own as unknown as (scope: Scope) => unknown)(scope) : own;
    return output({ ...handlers.given(scope), event: { type, output: value } });
  };
}
