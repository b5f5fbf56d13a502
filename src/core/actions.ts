/**
 * Actions, from what the author wrote to code over the step under way. An error stops the block that it happens in,
 * and nothing else.
 */
import type { Code, Compute, SendRequest, StateNode, StepScope } from "./chart.ts";
import { type Compiler, listOf, type Parts } from "./compiler.ts";
import { durationMs } from "./duration.ts";
import type { Address } from "./effect.ts";
import type { Event } from "./event.ts";
import { compileGuard } from "./guard.ts";
import { freeze, freezeDeep, isObject, type Json, type JsonObject, toJson } from "./json.ts";
import { compileMapAction } from "./map.ts";
import { resumePolicy } from "./policy.ts";
import { inside, itemsAt, problemOf, type Reporter, show, showProblem } from "./problem.ts";
import { checkKeys, checkText, isName, partsAt } from "./shape.ts";
import { delayOf, expressionOf, jsonOf, machineOf, optionalTextOf, textOf } from "./value.ts";

/** A block: its actions in order, up to the first that fails. */
export function compileBlock(
  compiler: Compiler,
  owner: StateNode,
  actions: unknown,
  path: string,
): Code | undefined {
  return blockOf(compileList(compiler, owner, actions, path));
}

function compileList(compiler: Compiler, owner: StateNode, actions: unknown, path: string): Code[] {
  return itemsAt(actions, path).map(([action, at]) => compileAction(compiler, owner, action, at));
}

function blockOf(codes: readonly Code[]): Code | undefined {
  return codes.length === 0 ? undefined : guardBlock(sequence(codes));
}

function sequence(codes: readonly Code[]): Code {
  const [only] = codes;
  if (codes.length === 1) return only as Code;
  return (scope) => {
    for (const code of codes) code(scope);
  };
}

function guardBlock(code: Code): Code {
  return (scope) => {
    try {
      code(scope);
    } catch (error) {
      if (error instanceof FailedSend) scope.fail(error.cause, error.sendId);
      else scope.fail(error);
    }
  };
}

/** Carries the id of the send that failed to the event that reports it. */
class FailedSend {
  readonly sendId: string;
  readonly cause: unknown;

  constructor(sendId: string, cause: unknown) {
    this.sendId = sendId;
    this.cause = cause;
  }
}

/** One block or several: a list of lists is a list of blocks. */
export function compileBlocks(compiler: Compiler, owner: StateNode, blocks: unknown, path: string): Code[] {
  const several = Array.isArray(blocks) && blocks.length > 0 && blocks.every(Array.isArray);
  const many = several ? itemsAt(blocks, path) : [[blocks, path] as const];
  return many.flatMap(([block, at]) => compileBlock(compiler, owner, block, at) ?? []);
}

/** What a transition does: its update first, then its actions, as one block. */
export function compileWork(
  compiler: Compiler,
  owner: StateNode,
  parts: Parts,
  path: string,
): Code | undefined {
  const { update, actions } = parts;
  const first = update === undefined ? [] : [compileUpdate(compiler, owner, update, inside(path, "update"))];
  return blockOf([...first, ...compileList(compiler, owner, actions, inside(path, "actions"))]);
}

const kinds: Readonly<
  Record<string, (compiler: Compiler, owner: StateNode, action: Parts, path: string) => Code>
> = {
  update: (compiler, owner, action, path) => compileUpdate(compiler, owner, action.update, `${path}.update`),
  raise(compiler, _owner, action, path) {
    const event = compileEvent(compiler, action.raise, `${path}.raise`);
    return (scope) => scope.raise(event(scope));
  },
  emit(compiler, _owner, action, path) {
    const event = compileEvent(compiler, action.emit, `${path}.emit`);
    return (scope) => scope.emit(event(scope));
  },
  send: (compiler, _owner, action, path) => compileSend(compiler, action.send, `${path}.send`),
  cancel(compiler, _owner, action, path) {
    const id = textOf(compiler, action.cancel, `${path}.cancel`);
    return (scope) => scope.cancelSends(id(scope));
  },
  stop(compiler, _owner, action, path) {
    const id = textOf(compiler, action.stop, `${path}.stop`);
    return (scope) => scope.stop(id(scope));
  },
  log(compiler, _owner, action, path) {
    const data = jsonOf(compiler, action.log, `${path}.log`);
    checkText(compiler, action.label, `${path}.label`);
    const label = action.label as string | undefined;
    return (scope) => scope.log(label, data(scope));
  },
  spawn(compiler, _owner, action, path) {
    const named = typeof action.spawn === "string";
    const parts = named
      ? { machine: action.spawn }
      : partsAt(compiler, action.spawn, "spawn", `${path}.spawn`);
    const machine = machineOf(compiler, parts.machine, named ? `${path}.spawn` : `${path}.spawn.machine`);
    const id = optional(parts.id, (source) => textOf(compiler, source, `${path}.spawn.id`));
    const input = jsonOf(compiler, parts.input, `${path}.spawn.input`);
    return (scope) => scope.spawn(machine(scope), id?.(scope), input(scope));
  },
  reply(compiler, _owner, action, path) {
    const data = jsonOf(compiler, action.reply, `${path}.reply`);
    const to = optional(action.to, (source) => textOf(compiler, source, `${path}.to`));
    return (scope) => {
      const address = to === undefined ? scope.event.replyTo : to(scope);
      // Whoever asked waits for an answer, and nothing is one.
      if (address !== undefined) scope.reply(address, data(scope) ?? null);
    };
  },
  compensate(compiler, _owner, action, path) {
    if (action.compensate !== true)
      compiler.problem(`${path}.compensate`, `is ${show(action.compensate)}`, "write true");
    return (scope) => scope.compensate();
  },
  choose(compiler, owner, action, path) {
    const branches = itemsAt(action.choose, `${path}.choose`).map(([branch, place]) => {
      const { guard, actions } = partsAt(compiler, branch, "branch", place);
      const codes = compileList(compiler, owner, actions, `${place}.actions`);
      return { holds: compileGuard(compiler, guard, `${place}.guard`), run: sequence(codes) };
    });
    return (scope) => branches.find(({ holds }) => holds === undefined || holds(scope))?.run(scope);
  },
  map: (compiler, owner, action, path) => compileMapAction(compiler, owner, action.map, `${path}.map`),
  model: (compiler, owner, action, path) =>
    compiler.model.action(
      action.model as JsonObject,
      `${path}.model`,
      (actions, at) => sequence(compileList(compiler, owner, listOf(actions), at)) as never,
    ) as Code,
};

