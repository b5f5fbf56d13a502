/**
 * Evolution: runs go from one version of their machine to another, each in a step of its own. What the way there would do
 * is known before anything is done, for one run or for all that are alive.
 */

import { describeError } from "../../core/describe-error.ts";
import { type Event, migrateEvent, sentBy } from "../../core/event.ts";
import { evolve } from "../../core/evolve/evolve.ts";
import type { EvolutionReport } from "../../core/evolve/report.ts";
import type { JsonObject } from "../../core/json.ts";
import { showProblem } from "../../core/problem.ts";
import { restore } from "../../core/restore.ts";
import type { State } from "../../core/state.ts";
import type { Step } from "../../core/step.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import type { RunHead, RunName } from "../../store/records.ts";
import type { Clock } from "../clock.ts";
import { type Delivery, type Handled, hasEnded, type LiveRun } from "../live/live-run.ts";
import type { Past } from "../live/past.ts";
import { type Actor, checkActor, keyOf } from "../name.ts";
import { checkNumber, checkOptions, type Names } from "../options.ts";
import type { Hop, Registry } from "../registry.ts";
import { Told } from "../told.ts";

export interface EvolutionWorld {
  readonly past: Past;
  readonly registry: Registry;
  readonly clock: Clock;
  /** The run at its newest checkpoint, nothing of it waiting for a commit. */
  settled(name: RunName): Promise<LiveRun>;
  deliver(run: LiveRun, event: Event, take: NonNullable<Delivery["take"]>): Promise<Handled>;
  /** The heads of the runs of a machine that have not ended, whoever's they are. */
  alive(machine: string): AsyncIterable<RunHead>;
  /** Something is wrong with a run that nobody waits to hear. */
  problem(name: RunName, error: unknown): void;
}

export interface MigrateOptions extends Actor {
  /** The version to go to; the newest one that runs begin with unless given. */
  readonly to?: number;
  /** Lets go of what is pending and cannot survive, instead of refusing. */
  readonly drop?: boolean;
  /** Only tells what it would do. */
  readonly dryRun?: boolean;
}

/** What the way to another version does to a run, version by version; nothing, if it is there. */
export interface Migrated extends RunName {
  readonly from: number;
  readonly to: number;
  /** `refused`: the last report says why, and the run stays as it is. */
  readonly outcome: "moved" | "refused";
  readonly reports: readonly EvolutionReport[];
}

/** Throws OPTIONS_INVALID or NAME_INVALID; a version given as text would never be come to. */
function checkMigrate(options: MigrateOptions): void {
  const usage = "migrate({ to: version, drop, dryRun, by })";
  checkOptions(usage, options, migrateNames);
  if (options.to !== undefined) checkNumber(usage, options.to);
  checkActor(options.by);
}

const migrateNames: Names<MigrateOptions> = { to: true, drop: true, dryRun: true, by: true };

export class Evolution {
  readonly #world: EvolutionWorld;
  /** Why runs could not be upgraded: after every step of one it is asked again whether it can. */
  readonly #told = new Told();

  constructor(world: EvolutionWorld) {
    this.#world = world;
  }

  /** Takes a run to another version; throws MIGRATION_REFUSED, with the reports, if it cannot go there. */
  async migrate(name: RunName, options: MigrateOptions): Promise<Migrated> {
    checkMigrate(options);
    const run = await this.#world.settled(name);
    if (hasEnded(run)) {
      const ended = `The run ${JSON.stringify(name.run)} is ${run.head.status} and stays what it was`;
      throw new HoldfastError("RUN_ENDED", ended);
    }
    const plan = this.#plan(run.head, run.state, options);
    if (options.dryRun) return plan;
    if (plan.outcome === "refused") throw refusedError(plan);
    const reports: EvolutionReport[] = [];
    for (const hop of this.#route(run.head, options)) {
      const report = await this.#move(run, hop, options);
      // Somebody else took it elsewhere meanwhile.
      if (report === undefined) return this.migrate(name, options);
      reports.push(report);
    }
    return { ...plan, reports };
  }

