/**
 * Maps: workers that go through a list, each taking the next item until none is left. The list, who has which item and
 * what came of them stand in the run's state, outside the context, so that it works the same in every data model.
 *
 * The parts are what the `map` shorthand expands to: an action `{ map: … }` that begins the list, settles an item or ends
 * the list; a guard `{ item: … }` that asks whether a worker has an item; and `item` of an invocation, which brings the
 * item to the expressions of its input as `event.data`.
 *
 * M1. An item is given to one worker, once. Results stand in the order of the items, whoever was first.
 * M2. When the last item is settled, `done.map.<name>` is raised; when more have failed than is tolerated, or there was no
 *     list, `error.map.<name>`. Both carry `{ results, failures }`, and nothing is left in the state.
 */
import type { Code, Compute, Condition, StateNode, StepScope } from "./chart.ts";
import type { Compiler, Parts } from "./compiler.ts";
import { describeError } from "./describe-error.ts";
import { doneMapType, type Event, errorMapType, itemType, settlesWell } from "./event.ts";
import { freeze, freezeDeep, isObject, type Json, type JsonObject } from "./json.ts";
import { inside, show } from "./problem.ts";
import { isName, partsAt } from "./shape.ts";
import type { MapItem } from "./shorthand/definition.ts";
import type { MapProgress } from "./state.ts";
import { jsonOf } from "./value.ts";

/** What begins a map: over which list, for how many workers, and what becomes of it. */
interface Begin {
  readonly name: string;
  readonly workers: number;
  /** How many items may fail: a number, or a share such as `20%`. */
  readonly tolerate: number | string;
  readonly collect: MapProgress["collect"];
}

/** The action that begins a list, settles a worker's item, or ends the list. */
export function compileMapAction(compiler: Compiler, owner: StateNode, source: unknown, path: string): Code {
  const parts = partsAt(compiler, source, "map", path);
  const { begin, settle, end, worker } = parts;
  const name = begin ?? settle ?? end;
  if (!isName(name)) {
    compiler.problem(path, "needs a name to begin, settle or end");
    return () => {};
  }
  if (end !== undefined) return (scope) => put(scope, name, undefined);
  if (settle !== undefined) {
    const number = workerAt(compiler, worker, inside(path, "worker"));
    return (scope) => settleItem(scope, owner, name, number);
  }
  const { over, workers, tolerate = 0, collect } = parts;
  const list = listAt(compiler, over, inside(path, "over"));
  const count = workerAt(compiler, workers, inside(path, "workers"));
  if (!isTolerance(tolerate))
    compiler.problem(inside(path, "tolerate"), `is ${show(tolerate)}`, toleranceFix);
  checkCollect(compiler, collect, inside(path, "collect"));
  if (!compiler.vocabulary.beginMap(name))
    compiler.problem(path, `begins a map that another one begins: ${show(name)}`);
  const given = {
    name,
    workers: count,
    tolerate: tolerate as Begin["tolerate"],
    collect: collect as Begin["collect"],
  };
  return (scope) => beginList(scope, owner, given, list);
}

/** The list: written out, computed, or a field of the context by its name. */
function listAt(compiler: Compiler, over: unknown, path: string): Compute<Json | undefined> {
  if (typeof over !== "string") return jsonOf(compiler, over, path);
  if (isField(over)) checkKeepsContext(compiler, path, "compute the list");
  else compiler.problem(path, `is ${show(over)}`, "name a field of the context");
  return ({ context }) => (Object.hasOwn(context, over) ? context[over] : undefined);
}

function workerAt(compiler: Compiler, given: unknown, path: string): number {
  if (!Number.isSafeInteger(given) || (given as number) < 1)
    compiler.problem(path, `is ${show(given)}`, "write a whole number above zero");
  return given as number;
}

export const toleranceFix = 'write how many may fail, or a share such as "20%"';

