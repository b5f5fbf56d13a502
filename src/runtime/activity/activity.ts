/**
 * Activities: user code that runs outside the step, at least once and with a stable key, or at most once with an
 * outcome that may be unknown. What an attempt reports goes into the activity's row; only its end is an event.
 */
import { describeError } from "../../core/describe-error.ts";
import { type Event, settledEvent } from "../../core/event.ts";
import type { ActivityRow, RunName, Spending } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { LiveRun } from "../live/live-run.ts";
import type { Past } from "../live/past.ts";
import type { Begun } from "../outbox.ts";
import type { Standing } from "../standing.ts";
import { type End, reportOf } from "./attempt.ts";
import { Attempts, type AttemptsWorld, type Job, type JobOwner } from "./attempts.ts";
import { Leaving } from "./leaving.ts";

/** How often somebody who waits for the end of all looks whether it has come. */
const settledLookMs = 50;

/** What running activities needs of the rest. */
export interface ActivityWorld extends AttemptsWorld {
  readonly past: Past;
  readonly standing: Pick<Standing, "epoch" | "isShared" | "isSure" | "adopt" | "tell" | "turns">;
  /**
   * The activity is over: this is the event that says how. Resolves when it is durable, or not wanted any more; false if
   * the run is parked or cannot be read here, and cannot take it.
   */
  settle(name: RunName, event: Event, spent: Spending | undefined): Promise<boolean>;
}

/** The activities under way in this process. */
export class Activities {
  readonly #world: ActivityWorld;
  readonly #attempts: Attempts;
  /** Of each run, by their keys. */
  readonly #jobs = new RunMap<Map<string, Job>>();
  readonly #leaving: Leaving;
  #closed = false;

  constructor(world: ActivityWorld) {
    const { clock, standing } = world;
    this.#world = world;
    this.#attempts = new Attempts(world);
    this.#leaving = new Leaving({ clock, standing, record: (row) => this.#attempts.recorder.record(row) });
  }