  /**
   * Takes all runs of a machine that are alive to another version, those that can go there; with `dryRun`, tells what it
   * would do. `isMeant` leaves out others. Nothing is said of those that end meanwhile.
   */
  async *migrateAll(
    machine: string,
    options: MigrateOptions,
    isMeant: (head: RunHead) => boolean = () => true,
  ): AsyncGenerator<Migrated> {
    checkMigrate(options);
    for await (const head of this.#world.alive(machine)) {
      if (head.version === (options.to ?? this.#newest(head)) || !isMeant(head)) continue;
      try {
        const plan = this.#plan(head, await this.#stateOf(head), options);
        if (options.dryRun || plan.outcome === "refused") yield plan;
        else yield await this.migrate(head, options).catch((error: unknown) => refusedPlan(error, plan));
      } catch (error) {
        if (!isOver(error)) throw error;
      }
    }
  }

  /** Takes a run to the newest version, where its machine says so, if it is in a state where it can go there. */
  upgrade(run: LiveRun): void {
    const { head, state } = run;
    const to = this.#world.registry.upgrade(head.machine);
    if (to === undefined || to <= head.version) return;
    if (head.status !== "active" || run.inbox.length > 0) return;
    try {
      const { outcome } = this.#plan(head, state, {});
      this.#told.forget(keyOf(run.name));
      if (outcome === "refused") return;
      // Should it change its mind in the meantime, it is asked again after its next step.
      for (const hop of this.#route(head, {}).slice(0, 1)) void this.#move(run, hop, {}).catch(() => {});
    } catch (error) {
      // It stays with its version: neither it nor others have to stop for that.
      const failure = `${to} ${describeError(error).message}`;
      if (this.#told.isNews(keyOf(run.name), failure)) this.#world.problem(run.name, error);
    }
  }

  #newest({ machine }: RunHead): number {
    return this.#world.registry.read(machine).machine.version;
  }

  #route(head: RunHead, { to = this.#newest(head) }: MigrateOptions): readonly Hop[] {
    return this.#world.registry.route(head.machine, head.version, to);
  }

  #plan(head: RunHead, given: State, options: MigrateOptions): Migrated {
    const { tenant, run, version: from } = head;
    const { to = this.#newest(head) } = options;
    const reports: EvolutionReport[] = [];
    let state = given;
    for (const hop of this.#route(head, options)) {
      const evolved = this.#evolve(hop, state, this.#world.clock.now(), run, options);
      reports.push(evolved.report);
      if (evolved.outcome === "refused") return { tenant, run, from, to, outcome: "refused", reports };
      state = evolved.step.state;
    }
    return { tenant, run, from, to, outcome: "moved", reports };
  }

  #evolve(hop: Hop, state: State, at: number, run: string, { drop = false, by }: MigrateOptions) {
    const { from, to, migration, reverse } = hop;
    return evolve(from.machine, to.machine, state, {
      ...{ at, run, drop, reverse },
      ...(migration && { migration }),
      ...(by !== undefined && { by }),
    });
  }

  /** Takes a run from one version to the next; undefined, and nothing done, if it is not of that version any more. */
  async #move(run: LiveRun, hop: Hop, options: MigrateOptions): Promise<EvolutionReport | undefined> {
    const { tenant, run: name } = run.name;
    const versions = { from: hop.from.machine.version, to: hop.to.machine.version };
    let report: EvolutionReport | undefined;
    let isElsewhere = false;
    const take: NonNullable<Delivery["take"]> = (state, at) => {
      report = undefined;
      isElsewhere = state.version !== versions.from;
      const evolved = this.#evolve(hop, state, at, name, options);
      if (evolved.outcome === "refused")
        throw refusedError({ tenant, run: name, ...versions, outcome: "refused", reports: [evolved.report] });
      ({ report } = evolved);
      return { step: evolved.step as Step, event: sentBy(eventOf(evolved.report), options.by) };
    };
    const event = sentBy(migrateEvent(versions.from, versions.to), options.by);
    try {
      await this.#world.deliver(run, event, take);
    } catch (error) {
      if (!isElsewhere) throw error;
    }
    return report;
  }

  async #stateOf(head: RunHead): Promise<State> {
    const { past, registry } = this.#world;
    const stored = (await past.at(head, head.seq)).state;
    return restore(registry.read(head.machine, head.version).machine, stored) as State;
  }
}

/** The event of the step, with all that did not simply go along, for the journal. */
function eventOf({ from, to, ...report }: EvolutionReport): Event {
  const event = migrateEvent(from, to);
  const lists = (["moved", "changed", "dropped", "ended", "begun"] as const)
    .map((name) => [name, report[name]] as const)
    .filter(([, list]) => list.length > 0);
  return { ...event, data: { ...(event.data as JsonObject), ...Object.fromEntries(lists) } as JsonObject };
}

function refusedError(plan: Migrated): HoldfastError {
  const { run, from, to, reports } = plan;
  const problems = reports.flatMap(({ refused }) => refused).map((problem) => `\n  ${showProblem(problem)}`);
  return new HoldfastError(
    "MIGRATION_REFUSED",
    `The run ${JSON.stringify(run)} cannot go from version ${from} to ${to}:${problems.join("")}`,
    { details: { run, reports } },
  );
}

/** Whether a run was not there any more when its turn came. */
function isOver(error: unknown): boolean {
  return isHoldfastError(error) && (error.code === "RUN_ENDED" || error.code === "RUN_UNKNOWN");
}

/** A run that could go when it was looked at, and has taken a step since. */
function refusedPlan(error: unknown, plan: Migrated): Migrated {
  if (!isHoldfastError(error) || error.code !== "MIGRATION_REFUSED") throw error;
  return { ...plan, outcome: "refused", reports: error.details.reports as Migrated["reports"] };
}
