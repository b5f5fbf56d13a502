/**
 * Actions, from what the author wrote to code over the step under way. An error stops the block that it happens in,
 * and nothing else.
 */
import type { Code, Compute, SendRequest, StateNode, StepScope } from "./chart.ts";
import { type Compiler, listOf, named, type Parts } from "./compiler.ts";
import { durationMs } from "./duration.ts";
import type { Address } from "./effect.ts";
import type { Event } from "./event.ts";
import { compileGuard } from "./guard.ts";
import { freeze, freezeDeep, type Json, type JsonObject, showValue, toJson } from "./json.ts";
import { type Reporter, resumePolicy } from "./policy.ts";
import { delayOf, jsonOf, machineOf, optionalTextOf, textOf } from "./value.ts";

/** A block: its actions in order, up to the first that fails. */
export function compileBlock(
  compiler: Compiler,
  owner: StateNode,
  actions: unknown,
  path: string,
): Code | undefined {
  const codes = listOf(actions).map((action, index) =>
    compileAction(compiler, owner, action, `${path}[${index}]`),
  );
  if (codes.length === 0) return undefined;
  return guardBlock(sequence(codes));
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
  const many = Array.isArray(blocks) && blocks.length > 0 && blocks.every(Array.isArray) ? blocks : [blocks];
  return many.flatMap((block, index) => {
    const code = compileBlock(compiler, owner, block, many.length > 1 ? `${path}[${index}]` : path);
    return code === undefined ? [] : [code];
  });
}

/** What a transition does: its update first, then its actions, as one block. */
export function compileWork(
  compiler: Compiler,
  owner: StateNode,
  parts: Parts,
  path: string,
): Code | undefined {
  const { update, actions } = parts;
  const all = update === undefined ? listOf(actions) : [{ update }, ...listOf(actions)];
  return compileBlock(compiler, owner, all, `${path}.actions`);
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
    const label = action.label as string | undefined;
    return (scope) => scope.log(label, data(scope));
  },
  spawn(compiler, _owner, action, path) {
    const parts = typeof action.spawn === "string" ? { machine: action.spawn } : (action.spawn as Parts);
    const machine = machineOf(compiler, parts.machine, `${path}.spawn.machine`);
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
      compiler.problem(`${path}.compensate`, `is ${showValue(action.compensate)}; write true`);
    return (scope) => scope.compensate();
  },
  choose(compiler, owner, action, path) {
    const branches = listOf(action.choose).map((branch, index) => {
      const { guard, actions } = branch as Parts;
      const place = `${path}.choose[${index}]`;
      const codes = listOf(actions).map((one, at) =>
        compileAction(compiler, owner, one, `${place}.actions[${at}]`),
      );
      return { holds: compileGuard(compiler, guard, `${place}.guard`), run: sequence(codes) };
    });
    return (scope) => branches.find(({ holds }) => holds === undefined || holds(scope))?.run(scope);
  },
  model: (compiler, owner, action, path) =>
    compiler.model.action(
      action.model as JsonObject,
      `${path}.model`,
      (actions, at) =>
        sequence(
          listOf(actions).map((one, index) => compileAction(compiler, owner, one, `${at}[${index}]`)),
        ) as never,
    ) as Code,
};

const nothing: Code = () => {};

function compileAction(compiler: Compiler, owner: StateNode, action: unknown, path: string): Code {
  const known =
    typeof action === "object" && action !== null
      ? Object.keys(action).filter((key) => Object.hasOwn(kinds, key))
      : [];
  const [kind] = known;
  if (kind === undefined || known.length > 1) {
    compiler.problem(path, `is not an action; write an object with one of ${Object.keys(kinds).join(", ")}`);
    return nothing;
  }
  return (kinds[kind] as (typeof kinds)[string])(compiler, owner, action as Parts, path);
}

function compileUpdate(compiler: Compiler, owner: StateNode, source: unknown, path: string): Code {
  const recipe = recipeOf(compiler, source, path);
  if (recipe === undefined) return nothing;
  if (compiler.model.name === "plain" && typeof recipe !== "function") {
    compiler.problem(
      path,
      "is not an update; write a function (draft, { event }) => { … } or the name of one",
    );
    return nothing;
  }
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
  if (typeof source === "string") return named(compiler, "update", compiler.updates, source);
  const { type, params } = Object(source) as Parts;
  if (typeof type !== "string") return source;
  const recipe = named(compiler, "update", compiler.updates, type);
  if (typeof recipe !== "function") return recipe;
  const given = jsonOf(compiler, params, `${path}.params`);
  return (draft: unknown, scope: StepScope) => recipe(draft, scope, given(scope));
}

function compileEvent(compiler: Compiler, source: unknown, path: string): Compute<Event> {
  if (typeof source === "string" && source !== "") {
    const event = freeze({ type: source });
    return () => event;
  }
  if (typeof source === "function") return (scope) => eventOf(source(scope), path);
  const parts = (source ?? {}) as Parts;
  if (parts.type === undefined || parts.type === "") compiler.problem(path, "needs an event type");
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
  const parts = (typeof source === "string" ? { type: source } : (source ?? {})) as Parts;
  if (!hasType(parts) && compiler.model.name === "plain") compiler.problem(path, "needs an event type");
  const type = optional(parts.type, (given) => textOf(compiler, given, `${path}.type`));
  const data = jsonOf(compiler, parts.data, `${path}.data`);
  const to = optional(parts.to, (given) => compiler.model.value(given, `${path}.to`));
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

/** Whether a send has the type it needs: what leaves for somewhere else may go without one. */
function hasType({ type, to, via }: Parts): boolean {
  const leaves =
    via !== undefined || typeof to === "function" || (typeof to === "object" && to !== null && "url" in to);
  return type === undefined ? leaves : type !== "";
}

/** Problems of parts that only a step sees are errors of that step. */
const thrower: Reporter = {
  problem(path, problem) {
    throw new TypeError(`${path} ${problem}`);
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

function addressOf(value: unknown, path: string): Address {
  if (value === "self" || value === "internal" || value === "parent") return value;
  if (typeof value === "object" && value !== null) {
    const [key, ...others] = Object.keys(value);
    const name = key === undefined ? undefined : (value as Parts)[key];
    if (
      (key === "child" || key === "run" || key === "url") &&
      others.length === 0 &&
      typeof name === "string"
    ) {
      return { [key]: name } as unknown as Address;
    }
  }
  throw new TypeError(
    `${path}.to is ${JSON.stringify(value)}; write "self", "internal", "parent", { child }, { run } or { url }`,
  );
}

function optional<Value>(source: unknown, compile: (source: unknown) => Value): Value | undefined {
  return source === undefined ? undefined : compile(source);
}