/** What an action may have besides its own key. */
const besides: Readonly<Record<string, readonly string[]>> = { log: ["label"], reply: ["to"] };

const nothing: Code = () => {};

function compileAction(compiler: Compiler, owner: StateNode, action: unknown, path: string): Code {
  const keys = isObject(action) ? Object.keys(action) : [];
  const known = keys.filter((key) => Object.hasOwn(kinds, key));
  const [kind] = known;
  if (kind === undefined || known.length > 1) {
    const all = Object.keys(kinds);
    const fix = `write an object with one of ${all.join(", ")}`;
    compiler.problem(path, "is not an action", () =>
      compiler.nearest.fix(kind === undefined ? keys[0] : undefined, all, fix),
    );
    return nothing;
  }
  checkKeys(compiler, action as Parts, [kind, ...(besides[kind] ?? [])], "this action", path);
  return (kinds[kind] as (typeof kinds)[string])(compiler, owner, action as Parts, path);
}

function compileUpdate(compiler: Compiler, owner: StateNode, source: unknown, path: string): Code {
  const recipe = recipeOf(compiler, source, path);
  if (recipe === undefined || !checkUpdate(compiler, recipe, path)) return nothing;
  const update = compiler.model.update(recipe, path);
  if (!compiler.tracksWrites) {
    return (scope) => {
      scope.context = update(scope);
    };
  }
  return (scope) => {
    const before = scope.context;
    const after = update(scope);
    scope.context = after;
    if (after !== before) scope.wrote(owner, before, after);
  };
}

/** The recipe that is written there, or that goes by the name; with its parameters, computed each time it runs. */
function recipeOf(compiler: Compiler, source: unknown, path: string): unknown {
  if (typeof source === "string") return namedUpdate(compiler, source, path);
  const { type, params } = (isObject(source) ? source : {}) as Parts;
  if (typeof type !== "string") return source;
  // Where updates are data, a field of the context may be called `type` as well.
  if (compiler.model.name !== "plain" && !Object.hasOwn(compiler.vocabulary.updates, type)) return source;
  partsAt(compiler, source, "reference", path);
  const recipe = namedUpdate(compiler, type, inside(path, "type"));
  const given = jsonOf(compiler, params, inside(path, "params"));
  if (typeof recipe !== "function") return recipe;
  return (draft: unknown, scope: StepScope) => recipe(draft, scope, given(scope));
}

function namedUpdate(compiler: Compiler, name: string, path: string): unknown {
  const { vocabulary } = compiler;
  vocabulary.use("update", name, path);
  return Object.hasOwn(vocabulary.updates, name) ? vocabulary.updates[name] : undefined;
}

function checkUpdate(compiler: Compiler, recipe: unknown, path: string): boolean {
  const known = typeof recipe === "function" || (compiler.model.name !== "plain" && isObject(recipe));
  const fix = "write a function (draft, { event }) => { … } or the name of one";
  if (!known) compiler.problem(path, "is not an update", fix);
  return known;
}

/** Compiles the updates that a definition brings, so that those nobody uses are checked as well. */
export function compileUpdates(compiler: Compiler): void {
  for (const [name, recipe] of Object.entries(compiler.vocabulary.updates)) {
    const at = inside("updates", name);
    if (checkUpdate(compiler, recipe, at)) compiler.model.update(recipe, at);
  }
}

