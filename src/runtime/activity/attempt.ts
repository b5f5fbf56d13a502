/** One attempt of an activity: user code with its scope, stopped when it takes too long or goes silent. */
import type { ActivityCode, ActivityScope, Spending } from "../../core/activity.ts";
import { describeError } from "../../core/describe-error.ts";
import { durationMs } from "../../core/duration.ts";
import type { ActivityEffect } from "../../core/effect.ts";
import type { settledEvent } from "../../core/event.ts";
import { type Json, type JsonObject, toJson } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import { isHoldfastError } from "../../errors.ts";
import type { ActivityRow } from "../../store/records.ts";
import { addSpending, checkSpending } from "../budget.ts";
import type { Clock } from "../clock.ts";
import type { StreamWriter } from "./stream.ts";

export type { ActivityCode as Activity, ActivityScope };

/** What is known of an activity between attempts. */
export interface Report {
  readonly progress?: Json;
  readonly spent?: Spending;
  /** How the last attempt failed, while another one is to come: for whoever asks why it takes so long. */
  readonly error?: JsonObject;
  /** How it ended, while its run is parked and cannot take that. */
  readonly end?: End;
}

/** How an activity ended. */
export type End = Parameters<typeof settledEvent>[1];

/** `lost`: it was given up, so whether it took effect is not known. */
export type Result =
  | { readonly output: Json | undefined }
  | { readonly error: JsonObject; readonly lost: boolean };

export interface AttemptWorld {
  readonly clock: Clock;
  /** Keeps a report for the next attempt; false if the activity is not this process's any more. Throws VALUE_TOO_LARGE at once. */
  keep(report: Report): Promise<boolean>;
  /** The run's state at the checkpoint that began the activity. */
  state(): Promise<State>;
  /** The stream this attempt writes to, until it is given up. */
  stream(signal: AbortSignal): Promise<StreamWriter>;
  /** Something was lost that nobody waited for. */
  problem(error: unknown): void;
}

export class Attempt {
  readonly #world: AttemptWorld;
  readonly #row: ActivityRow;
  readonly #effect: ActivityEffect;
  /** One of its own, since `AbortSignal.any` keeps whatever listens to it for as long as nothing is aborted. */
  readonly #controller = new AbortController();
  /** Ends its listening to the activity's signal. */
  readonly #release: () => void;
  readonly #givenUp = Promise.withResolvers<never>();
  #isGivenUp = false;
  #stopBeat: () => void = () => {};
  #writer: Promise<StreamWriter> | undefined;
  /** Whether it has ended or was given up: user code may go on, but nobody listens any more. */
  #over = false;
  report: Report;

  constructor(
    world: AttemptWorld,
    row: ActivityRow,
    effect: ActivityEffect,
    report: Report,
    signal: AbortSignal,
  ) {
    this.#world = world;
    this.#row = row;
    this.#effect = effect;
    const relay = () => this.#controller.abort(signal.reason);
    if (signal.aborted) relay();
    else signal.addEventListener("abort", relay, { once: true });
    this.#release = () => signal.removeEventListener("abort", relay);
    this.#givenUp.promise.catch(() => {});
    this.report = report;
  }

