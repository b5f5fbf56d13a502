/** How a row of a run says whose it is: by the run's number alone, as the first versions had it, or with its shard as well. */

export interface Place {
  /** How a function that places rows comes about. */
  readonly create: string;
  /** The columns, and what goes into them for a run given by an SQL expression. */
  readonly columns: string;
  of(run: string): string;
  /** What a key has at its end. */
  readonly keyEnd: string;
}

export const unsharded: Place = {
  create: "CREATE FUNCTION",
  columns: "run_id",
  of: (run) => run,
  keyEnd: "",
};

/** The shard always comes from the run's own row: nobody can put two entries at one checkpoint by naming another shard. */
export const sharded = (schema: string): Place => ({
  create: "CREATE OR REPLACE FUNCTION",
  columns: "shard, run_id",
  of: (run) => `(SELECT r.shard FROM ${schema}.run r WHERE r.id = ${run}), ${run}`,
  keyEnd: ", shard",
});

/**
 * What a function is set to whose plans must not depend on how large tables were when they were made: it looks everything
 * up through indexes, and plans once for a connection whatever it is called with.
 */
export const steadyPlans =
  "SET plan_cache_mode TO force_generic_plan SET enable_seqscan TO off SET enable_bitmapscan TO off";
