/** Actions, as XState's own: each stands in the implementations under the place it has in the machine. */
import type { Action, Guard, NamedUse, Recipe, SendParts } from "../../definition.ts";
import { produce } from "../../draft.ts";
import { durationMs } from "../../duration.ts";
import type { EventShape } from "../../event.ts";
import type { JsonObject } from "../../json.ts";
import type { Scope } from "../../scope.ts";
import { toXStateEvent } from "./event.ts";
import { expressionOf, guardName } from "./export-guard.ts";
import { type ExportScope, type Given, placeIn, type Reference, scopeOf } from "./export-scope.ts";
import { isCode, isParts, listOf, type Parts } from "./source.ts";

/** The names of a block's actions. */
export function actionNames(actions: unknown, at: string, scope: ExportScope): Reference[] {
  const list = listOf(actions);
  return list.flatMap((action, index) => {
    const place = list.length > 1 ? `${at}[${index}]` : at;
    return actionName(action as Action, place, scope);
  });
}

/** The names of all blocks' actions, in order. */
export function blockNames(blocks: unknown, at: string, scope: ExportScope): Reference[] {
  const many = Array.isArray(blocks) && blocks.length > 0 && blocks.every(Array.isArray);
  if (!many) return actionNames(blocks, at, scope);
  if (blocks.length > 1) scope.notes.add(at, "blocks");
  return blocks.flatMap((block, index) => actionNames([block].flat(), `${at}[${index}]`, scope));
}

/** What a transition does: its update first, then its actions. */
export function workNames(parts: Parts, at: string, scope: ExportScope): Reference[] {
  const update =
    parts.update === undefined
      ? []
      : actionName({ update: parts.update as string }, placeIn(at, "update"), scope);
  return [...update, ...actionNames(parts.actions, placeIn(at, "actions"), scope)];
}

function actionName(action: Action, at: string, scope: ExportScope): Reference[] {
  const { actions } = scope.implementations;
  if ("update" in action && typeof action.update !== "function") return updateName(action.update, at, scope);
  const made = actionOf(action, at, scope);
  if (made === undefined) return [];
  actions[at] = made;
  return [at];
}

/** The name of an update, with its params if it takes some; text of another data model is noted and left out. */
function updateName(update: string | NamedUse, at: string, scope: ExportScope): Reference[] {
  const { type, params } = typeof update === "string" ? { type: update, params: undefined } : update;
  const recipe = scope.machine.definition.updates?.[type];
  if (isParts(recipe) || (recipe === undefined && scope.machine.definition.model !== undefined)) {
    scope.notes.add(at, "model");
    return [];
  }
  if (recipe !== undefined) scope.implementations.actions[type] ??= assignment(recipe, scope);
  const given = expressionOf(params, placeIn(at, "params"), scope);
  return [given === undefined ? type : { type, params: given }];
}

function actionOf(action: Action, at: string, scope: ExportScope): unknown {
  const { xstate } = scope.options;
  if ("update" in action) return assignment(action.update as Recipe, scope);
  if ("raise" in action) return xstate.raise(eventOf(action.raise, at, scope) as never);
  if ("emit" in action) return xstate.emit(eventOf(action.emit, at, scope) as never);
  if ("send" in action) return sendOf(action.send, at, scope);
  if ("cancel" in action) return xstate.cancel(expressionOf(action.cancel, at, scope) as never);
  if ("stop" in action) return xstate.stopChild(expressionOf(action.stop, at, scope) as never);
  if ("log" in action) {
    const value = expressionOf(action.log, at, scope);
    return xstate.log(value as never, action.label as never);
  }
  if ("spawn" in action) return spawnOf(action.spawn, at, scope);
  if ("choose" in action) return chooseOf(action.choose, at, scope);
  const topic = (["reply", "compensate", "map"] as const).find((key) => key in action);
  scope.notes.add(at, topic ?? "model");
  return undefined;
}

/** A recipe makes a whole new context; XState merges it, so what is gone must be said. */
function assignment(recipe: (...given: never) => unknown, scope: ExportScope): unknown {
  const code = recipe as (draft: object, step: unknown, params: unknown) => unknown;
  return scope.options.xstate.assign(((given: Given, params: unknown) => {
    const update = (draft: object, step: unknown) => code(draft, step, params);
    const made = produce(given.context, update as never, scopeOf(given, scope));
    const gone = Object.keys(given.context).filter((key) => !Object.hasOwn(made, key));
    return { ...made, ...Object.fromEntries(gone.map((key) => [key, undefined])) };
  }) as never);
}