function compileEvent(compiler: Compiler, source: unknown, path: string): Compute<Event> {
  if (isName(source)) {
    compiler.vocabulary.raise(source);
    const event = freeze({ type: source });
    return () => event;
  }
  if (typeof source === "function") return (scope) => eventOf(source(scope), path);
  const parts = isObject(source) ? partsAt(compiler, source, "event", path) : {};
  if (parts.type === undefined || parts.type === "") {
    compiler.problem(path, "needs an event type");
    return () => makeEvent("", undefined);
  }
  compiler.vocabulary.raise(parts.type);
  const type = textOf(compiler, parts.type, `${path}.type`);
  const data = jsonOf(compiler, parts.data, `${path}.data`);
  return (scope) => makeEvent(type(scope), data(scope));
}

function eventOf(value: unknown, path: string): Event {
  const { type, data } = (value ?? {}) as { type?: unknown; data?: unknown };
  if (typeof type !== "string" || type === "") throw new TypeError(`${path} must give an event with a type`);
  return makeEvent(type, data === undefined ? undefined : freezeDeep(toJson(data, [], `${path}.data`)));
}

function makeEvent(type: string, data: Json | undefined): Event {
  return freeze(data === undefined ? { type } : { type, data });
}

function compileSend(compiler: Compiler, source: unknown, path: string): Code {
  if (typeof source === "function") return (scope) => scope.send(requestOf(source(scope), path));
  const parts = (
    typeof source === "string"
      ? { type: source }
      : isObject(source)
        ? partsAt(compiler, source, "send", path)
        : {}
  ) as Parts;
  checkSend(compiler, parts, path);
  const type = optional(parts.type === "" ? undefined : parts.type, (given) =>
    textOf(compiler, given, `${path}.type`),
  );
  const data = jsonOf(compiler, parts.data, `${path}.data`);
  const to = optional(parts.to, (given) => expressionOf(compiler, given, `${path}.to`));
  const via = optional(parts.via, (given) => optionalTextOf(compiler, given, `${path}.via`));
  const delay = optional(parts.delay, (given) => delayOf(compiler, given, `${path}.delay`));
  const resume = resumePolicy(parts.resume, `${path}.resume`, parts.delay !== undefined, compiler);
  const id = optional(parts.id, (given) => textOf(compiler, given, `${path}.id`));
  const storeId = optional(parts.idLocation, (given) =>
    compiler.model.location(given as JsonObject, `${path}.idLocation`),
  );
  return (scope) => {
    const sendId = id === undefined && storeId !== undefined ? scope.nextKey() : id?.(scope);
    if (sendId !== undefined) storeId?.(scope, sendId);
    try {
      scope.send({
        event: makeEvent(type?.(scope) ?? "", data(scope)),
        to: addressOf(to === undefined ? "self" : to(scope), path),
        via: via?.(scope),
        delayMs: delay?.(scope) ?? 0,
        resume,
        id: sendId,
      });
    } catch (error) {
      throw sendId === undefined ? error : new FailedSend(sendId, error);
    }
  };
}

function checkSend(compiler: Compiler, parts: Parts, path: string): void {
  compiler.vocabulary.raise(parts.type);
  if (compiler.model.name !== "plain") return;
  if (!hasType(parts)) compiler.problem(path, "needs an event type");
  const { to } = parts;
  if (to !== undefined && typeof to !== "function" && constantAddress(to) === undefined)
    compiler.problem(`${path}.to`, `is ${show(to)}`, addresses);
}

/** Whether a send has the type it needs: what leaves for somewhere else may go without one. */
function hasType({ type, to, via }: Parts): boolean {
  const leaves = via !== undefined || typeof to === "function" || (isObject(to) && "url" in to);
  return type === undefined ? leaves : type !== "";
}

/** Problems of parts that only a step sees are errors of that step. */
const thrower: Reporter = {
  problem(path, problem, fix) {
    throw new TypeError(showProblem(problemOf(path, problem, fix)));
  },
};

/** A send whose parts a function gave: all of them are values. */
function requestOf(given: unknown, path: string): SendRequest {
  const parts = (given ?? {}) as Parts;
  return {
    event: eventOf(parts, path),
    to: addressOf(parts.to ?? "self", path),
    via: parts.via as string | undefined,
    delayMs: durationMs(parts.delay ?? 0),
    resume: resumePolicy(parts.resume, `${path}.resume`, parts.delay !== undefined, thrower),
    id: parts.id as string | undefined,
  };
}

const addresses = 'write "self", "internal", "parent", { child }, { run } or { url }';

function addressOf(value: unknown, path: string): Address {
  const address = constantAddress(value);
  if (address !== undefined) return address;
  throw new TypeError(`${path}.to is ${show(value)}; ${addresses}`);
}

function constantAddress(value: unknown): Address | undefined {
  if (value === "self" || value === "internal" || value === "parent") return value;
  if (!isObject(value)) return undefined;
  const [key, ...others] = Object.keys(value);
  if ((key !== "child" && key !== "run" && key !== "url") || others.length > 0) return undefined;
  return typeof value[key] === "string" ? ({ [key]: value[key] } as unknown as Address) : undefined;
}

function optional<Value>(source: unknown, compile: (source: unknown) => Value): Value | undefined {
  return source === undefined ? undefined : compile(source);
}