  /** Runs user code to its end; never throws. What it wrote to its stream is durable then, or the problem is told. */
  async run(code: ActivityCode, input: Json | undefined): Promise<Result> {
    const { timeout } = this.#effect.options;
    const stop =
      timeout === undefined
        ? () => {}
        : this.#world.clock.after(durationMs(timeout), () =>
            this.#giveUp(lateError(`It took longer than ${timeout}`)),
          );
    this.#beat();
    const result = await this.#call(code, input);
    this.#over = true;
    stop();
    this.#stopBeat();
    await this.#flush(result);
    this.#release();
    return result;
  }

  async #call(code: ActivityCode, input: Json | undefined): Promise<Result> {
    try {
      const output = await Promise.race([code(input as never, this.#scope()), this.#givenUp.promise]);
      return { output: output === undefined ? undefined : toJson(output, [], "output") };
    } catch (error) {
      return { error: describeFailure(error), lost: this.#isGivenUp };
    }
  }

  /** Writes what was gathered, before the next attempt says something. What code gave stands, whatever becomes of what it said. */
  async #flush(result: Result): Promise<void> {
    try {
      await (await this.#writer)?.flush();
    } catch (error) {
      if ("output" in result && !this.#controller.signal.aborted) this.#world.problem(error);
    }
  }

  #giveUp(error: Error): Error {
    this.#isGivenUp = true;
    this.#controller.abort(error);
    this.#givenUp.reject(error);
    return error;
  }

  #beat(): void {
    const { heartbeat } = this.#effect.options;
    if (heartbeat === undefined) return;
    this.#stopBeat();
    this.#stopBeat = this.#world.clock.after(durationMs(heartbeat), () =>
      this.#giveUp(lateError(`It gave no sign of life for ${heartbeat}`)),
    );
  }

  #scope(): ActivityScope {
    const { run, tenant, key, attempt } = this.#row;
    return {
      ...{ key: `${run}:${key}`, run, tenant, attempt, signal: this.#controller.signal },
      state: <Context>() => this.#world.state() as Promise<unknown> as Promise<State<Context>>,
      now: () => this.#world.clock.now(),
      progress: this.report.progress,
      checkpoint: (progress) => unheard(this.#checkpoint(progress)),
      heartbeat: () => {
        if (!this.#over) this.#beat();
      },
      write: (chunk) => unheard(this.#write(chunk)),
      spend: (spending) => {
        checkSpending(spending);
        if (!this.#over) this.report = { ...this.report, spent: addSpending(this.report.spent, spending) };
      },
    };
  }

  async #checkpoint(progress: Json): Promise<void> {
    this.#check();
    this.#beat();
    const report = { ...this.report, progress: toJson(progress, [], "progress") };
    const kept = this.#world.keep(report);
    // What is too large to be kept does not take the place of what was.
    this.report = report;
    if (!(await kept)) throw this.#giveUp(notOursError(this.#row));
  }

  async #write(chunk: Json): Promise<void> {
    this.#check();
    this.#beat();
    this.#writer ??= this.#world.stream(this.#controller.signal);
    await (await this.#writer).write(chunk);
  }

  #check(): void {
    if (this.#over) throw new Error(`Attempt ${this.#row.attempt} of ${this.#row.activity} is over`);
  }
}

const lateError = (message: string): Error => Object.assign(new Error(message), { name: "TimeoutError" });

const notOursError = ({ activity, attempt }: ActivityRow): Error =>
  new Error(
    `Attempt ${attempt} of ${activity} is stopped: it has ended for its run, or another process has it`,
  );

/** A promise that user code need not wait for: that it failed is nothing the process has to hear of. */
function unheard(promise: Promise<void>): Promise<void> {
  promise.catch(() => {});
  return promise;
}

/** What was thrown, with what tells whether another attempt can help: its `code`, and `retryable: false`. */
function describeFailure(thrown: unknown): JsonObject {
  const { code, retryable, message } = Object(thrown) as Readonly<Record<string, unknown>>;
  return {
    ...describeError(thrown),
    ...(thrown instanceof Error || typeof message !== "string" ? undefined : { message }),
    ...(typeof code === "string" || typeof code === "number" ? { code } : undefined),
    ...(retryable === false ? { retryable } : undefined),
  };
}

/** What is kept of an activity until its run can take its end. One too large for that is an error, as it is for a run that can. */
export function reportOf(report: Report, end: End, write: (report: Report) => unknown): Report {
  try {
    write({ ...report, end });
    return { ...report, end };
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "VALUE_TOO_LARGE") throw error;
    const { spent } = report;
    return { ...(spent && { spent }), end: { error: describeError(error) } };
  }
}