/** An event of XState, or how to make it. */
function eventOf(source: unknown, at: string, scope: ExportScope): unknown {
  if (typeof source === "string") return { type: source };
  if (isCode(source))
    return (given: Given) => {
      const { type, data } = source(scopeOf(given, scope)) as EventShape;
      return toXStateEvent(type, data);
    };
  const { type, data } = source as Parts;
  const [typeOf, dataOf] = [expressionOf(type, at, scope), expressionOf(data, at, scope)];
  if (!isCode(typeOf) && !isCode(dataOf)) return toXStateEvent(String(typeOf), dataOf);
  return (given: Given) => toXStateEvent(String(resolved(typeOf, given)), resolved(dataOf, given));
}

function resolved(value: unknown, given: unknown): unknown {
  return isCode(value) ? value(given) : value;
}

function sendOf(send: unknown, at: string, scope: ExportScope): unknown {
  if (isCode(send)) return enqueued((given) => [sendOf(send(scopeOf(given, scope)), at, scope)], scope);
  const parts = (typeof send === "string" ? { type: send } : send) as SendParts;
  if (parts.resume !== undefined) scope.notes.add(at, "resume");
  const to = parts.to ?? "self";
  const outside = isParts(to) && ("run" in to || "url" in to);
  if (outside || parts.via !== undefined || (isParts(to) && !("child" in to))) {
    scope.notes.add(at, "address");
    return undefined;
  }
  if (isCode(to) || isCode(parts.id)) {
    const now = (step: Scope) => ({ ...parts, to: resolved(to, step), id: resolved(parts.id, step) });
    return enqueued((given) => [sendOf(now(scopeOf(given, scope)), at, scope)], scope);
  }
  return constantSend(parts, to, at, scope);
}

/** A send to a place that is known, under an id that is known. */
function constantSend(parts: SendParts, to: unknown, at: string, scope: ExportScope): unknown {
  const { xstate } = scope.options;
  const event = eventOf({ type: parts.type ?? "", data: parts.data }, at, scope);
  const wait = expressionOf(parts.delay, at, scope);
  const delay =
    wait === undefined
      ? undefined
      : isCode(wait)
        ? (given: Given) => durationMs(wait(given))
        : durationMs(wait);
  const options = {
    ...(parts.id === undefined ? {} : { id: parts.id }),
    ...(delay === undefined ? {} : { delay }),
  };
  const [eventArgument, optionsArgument] = [event as never, options as never];
  if (to === "internal") return xstate.raise(eventArgument);
  if (to === "parent") return xstate.sendTo("#_parent" as never, eventArgument, optionsArgument);
  if (isParts(to)) return xstate.sendTo(to.child as never, eventArgument, optionsArgument);
  if (delay !== undefined) return xstate.raise(eventArgument, optionsArgument);
  return xstate.sendTo((({ self }: { self: unknown }) => self) as never, eventArgument, optionsArgument);
}

function spawnOf(spawn: unknown, at: string, scope: ExportScope): unknown {
  const parts = (isParts(spawn) ? spawn : { machine: spawn }) as Parts;
  const name = isParts(parts.machine) ? String(parts.machine.id) : String(parts.machine);
  bindChild(name, at, scope);
  const id = expressionOf(parts.id, at, scope);
  const input = expressionOf(parts.input, at, scope);
  const options = { ...(id === undefined ? {} : { id }), ...(input === undefined ? {} : { input }) };
  return scope.options.xstate.spawnChild(name as never, options as never);
}

/** Makes a child machine known under its name. */
export function bindChild(name: string, at: string, scope: ExportScope): void {
  const { actors } = scope.implementations;
  if (Object.hasOwn(actors, name)) return;
  const child = scope.child(name);
  if (child === undefined) scope.notes.add(at, "child", name);
  else actors[name] = child;
}

function chooseOf(
  branches: readonly { readonly guard?: Guard; readonly actions?: unknown }[],
  at: string,
  scope: ExportScope,
): unknown {
  const made = branches.map(({ guard, actions }, index) => {
    const place = `${at}.choose[${index}]`;
    return {
      guard: guard === undefined ? undefined : guardName(guard, placeIn(place, "guard"), scope),
      names: actionNames(actions, placeIn(place, "actions"), scope),
    };
  });
  return enqueued(
    (_given, check) => made.find(({ guard }) => guard === undefined || check(guard))?.names ?? [],
    scope,
  );
}

type Check = (guard: Reference) => boolean;

function enqueued(
  list: (given: Given, check: Check) => readonly unknown[],
  { options }: ExportScope,
): unknown {
  return options.xstate.enqueueActions(((
    given: Given & { readonly enqueue: (action: unknown) => void; readonly check: Check },
  ) => {
    for (const action of list(given, given.check)) if (action !== undefined) given.enqueue(action);
  }) as never);
}

/** The first context: a value, or a function of the input. */
export function contextOf(start: unknown, scope: ExportScope): unknown {
  const { now } = scope.options;
  if (isCode(start))
    return ({ input }: { readonly input: unknown }) => start({ input, at: now?.() ?? 0 }) as JsonObject;
  return expressionOf(start ?? {}, "start", scope) ?? {};
}