  /** Runs an activity to its end, attempt after attempt, from wherever its row says it stands. */
  start({ row, effect }: Begun, activities: Job["activities"], owner: JobOwner): void {
    const jobs = this.#jobs.get(row) ?? new Map<string, Job>();
    const known = jobs.get(row.key);
    if (known?.report.end !== undefined) this.#end(known, known.report.end);
    if (known !== undefined || this.#closed) return;
    if (this.#leaving.takeBack(row, () => this.start({ row, effect }, activities, owner))) return;
    const job: Job = { row, report: {}, effect, activities, owner, controller: new AbortController() };
    this.#jobs.set(row, jobs.set(row.key, job));
    const run = this.#attempts.run(job).catch((error: unknown): End => ({ error: describeError(error) }));
    void run.then((end) => (end === undefined ? this.#forget(job) : this.#end(job, end)));
  }

  /** Should its end not be kept, nobody waits to hear of that; whoever opens the store next takes the activity up. */
  #end(job: Job, end: End): void {
    this.#settle(job, end).catch((error: unknown) => this.#world.observers.problem(job.row, error));
  }

  /** Until its end is durable an activity counts as under way, so that reading its run does not begin it again. */
  async #settle(job: Job, end: End): Promise<void> {
    const { row, effect, report, controller } = job;
    if (!this.#closed && !controller.signal.aborted) {
      const settled = await this.#world.settle(row, settledEvent(effect, end), report.spent);
      if (!settled) {
        job.report = reportOf(report, end, (one) => this.#attempts.write(one, job.owner));
        job.row = { ...job.row, status: "waiting" };
        await this.#attempts.record(job);
        job.isKept = true;
        return;
      }
    }
    this.#forget(job);
  }

  #forget(job: Job): void {
    if (this.#jobs.get(job.row)?.get(job.row.key) === job) this.#remove(job.row, job.row.key);
  }

  #remove(name: RunName, key: string): void {
    const jobs = this.#jobs.get(name);
    jobs?.delete(key);
    if (jobs?.size === 0) this.#jobs.delete(name);
  }

  /** Activities that were begun before, by whoever that was, with what they were begun with. */
  async read(rows: readonly ActivityRow[], run: LiveRun): Promise<readonly Begun[]> {
    const read = async (row: ActivityRow) => ({
      row,
      effect: await this.#world.past.activity(row, run.head),
    });
    return Promise.all(rows.map(read));
  }

  /** How many can be under way, how many are, and how many wait for their turn. */
  load(): { readonly slots: number; readonly running: number; readonly waiting: number } {
    const waiting = this.#entering().length;
    return { slots: this.#world.slots, running: this.#attempts.flow.used, waiting };
  }

  #entering(): Job[] {
    return [...this.#jobs.values()].flatMap((jobs) => [...jobs.values()].filter((job) => job.isEntering));
  }

  /** Leaves those of some runs that wait for their turn to whoever sees to the runs now, who finds them waiting. */
  yield(isTheirs: (name: RunName) => boolean): void {
    for (const { row } of this.#entering().filter(({ row }) => isTheirs(row))) {
      this.cancel(row, row.key);
      this.#leaving.leave(row);
    }
  }

  /** Resolves when none is under way, or the time has passed; says whether none is. */
  async settled(withinMs: number): Promise<boolean> {
    const { clock } = this.#world;
    const until = clock.now() + withinMs;
    while (this.#isAnyUnderWay() && clock.now() < until)
      await new Promise<void>((pass) => clock.after(settledLookMs, pass));
    return !this.#isAnyUnderWay();
  }

  #isAnyUnderWay(): boolean {
    for (const jobs of this.#jobs.values()) for (const job of jobs.values()) if (!job.isKept) return true;
    return false;
  }

  /** The runs that have some under way. */
  *names(): Iterable<RunName> {
    for (const jobs of this.#jobs.values()) for (const { row } of [...jobs.values()].slice(0, 1)) yield row;
  }

  /** Goes on with them. */
  startAll(begun: readonly Begun[], run: LiveRun): void {
    for (const { row, effect } of begun) {
      // It may have come to its end while it was read.
      const pending = run.state.activities.find(({ key }) => key === row.key);
      if (pending === undefined) continue;
      this.#adopt(row);
      // A migration may have given it another name since it began.
      const { activity } = pending;
      this.start({ row, effect: { ...effect, activity } }, run.machine.activities, run.head);
    }
  }

  /** Leaves those of them that are not under way to whoever goes on with their run. */
  leaveAll(begun: readonly Begun[]): void {
    for (const { row } of begun) if (this.#jobs.get(row)?.has(row.key) !== true) this.#leaving.leave(row);
  }

  /** Until it is recorded as this process's it counts as left behind, and hides others that are: they may be many. */
  #adopt(row: ActivityRow): void {
    if (this.#closed || this.#world.standing.isShared || this.#jobs.get(row)?.has(row.key) === true) return;
    this.#attempts.recorder.record({ ...row, status: "running" }).catch(() => {});
  }

  /** The activity is not wanted any more: its signal is aborted and its result will be ignored. */
  cancel(name: RunName, key: string): void {
    const job = this.#jobs.get(name)?.get(key);
    job?.controller.abort(new Error("The activity was cancelled"));
    // Whether or not its code heeds that: nobody waits for it any more.
    job?.slot?.leave();
    this.#remove(name, key);
  }

  /** A run was read: what is under way for it and not among these was ended by a step nobody here was told of. */
  keepOnly(name: RunName, rows: readonly ActivityRow[]): void {
    for (const [key, job] of [...(this.#jobs.get(name) ?? [])])
      if (rows.some((row) => row.key === key)) job.isDoubted = false;
      else this.cancel(name, key);
  }

  /** Nobody knows what became of a run's newest step: no attempt of its activities begins until the run was read, or steps on. */
  doubt(name: RunName): void {
    for (const job of this.#jobs.get(name)?.values() ?? []) job.isDoubted = true;
  }

  /** A step was committed on what is in memory, so that is what the store has. */
  trust(name: RunName): void {
    for (const job of this.#jobs.get(name)?.values() ?? []) job.isDoubted = false;
  }

  close(): void {
    this.#closed = true;
    this.#leaving.close();
    for (const jobs of this.#jobs.values())
      for (const { controller } of jobs.values()) controller.abort(new Error("The runtime is closing"));
    this.#attempts.flow.close();
  }
}
