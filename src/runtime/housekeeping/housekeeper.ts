/**
 * The housekeeper of a runtime: while that owns its store, rules are applied at their times and backups made at theirs, one
 * thing after the other, and what was removed is deleted in between steps. It keeps nothing of its own: after a restart it
 * looks at what there is, and makes up for a backup whose time has passed.
 */
import type { RunName } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { Alarm } from "../alarm.ts";
import type { Clock } from "../clock.ts";
import { systemTenant } from "../name.ts";
import { lastTime, nextTime } from "../platform/calendar.ts";
import type { Seal } from "../seal.ts";
import { type BackupOptions, backup, listBackups } from "./backup.ts";
import { removeDocuments } from "./documents.ts";
import { type Canceller, type Expired, type ExpiryRule, expire } from "./expire.ts";
import { type Pruned, type PruneRule, prune } from "./prune.ts";
import { type Retained, type RetentionRule, retain } from "./retention.ts";
import { ruleMs, type Tenants } from "./selection.ts";
import { sweep } from "./sweep.ts";

/** What is to be done, and when. */
export interface HousekeepingPlan extends Tenants {
  /** How often rules are applied: an hour, unless given. */
  readonly every?: number | string;
  readonly expire?: readonly ExpiryRule[];
  readonly retain?: readonly RetentionRule[];
  readonly prune?: readonly PruneRule[];
  readonly backup?: Pick<BackupOptions, "directory" | "open" | "keep"> & {
    /** When: a cron pattern, and UTC unless a time zone is given. */
    readonly cron: string;
    readonly timezone?: string;
  };
}

/** Under this name problems of the housekeeper are told. */
export const houseName: RunName = { tenant: systemTenant, run: "housekeeping" };

/** What the housekeeper needs of its runtime. */
export interface HousekeepingWorld {
  readonly store: Store;
  readonly clock: Clock;
  readonly seal: Seal;
  readonly epoch: () => number;
  readonly runtime: Canceller;
  /** Whether it is for this process to keep house: of those who share a store one does. */
  readonly isOurs?: () => boolean;
  /** Told of what did not succeed; it is tried again at its next time. */
  problem(error: unknown): void;
}

export type Tidied = Partial<Expired & Retained & Pruned> & { readonly swept: number };

export class Housekeeper {
  readonly #world: HousekeepingWorld;
  readonly #plan: HousekeepingPlan;
  readonly #tidying: Alarm;
  readonly #copying: Alarm;
  readonly #stop = new AbortController();
  #work: Promise<unknown> = Promise.resolve();

  /** Throws RULE_INVALID or SCHEDULE_INVALID for a plan that cannot be kept. */
  constructor(world: HousekeepingWorld, plan: HousekeepingPlan) {
    this.#world = world;
    this.#plan = plan;
    const guard = (work: () => Promise<unknown>) => () =>
      void this.#inTurn(work).catch((error: unknown) => this.#stop.signal.aborted || world.problem(error));
    this.#tidying = new Alarm(
      world.clock,
      guard(() => this.#tidyAndSet()),
    );
    this.#copying = new Alarm(
      world.clock,
      guard(() => this.#copyAndSet()),
    );
    this.#intervalMs();
    if (plan.backup !== undefined) this.#nextCopy(world.clock.now());
  }

  start(): void {
    const { expire: expiring, retain: retaining, prune: pruning, backup: copies } = this.#plan;
    const now = this.#world.clock.now();
    if ([expiring, retaining, pruning].some((rules) => rules !== undefined && rules.length > 0))
      this.#tidying.set(now);
    if (copies === undefined) return;
    const last = listBackups(copies.directory).at(-1)?.at ?? 0;
    const due = lastTime(this.#calendar(), now);
    if (due !== undefined && last < due) this.#copying.set(now);
    else this.#setCopy();
  }

  /** Does no more; resolves when what is under way is over. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#tidying.stop();
    this.#copying.stop();
    await this.#work.catch(() => {});
  }

  /** Applies all rules now. */
  tidy(): Promise<Tidied> {
    return this.#inTurn(() => this.#tidy());
  }

  #inTurn<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const turn = this.#work.catch(() => {}).then(work);
    this.#work = turn.catch(() => {});
    return turn;
  }

  async #tidy(): Promise<Tidied> {
    const { store, clock, epoch, runtime } = this.#world;
    const { expire: expiring = [], retain: retaining = [], prune: pruning = [], tenants } = this.#plan;
    const scope = { store, clock, epoch, ...(tenants === undefined ? {} : { tenants }) };
    const expired = expiring.length === 0 ? {} : await expire({ ...scope, runtime, rules: expiring });
    // Before the runs that they name are gone, after which nobody can tell.
    await removeDocuments({ store, clock });
    const retained = retaining.length === 0 ? {} : await retain({ ...scope, rules: retaining });
    const pruned = pruning.length === 0 ? {} : await prune({ ...scope, rules: pruning });
    const swept = await sweep({ store, clock, signal: this.#stop.signal });
    return { ...expired, ...pruned, ...retained, swept };
  }

  async #tidyAndSet(): Promise<void> {
    try {
      if (this.#world.isOurs?.() ?? true) await this.#tidy();
    } finally {
      if (!this.#stop.signal.aborted) this.#tidying.set(this.#world.clock.now() + this.#intervalMs());
    }
  }

  #intervalMs(): number {
    return ruleMs("every", this.#plan.every ?? "1h");
  }

  async #copyAndSet(): Promise<void> {
    try {
      const { store, clock, seal } = this.#world;
      const { directory, open, keep } = this.#plan.backup as NonNullable<HousekeepingPlan["backup"]>;
      if (this.#world.isOurs?.() ?? true)
        await backup({ store, clock, seal, directory, open, ...(keep === undefined ? {} : { keep }) });
    } finally {
      if (!this.#stop.signal.aborted) this.#setCopy();
    }
  }

  #setCopy(): void {
    const next = this.#nextCopy(this.#world.clock.now());
    if (next !== undefined) this.#copying.set(next);
  }

  #nextCopy(after: number): number | undefined {
    return nextTime(this.#calendar(), after);
  }

  #calendar(): { cron: string; timezone: string } {
    const { cron = "", timezone = "UTC" } = this.#plan.backup ?? {};
    return { cron, timezone };
  }
}
