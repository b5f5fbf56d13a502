/**
 * The attempts of one activity, to its end: one after the other, or at most one, each when it is its turn. Which activities are under
 * way in a process is `activity.ts`; what happens within one attempt is `attempt.ts`.
 */
import type { ActivityEffect } from "../../core/effect.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import { isUnavailable } from "../../errors.ts";
import { decode, encode } from "../../store/codec.ts";
import type { ActivityRow, RunHead } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { Clock } from "../clock.ts";
import { Flow, type Slot } from "../flow/flow.ts";
import { requestOf } from "../flow/request.ts";
import type { Ids } from "../ids.ts";
import { isPlatformMachine } from "../name.ts";
import type { Observers } from "../observers.ts";
import type { Profiler } from "../profile/profiler.ts";
import type { Owner, Seal } from "../seal.ts";
import { sleep } from "../sleep.ts";
import type { Standing } from "../standing.ts";
import { type Activity, Attempt, type End, type Report, type Result } from "./attempt.ts";
import { Recorder } from "./recorder.ts";
import { retryDelayMs, retryPolicy } from "./retry.ts";
import type { Streams } from "./stream.ts";

/** What the activity that reconciles one of unknown outcome found out. */
export type Reconciled =
  | { readonly outcome: "done"; readonly output?: Json }
  | { readonly outcome: "failed"; readonly error: Json }
  /** It never took effect: it may be tried again. */
  | { readonly outcome: "absent" }
  | { readonly outcome: "unknown" };

/** Finding out what happened is worth many tries. */
const reconcileRetry = { attempts: 10, first: "1s", max: "1m" };
/** How long to wait before a store that cannot be reached is tried again. */
const unavailableMs = 1_000;
/** How often a process that was stopped for long looks whether it may go on. */
const unsureMs = 50;
/** What attempts need of the rest. */
export interface AttemptsWorld {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly seal: Seal;
  readonly streams: Streams;
  readonly store: Store;
  readonly standing: Pick<Standing, "epoch" | "isSure" | "turns">;
  readonly profiler?: Profiler | undefined;
  readonly observers: Pick<Observers, "attempt" | "problem">;
  /** How many may be under way at a time. */
  readonly slots: number;
  /** The state of an activity's run when it began. */
  stateAtBeginning(activity: ActivityRow): Promise<State>;
}

/** An activity under way, with all it takes to run it. */
export interface Job {
  row: ActivityRow;
  report: Report;
  readonly effect: ActivityEffect;
  readonly activities: Readonly<Record<string, Activity>>;
  readonly owner: JobOwner;
  readonly controller: AbortController;
  /** While it has one. */
  slot?: Slot;
  /** Whether it waits for one. */
  isEntering?: boolean;
  /** Whether its end is in its row, since its run is parked: whoever brings that back, here or elsewhere, goes on from there. */
  isKept?: boolean;
  /** Whether a step may have ended it whose answer was lost. */
  isDoubted?: boolean;
}

/** Whose activity it is, and of which machine. */
export type JobOwner = Pick<RunHead, "tenant" | "subject" | "machine">;

export class Attempts {
  readonly #world: AttemptsWorld;
  /** Keeps where each activity stands. */
  readonly recorder: Recorder;
  /** Whose turn it is. */
  readonly flow: Flow;

  constructor(world: AttemptsWorld) {
    const { clock, store, standing, slots } = world;
    this.#world = world;
    this.recorder = new Recorder(store, clock, () => standing.epoch);
    this.flow = new Flow({ clock, store, turns: standing.turns }, slots);
  }

