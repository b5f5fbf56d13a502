/**
 * Graphs: for those who think in nodes and edges rather than in states. A node does something, its edges say where to go
 * next, and the result is a plain definition: the same states, checks and runs as of any other machine.
 */
import { HoldfastError } from "../errors.ts";
import type { MachineDefinition, Recipe } from "./definition.ts";
import type { Event } from "./event.ts";
import { celModel } from "./expression/model.ts";
import { isObject, type Json, type JsonObject, showValue } from "./json.ts";
import { nearest } from "./nearest.ts";
import type { Problem } from "./problem.ts";
import type { Scope } from "./scope.ts";

/** Where a graph ends: as an edge's `to`. */
export const end = "end";
/** Where a graph ends whose activity gave up. */
const failed = "failed";

/** What a node's work came to: `data` is what its activity gave. */
// biome-ignore lint/suspicious/noExplicitAny: what an activity gives is the author's to know.
export type GraphEvent = Event & { readonly data: any };

export interface GraphNode<Context = JsonObject> {
  /** The activity to run, by name; a node without one only updates. */
  readonly activity?: string;
  /** What the activity is given: a function, or JSON with `{ cel }` in it; the context unless given. */
  readonly input?: Json | ((scope: Scope<Context>) => Json);
  /** What to change: once the activity is done, with what it gave as `event.data`, or on the way through. */
  readonly update?: Recipe<Context, GraphEvent> | JsonObject;
  /** Nodes that the activity may choose to go to next, by giving an object with the name as its field `next`. */
  readonly next?: readonly string[];
  /** How often and when to try again, how long it may take, whether it may happen once only: as of an invocation. */
  readonly retry?: Json;
  readonly timeout?: number | string;
  readonly once?: boolean;
}

export interface GraphEdge<Context = JsonObject> {
  readonly from: string;
  readonly to: string;
  /** Taken if this holds of the context as the node left it. Edges of one node are looked at in order. */
  readonly when?: ((scope: Scope<Context>) => boolean) | { readonly cel: string };
}

export interface GraphDefinition<Context = JsonObject> {
  readonly id: string;
  readonly version?: number;
  /** The first context: a value, or a function of the input. */
  readonly context?: Context | ((scope: { readonly input: Json; readonly at: number }) => Context);
  readonly nodes: Readonly<Record<string, GraphNode<Context>>>;
  readonly edges: readonly GraphEdge<Context>[];
  /** The node to begin with. */
  readonly start: string;
  /** What the run ends with: a function, or JSON with `{ cel }` in it; the context unless given. */
  readonly output?: Json | ((scope: Scope<Context>) => Json);
}

/**
 * The definition of a graph; throws MACHINE_INVALID with every problem if it has any. A node becomes a state and an edge
 * a transition; `end` and `failed` are added. A node that no edge leads on from ends the graph.
 */
export function graph<Context = JsonObject>(given: GraphDefinition<Context>): MachineDefinition<Context> {
  const problems = problemsOf(given as unknown as GraphDefinition);
  if (problems.length > 0) {
    const list = problems.map(({ path, problem }) => `\n  ${path} ${problem}`).join("");
    throw new HoldfastError("MACHINE_INVALID", `The graph has problems:${list}`, { details: { problems } });
  }
  const { id, version, context, nodes, edges, start, output } = given as unknown as GraphDefinition;
  const states = Object.entries(nodes).map(([name, node]) => [
    name,
    stateOf(
      node,
      edges.filter(({ from }) => from === name),
    ),
  ]);
  const definition = {
    id,
    ...(version === undefined ? {} : { version }),
    ...(context === undefined ? {} : { start: context }),
    initial: start,
    states: {
      ...Object.fromEntries(states),
      [end]: { type: "final", output: output ?? { cel: "context" } },
      [failed]: { type: "final", output: { error: { cel: "event.?data.orValue(null)" } } },
    },
    model: celModel(),
  };
  return definition as unknown as MachineDefinition<Context>;
}

function stateOf(node: GraphNode, edges: readonly GraphEdge[]): object {
  const ways = edges.map(({ to, when }) => ({ target: to, ...(when === undefined ? {} : { guard: when }) }));
  const route = { always: ways.length === 0 ? [{ target: end }] : ways };
  const { activity, input, update, next = [], ...options } = node;
  const work = update === undefined ? {} : { update };
  if (activity === undefined) return update === undefined ? route : { entry: [work], ...route };
  const chosen = next.map((name) => ({
    target: name,
    guard: { cel: `event.?data.?next.orValue(null) == ${JSON.stringify(name)}` },
    ...work,
  }));
  const invoke = {
    activity,
    input: input ?? { cel: "context" },
    ...options,
    onDone: [...chosen, { target: "route", ...work }],
    onError: failed,
    ...(options.once === true ? { onUnknown: failed } : {}),
  };
  return { initial: "work", states: { work: { invoke }, route } };
}

function problemsOf({ nodes, edges, start }: GraphDefinition): Problem[] {
  const problems: Problem[] = [];
  if (!isObject(nodes) || !Array.isArray(edges))
    return [{ path: "nodes", problem: "and edges are missing; a graph is { id, nodes, edges, start }" }];
  const names = Object.keys(nodes);
  const known = (path: string, name: string, all: readonly string[]) => {
    if (all.includes(name)) return;
    const near = nearest(String(name), all);
    problems.push({
      path,
      problem: `names no node: ${showValue(name)}; ${near === undefined ? `there are ${all.join(", ")}` : `did you mean ${near}?`}`,
    });
  };
  known("start", start, names);
  for (const reserved of [end, failed, "work", "route"])
    if (names.includes(reserved))
      problems.push({
        path: `nodes.${reserved}`,
        problem: "is a name that graphs use themselves; take another",
      });
  for (const [index, { from, to }] of edges.entries()) {
    known(`edges[${index}].from`, from, names);
    known(`edges[${index}].to`, to, [...names, end]);
  }
  for (const [name, { next = [] }] of Object.entries(nodes)) {
    for (const [index, one] of next.entries()) known(`nodes.${name}.next[${index}]`, one, [...names, end]);
    const ways = edges.filter(({ from }) => from === name);
    const open = ways.findIndex(({ when }) => when === undefined);
    if (ways.length > 0 && open < 0)
      problems.push({
        path: `nodes.${name}`,
        problem: "has edges with `when` only; add a last one without, for when none of them holds",
      });
    if (open >= 0 && open < ways.length - 1)
      problems.push({
        path: `nodes.${name}`,
        problem: "has edges after one without `when`, which is always taken",
      });
  }
  return problems;
}
