/** From stored JSON back to a state, with every doubt removed before a step relies on it. */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { admitState } from "./admit.ts";
import { type Chart, isLeaf, type StateNode } from "./chart.ts";
import { isLegal } from "./configuration.ts";
import type { EventShape } from "./event.ts";
import { freezeDeep, isObject, isSound, type Json, toJson } from "./json.ts";
import type { Machine } from "./machine.ts";
import type { State, Timer } from "./state.ts";
import { blankState } from "./work.ts";

/** A state wraps contexts and events, which have the whole depth for themselves, in a few levels of its own. */
const depthMax = limits.jsonDepthMax + 8;

/** The state that was stored; throws STATE_INVALID, saying what is wrong, if this machine cannot have made it. */
export function restore<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  stored: unknown,
): State<Context> {
  return admitted(machine, toJson(stored, [], "state", undefined, depthMax) as unknown as State);
}

/** The same for a value that was made by parsing, and by patches that were: there is less to doubt. */
export function revive<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  parsed: Json,
): State<Context> {
  return isSound(parsed, depthMax) ? admitted(machine, parsed as unknown as State) : restore(machine, parsed);
}

function admitted<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  state: State,
): State<Context> {
  const problem = problemOf(machine.chart, state);
  if (problem !== undefined) {
    throw new HoldfastError(
      "STATE_INVALID",
      `What was stored is no state of the machine ${JSON.stringify(machine.id)}: ${problem}`,
    );
  }
  const { paths } = admitState(machine, state);
  return freezeDeep(withSharedParts(state, machine.chart, paths)) as unknown as State<Context>;
}

const mostlyEmpty = ["history", "timers", "activities", "children", "deferred"] as const;

/** What a state has like every other one of its machine is the same object: thousands are in memory at once. */
function withSharedParts(state: State, chart: Chart, configuration: State["configuration"]): State {
  const blank = blankState(chart);
  const shared: Record<string, unknown> = { ...state, machine: chart.id, configuration };
  for (const part of mostlyEmpty) if (Object.keys(state[part]).length === 0) shared[part] = blank[part];
  return shared as unknown as State;
}

const lists = ["configuration", "timers", "activities", "children", "deferred"] as const;

function problemOf(chart: Chart, state: State): string | undefined {
  if (!isObject(state)) return "it is not an object";
  if (!["active", "done", "cancelled", "failed"].includes(state.status))
    return `its status is ${JSON.stringify(state.status)}`;
  if (state.status === "failed" ? !isObject(state.reason) : state.reason !== undefined)
    return `its reason is ${JSON.stringify(state.reason)}, and it is ${state.status}`;
  if (!Number.isSafeInteger(state.seq) || state.seq < 1) return `its seq is ${JSON.stringify(state.seq)}`;
  if (!isObject(state.context)) return "its context is not an object";
  if (!isObject(state.history)) return "its history is not an object";
  for (const key of lists) if (!Array.isArray(state[key])) return `its ${key} is not a list`;
  return historyProblem(chart, state) ?? pendingProblem(chart, state);
}

function historyProblem(chart: Chart, { history }: State): string | undefined {
  for (const [path, states] of Object.entries(history)) {
    const node = chart.byPath.get(path);
    if (node?.kind !== "history")
      return `it remembers a history ${JSON.stringify(path)}, which the machine does not have`;
    if (!Array.isArray(states) || !isMemory(chart, node, states))
      return `the history ${JSON.stringify(path)} remembers what cannot have been`;
  }
  return undefined;
}

/** Whether a history can have these paths: the leaves below its parent, or, if it is shallow, the children. */
export function isMemory(chart: Chart, history: StateNode, paths: readonly string[]): boolean {
  const parent = history.parent as StateNode;
  const nodes = paths.map((path) => chart.byPath.get(path)).filter((node) => node !== undefined);
  if (nodes.length < paths.length) return false;
  if (history.deep) return nodes.every(isLeaf) && isLegal(parent, nodes);
  const children = parent.kind === "parallel" ? parent.children : nodes.slice(0, 1);
  return (
    children.length > 0 && isEqual(children, nodes) && nodes.every((node) => parent.children.includes(node))
  );
}

function isEqual(some: readonly StateNode[], others: readonly StateNode[]): boolean {
  return some.length === others.length && some.every((node, index) => node === others[index]);
}

function pendingProblem(chart: Chart, state: State): string | undefined {
  for (const timer of state.timers) {
    if (!isPending(timer) || !Number.isFinite(timer.due) || !isEvent(timer.event))
      return "it has a malformed timer";
    if (!isResumable(timer)) return `its timer ${JSON.stringify(timer.key)} cannot be resumed`;
  }
  const { compensations } = state;
  if (compensations !== undefined && !areCompensations(compensations))
    return "it has malformed compensations";
  if (state.maps !== undefined && !(isObject(state.maps) && Object.values(state.maps).every(isProgress)))
    return "it has a malformed map";
  for (const one of [...state.activities, ...state.children]) {
    if (!isPending(one) || typeof one.id !== "string") return "it has a malformed invocation";
    if (one.state !== undefined && chart.byPath.get(one.state)?.invokes[one.index as number] === undefined) {
      return `${JSON.stringify(one.state)} has no invocation like ${JSON.stringify(one.id)}`;
    }
  }
  return state.deferred.every(isEvent) ? undefined : "it has a malformed deferred event";
}

/** Whether what outages do to a timer is known: a policy and what it needs, or none of it. */
function isResumable({ resume, since, ms }: Timer): boolean {
  if (resume === undefined) return since === undefined && ms === undefined;
  return (
    (resume === "remaining" || resume === "restart") &&
    Number.isFinite(since) &&
    Number.isFinite(ms) &&
    (ms as number) >= 0
  );
}

function areCompensations(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((one) => isPending(one) && typeof one.activity === "string")
  );
}

function isProgress(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { items, next, taken, results, failures, tolerate } = value;
  const counts = [next, tolerate, ...Object.values(isObject(taken) ? taken : { none: Number.NaN })];
  return [items, results, failures].every(Array.isArray) && counts.every(Number.isSafeInteger);
}

function isPending(value: { readonly key: unknown }): boolean {
  return isObject(value) && typeof value.key === "string";
}

function isEvent(value: unknown): boolean {
  return isObject(value) && typeof (value as { type?: unknown }).type === "string";
}