/** Whether a value says how many items of a list may fail. */
export function isTolerance(value: unknown): boolean {
  if (typeof value === "string")
    return /^\d{1,3}(\.\d{1,9})?%$/.test(value) && Number.parseFloat(value) <= 100;
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Where in the context results and failures go. A model that keeps the context to itself must be asked for it. */
export function checkCollect(
  compiler: Pick<Compiler, "problem" | "model">,
  given: unknown,
  path: string,
): void {
  if (given === undefined) return;
  const fields = (isObject(given) ? given : { results: given }) as Parts;
  const { results, failures, ...others } = fields;
  const named = [results, failures].every((field) => field === undefined || isField(field));
  if (!named || Object.keys(others).length > 0)
    compiler.problem(path, `is ${show(given)}`, "name a field of the context, or { results, failures }");
  checkKeepsContext(compiler, path, "use event.data in onDone");
}

const isField = (value: unknown): value is string => isName(value) && value !== "__proto__";

/** A model that keeps the context to itself has no fields that could be named. */
function checkKeepsContext(compiler: Pick<Compiler, "problem" | "model">, path: string, fix: string): void {
  if (compiler.model.save === undefined) return;
  compiler.problem(path, `cannot be used with the data model ${show(compiler.model.name)}`, fix);
}

/** The guard that asks whether a worker has an item to work on. */
export function compileItemGuard(compiler: Compiler, source: unknown, path: string): Condition {
  const { of, worker } = itemAt(compiler, source, path);
  return (scope) => scope.maps?.[of]?.taken[worker] !== undefined;
}

/** The event that brings a worker's item to the input of its invocation. */
export function itemOf(compiler: Compiler, source: unknown, path: string): Compute<Event> | undefined {
  if (source === undefined) return undefined;
  const { of, worker, as } = itemAt(compiler, source, path);
  return ({ maps }) => {
    const progress = maps?.[of];
    const index = progress?.taken[worker];
    if (progress === undefined || index === undefined)
      throw new TypeError(`Worker ${worker} of ${of} has no item`);
    const data = { [as]: progress.items[index] as Json, index };
    return freezeDeep({ type: itemType(of), kind: "platform", data });
  };
}

/** What an invocation is given if it does not say: the item itself. */
export function itemInput(source: unknown): Compute<Json | undefined> {
  const { as = "item" } = Object(source) as Partial<MapItem>;
  return ({ event: { data } }) => (data as JsonObject)[as];
}

function itemAt(
  compiler: Compiler,
  source: unknown,
  path: string,
): { of: string; worker: number; as: string } {
  const { of, worker, as = "item" } = partsAt(compiler, source, "item", path);
  if (!isName(of)) compiler.problem(inside(path, "of"), `is ${show(of)}`, "name the map");
  if (!isName(as) || as === "index" || as === "__proto__")
    compiler.problem(inside(path, "as"), `is ${show(as)}`, "write a name, and not index");
  return { of: String(of), worker: workerAt(compiler, worker, inside(path, "worker")), as: String(as) };
}

function beginList(scope: StepScope, owner: StateNode, begin: Begin, list: Compute<Json | undefined>): void {
  const { name, workers, tolerate, collect } = begin;
  let items: Json | undefined;
  try {
    items = list(scope);
    if (!Array.isArray(items)) throw new TypeError(`There is no list to map over, but ${show(items)}`);
  } catch (error) {
    put(scope, name, undefined);
    scope.announce({
      type: errorMapType(name),
      data: { results: [], failures: [], error: describeError(error) },
    });
    return;
  }
  const count = Math.min(workers, items.length);
  const share =
    typeof tolerate === "string" ? Math.floor((items.length * Number.parseFloat(tolerate)) / 100) : tolerate;
  const progress: MapProgress = {
    items,
    next: count,
    taken: Object.fromEntries(Array.from({ length: count }, (_, index) => [index + 1, index])),
    results: items.map(() => null),
    failures: [],
    tolerate: share,
    ...(collect === undefined ? {} : { collect }),
  };
  go(scope, owner, name, progress);
}

/** The worker's item is done or has failed, as the event under way says; it takes the next one, if there is one. */
function settleItem(scope: StepScope, owner: StateNode, name: string, worker: number): void {
  const progress = scope.maps?.[name];
  const index = progress?.taken[worker];
  if (progress === undefined || index === undefined) return;
  const { event } = scope;
  const { [worker]: _, ...others } = progress.taken;
  const { items, next, results, failures } = progress;
  const isLeft = next < items.length;
  const failure = { index, item: items[index] as Json, error: event.data ?? null };
  go(scope, owner, name, {
    ...progress,
    next: isLeft ? next + 1 : next,
    taken: isLeft ? { ...others, [worker]: next } : others,
    ...(settlesWell(event)
      ? { results: results.with(index, event.data ?? null) }
      : { failures: [...failures, failure] }),
  });
}

/** Keeps what there is now, and says so if that is the end. */
function go(scope: StepScope, owner: StateNode, name: string, progress: MapProgress): void {
  const { taken, results, failures, tolerate, collect } = progress;
  const failed = failures.length > tolerate;
  if (!failed && Object.keys(taken).length > 0) {
    put(scope, name, freezeDeep(progress));
    return;
  }
  put(scope, name, undefined);
  const inOrder = failures.toSorted((one, other) => one.index - other.index);
  const data = freezeDeep({ results, failures: inOrder });
  if (!failed && collect !== undefined) collectIn(scope, owner, collect, data);
  scope.announce({ type: failed ? errorMapType(name) : doneMapType(name), data });
}

function collectIn(
  scope: StepScope,
  owner: StateNode,
  collect: Exclude<MapProgress["collect"], undefined>,
  { results, failures }: JsonObject,
): void {
  const fields = typeof collect === "string" ? { results: collect } : collect;
  const before = scope.context;
  scope.context = freeze({
    ...before,
    ...(fields.results === undefined ? {} : { [fields.results]: results as Json }),
    ...(fields.failures === undefined ? {} : { [fields.failures]: failures as Json }),
  });
  scope.wrote(owner, before, scope.context);
}

function put(scope: StepScope, name: string, progress: MapProgress | undefined): void {
  const { [name]: _, ...others } = scope.maps ?? {};
  if (progress !== undefined) scope.maps = freeze({ ...others, [name]: progress });
  else scope.maps = Object.keys(others).length === 0 ? undefined : freeze(others);
}
