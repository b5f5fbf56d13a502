/** Holdfast on PostgreSQL, as users run it: each event is acknowledged when its step is durable. */
import { createRuntime, defineMachine, freezeStates } from "holdfast";
import { postgres } from "holdfast/postgres";
import { type Contestant, eachAfterTheOther, type State, stateAfter } from "./workload.ts";

freezeStates(false);

/** A run that counts, with about 1 KB of state. */
export const counter = defineMachine<{ n: number; pad: string }>({
  id: "counter",
  start: () => ({ ...stateAfter(0) }),
  initial: "open",
  states: { open: { on: { add: { update: (draft) => void draft.n++ } } } },
});

export const holdfast: Contestant = {
  async open({ url }) {
    const runtime = await createRuntime({
      store: postgres(url),
      machines: [{ machine: counter as never }],
    });
    return {
      begin: async (runs) => void (await Promise.all(runs.map((run) => runtime.start(counter, { id: run })))),
      async take(run, steps, lap) {
        const counting = await runtime.run(run);
        await eachAfterTheOther(steps, lap, () => counting.send("add"));
      },
      read: (runs) =>
        Promise.all(
          runs.map(async (run) => {
            const { context } = await (await runtime.run(run)).state();
            return (context as unknown as State).n;
          }),
        ),
      close: () => runtime.close(),
    };
  },
};
