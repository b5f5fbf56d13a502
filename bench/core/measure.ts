/** One contestant on one workload in a process of its own: prints events per second as JSON. */
import { freezeStates } from "holdfast";
import { holdfast } from "./holdfast.ts";
import { table } from "./table.ts";
import { type Contestant, check, type Workload, workloads } from "./workload.ts";
import { xstateActor, xstatePure } from "./xstate.ts";

export const contestants: Readonly<Record<string, (workload: Workload) => Contestant>> = {
  "lookup table": table,
  holdfast: (workload) => {
    freezeStates(false);
    return holdfast(workload);
  },
  "holdfast, frozen": holdfast,
  "xstate actor.send": xstateActor,
  "xstate transition": xstatePure,
};

/** Whole cycles for at least so long, in batches, so that the clock is read rarely. */
function run(contestant: Contestant, { cycle }: Workload, forMs: number): { cycles: number; ms: number } {
  const batch = 200;
  let cycles = 0;
  const from = performance.now();
  let ms = 0;
  while (ms < forMs) {
    for (let turn = 0; turn < batch; turn++) for (const event of cycle) contestant.take(event);
    cycles += batch;
    ms = performance.now() - from;
  }
  return { cycles, ms };
}

if (import.meta.main) {
  const [name = "", workloadName, ms = "400"] = process.argv.slice(2);
  const workload = workloads.find((one) => one.name === workloadName) as Workload;
  const contestant = (contestants[name] as (typeof contestants)[string])(workload);
  const warm = run(contestant, workload, Number(ms) / 2);
  const { cycles, ms: took } = run(contestant, workload, Number(ms));
  check(contestant, workload, warm.cycles + cycles);
  console.log(JSON.stringify({ perSecond: (cycles * workload.cycle.length * 1000) / took }));
}
