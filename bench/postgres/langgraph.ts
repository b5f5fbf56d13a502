/**
 * LangGraph with its PostgresSaver and `durability: "sync"`. A step is a superstep: one node that runs again and again
 * inside one `invoke`, which is the cheapest way it has.
 */
import {
  Annotation,
  Command,
  END,
  type Graph,
  type GraphConfig,
  START,
  StateGraph,
} from "../peers/langgraph.mjs";
import { PostgresSaver } from "../peers/langgraph-postgres.mjs";
import { type Contestant, type Lap, type State, stateAfter } from "./workload.ts";

interface Work {
  readonly steps: number;
  readonly lap: Lap;
  taken: number;
  since: number;
}

const configOf = (run: string): GraphConfig => ({
  configurable: { thread_id: run },
  durability: "sync",
  recursionLimit: 1_000_000,
});

export const langgraph: Contestant = {
  async open({ url }) {
    const saver = PostgresSaver.fromConnString(url);
    await saver.setup();
    const works = new Map<string, Work>();
    const workOf = ({ configurable }: GraphConfig) => works.get(configurable.thread_id) as Work;
    const tell = (work: Work): void => {
      const now = performance.now();
      if (work.taken > 0) work.lap(now - work.since);
      work.since = now;
    };
    const graph: Graph<State> = new StateGraph<State>(
      Annotation.Root({ n: Annotation<number>(), pad: Annotation<string>() }),
    )
      .addNode("step", ({ n }, config) => {
        const work = workOf(config);
        tell(work);
        work.taken++;
        return { n: n + 1 };
      })
      .addEdge(START, "step")
      .addConditionalEdges(
        "step",
        (_, config) => (workOf(config).taken < workOf(config).steps ? "step" : END),
        ["step", END],
      )
      .compile({ checkpointer: saver });
    const begun = new Set<string>();
    return {
      begin: async (runs) => {
        await Promise.all(
          runs.map((run) => {
            begun.add(run);
            return graph.invoke(stateAfter(0), { ...configOf(run), interruptBefore: ["step"] });
          }),
        );
      },
      async take(run, steps, lap) {
        const work = { steps, lap, taken: 0, since: performance.now() };
        works.set(run, work);
        await graph.invoke(begun.delete(run) ? null : new Command({ goto: "step" }), configOf(run));
        tell(work);
      },
      read: (runs) => Promise.all(runs.map(async (run) => (await graph.getState(configOf(run))).values.n)),
      close: () => saver.end(),
    };
  },
};
