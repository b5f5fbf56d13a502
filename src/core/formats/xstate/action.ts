/** XState's actions: those it makes itself become actions of the same meaning, code of the user's own is emitted. */
import type { Action, SendParts } from "../../definition.ts";
import type { Address } from "../../effect.ts";
import type { EventShape } from "../../event.ts";
import type { Json } from "../../json.ts";
import type { Scope } from "../../scope.ts";
import { enqueueAction } from "./enqueue.ts";
import { fromXStateEvent } from "./event.ts";
import { own } from "./guard.ts";
import {
  isParent,
  isSelf,
  mentionsActors,
  type Params,
  type Reference,
  referenceOf,
  useOf,
} from "./handler.ts";
import type { ImportScope } from "./scope.ts";
import { type Code, isCode, isParts, listOf, type XStateEvent, type XStateFunction } from "./source.ts";
import { spawnAction } from "./spawn.ts";

/** A list of actions as a definition has it. */
export function actionsOf(actions: unknown, at: string, scope: ImportScope): Action[] {
  const list = listOf(actions);
  return list.flatMap((action, index) =>
    actionOf(action, list.length > 1 || Array.isArray(actions) ? `${at}[${index}]` : at, scope),
  );
}

function actionOf(action: unknown, at: string, scope: ImportScope): Action[] {
  if (isCode(action)) return fromCode(action, undefined, at, scope);
  const reference = referenceOf(action);
  if (reference === undefined) return [];
  const found = own(scope.implementations.actions, reference.name);
  if (isCode(found)) return fromCode(found, reference, at, scope);
  scope.notes.add(at, "unimplemented", `action ${reference.name}`);
  return [emitted(reference.name, reference.params, scope)];
}

function fromCode(action: Code, reference: Reference | undefined, at: string, scope: ImportScope): Action[] {
  const params = reference?.params;
  const builtin = makers[String(action.type)];
  if (builtin !== undefined && isCode(action.resolve)) {
    if (mentionsActors(action.assignment)) scope.notes.add(at, "uses-actors");
    return [builtin({ action, params, reference, at, scope })];
  }
  // XState names code after its function; a place in the machine is a name that stays.
  const name = reference?.name ?? at;
  scope.notes.add(at, "custom-action", `emits action.${name}`);
  scope.actions[name] ??= action;
  return [emitted(name, params, scope)];
}

/** Code that is not part of the step: whoever listens to the run does it. */
function emitted(name: string, params: Params, { handlers }: ImportScope): Action {
  const type = `action.${name}`;
  if (params === undefined) return { emit: type };
  return { emit: (scope: Scope): EventShape => ({ type, data: params(handlers.given(scope)) }) };
}

interface Given {
  readonly action: Code;
  readonly params: Params;
  readonly reference: Reference | undefined;
  readonly at: string;
  readonly scope: ImportScope;
}

const makers: Readonly<Record<string, (given: Given) => Action>> = {
  "xstate.assign": assign,
  "xstate.raise": raise,
  "xstate.sendTo": sendTo,
  "xstate.emit": ({ action, params, scope }) => ({ emit: eventSource(action.event, params, scope) }),
  "xstate.log": log,
  "xstate.cancel": ({ action, params, scope }) => ({
    cancel: scope.handlers.expression(action.sendId, params) as string,
  }),
  "xstate.stopChild": stopChild,
  "xstate.spawnChild": ({ action, at, scope }) => spawnAction(action, at, scope),
  "xstate.enqueueActions": ({ action, params, at, scope }) =>
    enqueueAction(action.collect as XStateFunction, params, { at, scope, actionsOf }),
};

function assign({ action, params, reference, scope }: Given): Action {
  const { assignment } = action;
  const { handlers } = scope;
  const recipe = (draft: object, step: Scope, told: unknown) => {
    const given = handlers.given(step);
    const compute = (value: unknown) => (isCode(value) ? value(given, told) : value);
    const changes = isCode(assignment)
      ? compute(assignment)
      : Object.fromEntries(Object.entries(assignment as object).map(([key, value]) => [key, compute(value)]));
    Object.assign(draft, changes);
  };
  const use = reference === undefined || scope.complete ? undefined : useOf(reference, handlers);
  if (reference === undefined || use === undefined)
    return { update: (draft, step) => recipe(draft, step, params?.(handlers.given(step))) };
  scope.updates[reference.name] ??= recipe;
  return { update: use };
}