  /** Runs an activity to its end, from wherever its row says it stands; nothing if it is not wanted any more before that. */
  async run(job: Job): Promise<End | undefined> {
    const { effect, activities, row, owner } = job;
    if (row.report !== undefined) job.report = this.#read(row.report, owner);
    // It is this process's now, and was recorded as another's.
    if (row.status === "waiting") job.row = { ...row, status: "running" };
    if (job.report.end !== undefined) return job.report.end;
    const code = Object.hasOwn(activities, effect.activity) ? activities[effect.activity] : undefined;
    if (code === undefined)
      return { error: { name: "Error", message: `There is no activity ${JSON.stringify(effect.activity)}` } };
    if (effect.options.once === true) return this.#runOnce(job, code);
    const policy = retryPolicy(effect.options.retry);
    for (;;) {
      // A clock that was set back makes nothing wait that has not been tried, nor longer than any retry does.
      if (job.row.attempt > 0)
        await this.#sleep(job, Math.min(job.row.dueAt - this.#world.clock.now(), policy.maxMs));
      if (job.controller.signal.aborted) return undefined;
      // Not before it begins: one that waits for its turn may be left to another process, which makes that attempt.
      const result = await this.#attempt(job, code, { begins: () => countAttempt(job) });
      if (result === undefined) return undefined;
      if ("output" in result) return endOf(result);
      const delay = retryDelayMs(policy, job.row.attempt, result.error, this.#world.ids.chance());
      if (delay === undefined) return { error: { ...result.error, attempts: job.row.attempt } };
      job.row = { ...job.row, dueAt: this.#world.clock.now() + delay };
      job.report = { ...job.report, error: result.error };
      if (!(await this.record(job))) return undefined;
    }
  }

  /** At most once: that it began is durable before it begins, and whatever began without an end is unknown. */
  async #runOnce(job: Job, code: Activity): Promise<End | undefined> {
    for (;;) {
      if (job.row.attempt > 0) {
        const found = await this.#reconcile(job);
        if (found.outcome === "done") return found.output === undefined ? {} : { output: found.output };
        if (found.outcome === "failed")
          return { error: found.error ?? { name: "Error", message: "It failed" } };
        // Only who knows that nothing happened may try again.
        if (found.outcome !== "absent")
          return { unknown: { message: "It ended without an answer; whether it took effect is not known" } };
      }
      const prepare = async () => {
        // Not before it has its slot: one that died while it waited has not begun.
        countAttempt(job);
        return (await this.record(job)) && !job.controller.signal.aborted;
      };
      const result = await this.#attempt(job, code, { prepare });
      if (result === undefined) return undefined;
      if ("output" in result || !result.lost) return endOf(result);
    }
  }

  /** Asks what became of an attempt that nobody heard the end of. */
  async #reconcile(job: Job): Promise<Reconciled> {
    const name = job.effect.options.reconcile as string | undefined;
    const code = name === undefined ? undefined : job.activities[name];
    const policy = retryPolicy(reconcileRetry);
    for (let tries = 1; code !== undefined && !job.controller.signal.aborted; tries++) {
      const result = await this.#attempt(job, code);
      if (result === undefined) break;
      if ("output" in result) return Object(result.output) as Reconciled;
      const delay = retryDelayMs(policy, tries, result.error, this.#world.ids.chance());
      if (delay === undefined) break;
      await this.#sleep(job, delay);
    }
    return { outcome: "unknown" };
  }

  /** One attempt, when it is its turn and after `prepare`, then `begins`; nothing if it is not wanted any more. */
  async #attempt(job: Job, code: Activity, { prepare, begins }: Steps = {}): Promise<Result | undefined> {
    const timed = this.#world.profiler?.attempt(job.effect.activity);
    let isPrepared = prepare === undefined;
    for (;;) {
      const entered = this.#enter(job);
      // Nothing lies between a commit and its activities where there is nothing to wait for.
      const slot = entered instanceof Promise ? await this.#wait(job, entered) : entered;
      if (slot === undefined) return undefined;
      job.slot = slot;
      try {
        // It may have been given its turn by what was cancelled with it.
        if (job.controller.signal.aborted) return undefined;
        if (!this.#isInDoubt(job)) {
          if (!isPrepared && !(await prepare?.())) return undefined;
          isPrepared = true;
          if (!this.#isInDoubt(job) && slot.begin()) {
            timed?.begun();
            begins?.();
            return await this.#runAttempt(job, code);
          }
        }
      } finally {
        slot.leave();
        timed?.over();
      }
      // Others have the turn meanwhile.
      while (this.#isInDoubt(job) && !job.controller.signal.aborted) await this.#sleep(job, unsureMs);
    }
  }

  /** Whether the activity may have been ended by a step, or taken up by a process, that nobody here knows of. */
  #isInDoubt(job: Job): boolean {
    return job.isDoubted === true || !this.#world.standing.isSure();
  }

