/** DBOS: a run is a workflow, a step is a `runStep` of it that returns the state. */
import pg from "pg";
import { DBOS } from "../peers/dbos.mjs";
import { type Contestant, eachAfterTheOther, type Lap, stateAfter } from "./workload.ts";

const laps = new Map<string, Lap>();

const counting = DBOS.registerWorkflow(
  async (run: string, steps: number): Promise<number> => {
    let state = stateAfter(0);
    await eachAfterTheOther(steps, laps.get(run) ?? (() => {}), async () => {
      state = await DBOS.runStep(async () => stateAfter(state.n + 1), { name: "add" });
    });
    return state.n;
  },
  { name: "counting" },
);

const silent = { info() {}, debug() {}, warn() {}, error: console.error };

export const dbos: Contestant = {
  async open({ url }) {
    DBOS.setConfig({ name: "bench", systemDatabaseUrl: url, logger: silent });
    await DBOS.launch();
    return {
      begin: async () => {},
      async take(run, steps, lap) {
        laps.set(run, lap);
        const handle = await DBOS.startWorkflow(counting, { workflowID: run })(run, steps);
        await handle.getResult();
      },
      async read(runs) {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        const { rows } = await client.query(`SELECT s.workflow_uuid AS run, count(*)::int AS count
          FROM dbos.workflow_status s JOIN dbos.operation_outputs o USING (workflow_uuid)
          WHERE s.status = 'SUCCESS' GROUP BY 1`);
        await client.end();
        const counts = new Map(rows.map(({ run, count }) => [run, count as number]));
        return runs.map((run) => counts.get(run) ?? 0);
      },
      close: () => DBOS.shutdown(),
    };
  },
};
