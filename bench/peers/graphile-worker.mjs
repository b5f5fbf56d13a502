/** What the bench needs of graphile-worker, from the packages installed in this folder. */
export { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