  async #wait<Entered>(job: Job, entered: Promise<Entered>): Promise<Entered> {
    job.isEntering = true;
    return entered.finally(() => {
      job.isEntering = false;
    });
  }

  /** What the platform itself does in an activity waits for nobody: it is short, and others wait for it. */
  #enter({ effect, owner, controller: { signal } }: Job): ReturnType<Flow["enter"]> {
    if (isPlatformMachine(owner.machine)) return noSlot;
    return this.flow.enter(requestOf(effect, owner), signal);
  }

  async #runAttempt(job: Job, code: Activity): Promise<Result> {
    const { row, effect, owner, controller } = job;
    const attempt = new Attempt(
      {
        clock: this.#world.clock,
        keep: (report) => {
          const bytes = this.write(report, owner);
          job.report = report;
          return this.recorder.record({ ...row, report: bytes }).then((isOurs) => {
            // Whoever has it now makes the attempts that are left, and its end is theirs to tell.
            if (!isOurs) controller.abort(new Error("The activity is not this process's any more"));
            return isOurs;
          });
        },
        state: () => this.#world.stateAtBeginning(row),
        stream: (signal) => this.#world.streams.open(row, owner, { attempt: row.attempt, signal }),
        problem: (error) => this.#world.observers.problem(row, error),
      },
      ...([row, effect, job.report, controller.signal] as const),
    );
    const { tenant, run, activity, key } = row;
    const result = await this.#world.observers.attempt(
      { tenant, run, machine: owner.machine, activity, key: `${run}:${key}`, attempt: row.attempt },
      () => attempt.run(code, effect.input),
      (ended) => ({
        ...("error" in ended && { error: ended.error }),
        ...(attempt.report.spent && { spent: attempt.report.spent }),
      }),
    );
    job.report = attempt.report;
    return result;
  }

  /**
   * Records where the activity stands, however long the store takes; false if it is not wanted any more. Throws if it can
   * never be recorded.
   */
  async record(job: Job): Promise<boolean> {
    const { report } = job;
    if (Object.keys(report).length > 0) job.row = { ...job.row, report: this.write(report, job.owner) };
    while (!job.controller.signal.aborted) {
      try {
        return await this.recorder.record(job.row);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        await this.#sleep(job, unavailableMs);
      }
    }
    return false;
  }

  /** A report as it is kept in a row. */
  write(report: Report, owner: Owner): Uint8Array {
    return this.#world.seal.close(encode(report as JsonObject), owner);
  }

  #read(bytes: Uint8Array, owner: Owner): Report {
    return decode(this.#world.seal.open(bytes, owner), "the report of an activity") as Report;
  }

  #sleep({ controller: { signal } }: Job, ms: number): Promise<void> {
    return sleep(this.#world.clock, ms, signal);
  }
}

/** What comes before an attempt. */
interface Steps {
  /** What it takes to begin; false if it is not wanted any more. */
  readonly prepare?: () => Promise<boolean>;
  readonly begins?: () => void;
}

function countAttempt(job: Job): void {
  job.row = { ...job.row, attempt: job.row.attempt + 1 };
}

/** A slot of which there are as many as anybody wants. */
const noSlot: Slot = { begin: () => true, leave: () => {} };

function endOf(result: Result): End {
  if ("error" in result) return { error: result.error };
  return result.output === undefined ? {} : { output: result.output };
}
