/** Graphs of nodes and edges, as the plain definitions they become. */
import { describe, expect, test } from "vitest";
import { loadMachine, writeJson } from "../data/index.ts";
import { settledEvent } from "./event.ts";
import { end, type GraphDefinition, graph } from "./graph.ts";
import type { Json, JsonObject } from "./json.ts";
import { defineMachine, type Machine } from "./machine.ts";
import type { State } from "./state.ts";
import { start, step } from "./step.ts";

const at = 1_000;

/** Runs a graph to its end: each activity gives what is next in its list, an error throws. */
function run(machine: Machine, answers: Record<string, Json[]>): { state: State; calls: string[] } {
  const calls: string[] = [];
  let { state, effects } = start(machine, { goal: "x" }, { at });
  for (let round = 0; round < 20; round++) {
    const call = effects.find((one) => one.type === "activity");
    if (call === undefined) break;
    calls.push(`${call.activity} ${JSON.stringify(call.input)}`);
    const answer = answers[call.activity]?.shift() ?? null;
    const failed = typeof answer === "object" && answer !== null && "error" in answer;
    ({ state, effects } = step(
      machine,
      state,
      settledEvent(call, failed ? { error: (answer as JsonObject).error as Json } : { output: answer }),
      { at },
    ));
  }
  return { state, calls };
}

const research: GraphDefinition = {
  id: "research",
  version: 2,
  context: { notes: [], rounds: 0 },
  start: "search",
  nodes: {
    search: {
      activity: "search",
      input: { round: { cel: "context.rounds" } },
      update: { notes: { cel: "context.notes + [event.data]" } },
      retry: { attempts: 3 },
      timeout: "10s",
    },
    count: { update: { rounds: { cel: "context.rounds + 1" } } },
    write: { activity: "write", next: ["search", end], once: true },
    pass: {},
  },
  edges: [
    { from: "search", to: "count" },
    { from: "count", to: "search", when: { cel: "context.rounds < 2" } },
    { from: "count", to: "write" },
    { from: "write", to: "pass" },
  ],
};

test("A5: a graph goes from node to node by its edges, on the context as each node left it", () => {
  const { state, calls } = run(defineMachine(graph(research)), { search: ["a", "b"], write: ["text"] });
  expect(calls).toEqual(['search {"round":0}', 'search {"round":1}', 'write {"notes":["a","b"],"rounds":2}']);
  expect(state).toMatchObject({
    status: "done",
    configuration: ["end"],
    output: { notes: ["a", "b"], rounds: 2 },
  });
});

test("A5: a node's result may name the next node", () => {
  const { state, calls } = run(defineMachine(graph(research)), {
    search: ["a", "b", "c"],
    write: [{ next: "search" }, { next: end }],
  });
  expect(calls).toHaveLength(5);
  expect(state).toMatchObject({ status: "done", context: { notes: ["a", "b", "c"] } });
});

test("A5: what an activity gives need not be an object, and a name that was not announced is ignored", () => {
  for (const answer of [null, "x", 3, ["search"], { next: "count" }])
    expect(run(defineMachine(graph(research)), { search: ["a", "b"], write: [answer] }).state.status).toBe(
      "done",
    );
});

test("A5: an activity that gave up ends the graph as failed, with the error", () => {
  const { state } = run(defineMachine(graph(research)), { search: [{ error: { message: "no net" } }] });
  expect(state).toMatchObject({ configuration: ["failed"], output: { error: { message: "no net" } } });
});

test("A5: a graph without functions is data like any other machine", () => {
  const machine = loadMachine(writeJson(defineMachine(graph(research))));
  expect(run(machine, { search: ["a", "b"], write: ["text"] }).state.status).toBe("done");
});

test("A5: conditions, updates, inputs and the first context may be functions", () => {
  interface Context {
    readonly goal: string;
    readonly tries: number;
  }
  const definition = graph<Context>({
    id: "g",
    context: ({ input }) => ({ goal: (input as { goal: string }).goal, tries: 0 }),
    start: "try",
    nodes: {
      try: {
        activity: "attempt",
        input: ({ context }) => context.goal,
        update: (draft, { event }) => Object.assign(draft, { tries: draft.tries + event.data }),
      },
    },
    edges: [
      { from: "try", to: "try", when: ({ context }) => context.tries < 3 },
      { from: "try", to: end },
    ],
    output: ({ context }) => context.tries,
  });
  expect(run(defineMachine(definition) as unknown as Machine, { attempt: [1, 1, 1] })).toMatchObject({
    calls: ['attempt "x"', 'attempt "x"', 'attempt "x"'],
    state: { output: 3 },
  });
});

describe("problems of a graph are all listed", () => {
  const problemsOf = (more: object) => {
    try {
      graph({ ...research, ...more } as GraphDefinition);
    } catch (error) {
      const { code, details } = error as { code: string; details: { problems: { path: string }[] } };
      return [code, ...details.problems.map(({ path }) => path)];
    }
    return [];
  };

  test.each<[object, string[]]>([
    [{}, []],
    [{ start: "serch" }, ["start"]],
    [{ start: "elsewhere entirely" }, ["start"]],
    [{ nodes: 3 }, ["nodes"]],
    [{ edges: undefined }, ["nodes"]],
    [{ edges: [{ from: "nobody", to: "nowhere" }] }, ["edges[0].from", "edges[0].to"]],
    [{ edges: [{ from: "search", to: "count", when: { cel: "true" } }] }, ["nodes.search"]],
    [
      {
        edges: [
          { from: "search", to: "count" },
          { from: "search", to: end },
        ],
      },
      ["nodes.search"],
    ],
    [{ nodes: { ...research.nodes, failed: {}, x: { next: ["y"] } } }, ["nodes.failed", "nodes.x.next[0]"]],
  ])("A5: %j", (more, paths) => {
    expect(problemsOf(more)).toEqual(paths.length === 0 ? [] : ["MACHINE_INVALID", ...paths]);
  });
});

test("A5: the least a graph needs is a node", () => {
  const definition = graph({ id: "g", nodes: { only: {} }, edges: [], start: "only" });
  expect(run(defineMachine(definition), {}).state).toMatchObject({ status: "done", output: {} });
});