interface Constant {
  readonly type: string;
  readonly data?: Json;
}

/** An event to raise or emit: data where it is constant. */
function eventSource(
  event: unknown,
  params: Params,
  { handlers }: ImportScope,
): string | Constant | ((scope: Scope) => EventShape) {
  if (isCode(event)) return (scope) => fromXStateEvent(handlers.call(event, scope, params) as XStateEvent);
  const given = fromXStateEvent(event as XStateEvent);
  return given.data === undefined ? given.type : given;
}

function raise(given: Given): Action {
  const { action, params, scope } = given;
  if (action.delay === undefined) return { raise: eventSource(action.event, params, scope) as string };
  return { send: sendParts(given, () => "self", "self") as SendParts };
}

function sendTo(given: Given): Action {
  const { action, params, at, scope } = given;
  const { to } = action;
  if (isCode(to)) {
    const address = (step: Scope) => addressOf(scope.handlers.call(to, step, params), at);
    return { send: sendParts(given, address, undefined) as SendParts };
  }
  if (isParts(to)) {
    scope.notes.add(at, "actor-reference");
    return { send: sendParts(given, () => addressOf(to, at), undefined) as SendParts };
  }
  const address = addressOf(to, at);
  return { send: sendParts(given, () => address, address) as SendParts };
}

/** A send whose parts are data if all of them are constant, and computed together otherwise. */
function sendParts(
  { action, params, at, scope }: Given,
  address: (scope: Scope) => Address,
  constantAddress: Address | undefined,
): SendParts | ((scope: Scope) => SendParts) {
  const event = eventSource(action.event, params, scope);
  const delay = delayOf(action.delay, params, at, scope);
  const id = action.id as string | undefined;
  if (delay === 0) scope.notes.add(at, "zero-delay");
  const rest = { ...(id === undefined ? {} : { id }) };
  if (constantAddress !== undefined && typeof event !== "function" && !isCode(delay)) {
    const { type, data } = typeof event === "string" ? { type: event, data: undefined } : event;
    return {
      type,
      ...(data === undefined ? {} : { data: data as Json }),
      ...(constantAddress === "self" ? {} : { to: constantAddress as never }),
      ...(delay === undefined ? {} : { delay: delay as number }),
      ...rest,
    };
  }
  return (step) => {
    const made = typeof event === "function" ? event(step) : event;
    const wait = isCode(delay) ? (delay as unknown as (scope: Scope) => number)(step) : delay;
    return {
      ...(typeof made === "string" ? { type: made } : (made as SendParts)),
      to: address(step) as never,
      ...(wait === undefined ? {} : { delay: wait as number }),
      ...rest,
    };
  };
}

/** A delay in milliseconds, or how to compute it. */
export function delayOf(delay: unknown, params: Params, at: string, scope: ImportScope): unknown {
  if (typeof delay !== "string") return scope.handlers.expression(delay, params);
  const found = own(scope.implementations.delays, delay);
  if (found !== undefined) return scope.handlers.expression(found, params);
  scope.notes.add(at, "unknown-delay", delay);
  return 0;
}

/** Where a send goes: a child's id, one of XState's special names, or what a function gave back. */
function addressOf(to: unknown, at: string): Address {
  if (to === undefined || isSelf(to) || to === "#_internal") return "self";
  if (to === "#_parent" || isParent(to)) return "parent";
  if (typeof to === "string") return { child: to.startsWith("#_") ? to.slice(2) : to };
  if (isParts(to) && typeof to.id === "string") return { child: to.id };
  throw new TypeError(`${at} sends to something that has no address here`);
}

function log({ action, params, scope }: Given): Action {
  const { label } = action;
  const value = scope.handlers.expression(action.value, params) as Json;
  return typeof label === "string" && label !== "" ? { log: value, label } : { log: value };
}

function stopChild({ action, params, at, scope }: Given): Action {
  const { actorRef } = action;
  if (typeof actorRef === "string") return { stop: actorRef };
  if (!isCode(actorRef)) scope.notes.add(at, "actor-reference");
  return {
    stop: (step: Scope) => {
      const given = isCode(actorRef) ? scope.handlers.call(actorRef, step, params) : actorRef;
      return typeof given === "string" ? given : String((given as { readonly id?: unknown })?.id);
    },
  };
}
