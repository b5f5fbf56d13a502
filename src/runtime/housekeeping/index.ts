/** Keeping house in a store: what goes, what stays, copies to come back from, and what to do about damage. */
export {
  type Backup,
  type BackupOptions,
  backup,
  type Keep,
  listBackups,
  type RestoreOptions,
  restore,
} from "./backup.ts";
export { type Expired, type ExpiryOptions, type ExpiryRule, expire } from "./expire.ts";
export type { Finding } from "./finding.ts";
export { type Held, type Hold, hold, readHolds, release } from "./hold.ts";
export { Housekeeper, type HousekeepingPlan, type HousekeepingWorld, type Tidied } from "./housekeeper.ts";
export type { MendedRun } from "./mend-run.ts";
export { type Pruned, type PruneOptions, type PruneRule, prune } from "./prune.ts";
export { type Repair, type RepairOptions, repair } from "./repair.ts";
export {
  type KeptReason,
  type Retained,
  type RetentionOptions,
  type RetentionRule,
  retain,
} from "./retention.ts";
export { scrub } from "./scrub.ts";
export { type SweepOptions, sweep } from "./sweep.ts";
export { type Verification, verify } from "./verify.ts";
