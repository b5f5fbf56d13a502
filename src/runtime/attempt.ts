/** One attempt of an activity: user code with its scope, stopped when it takes too long or goes silent. */
import type { ActivityCode, ActivityScope, Spending } from "../core/activity.ts";
import { describeError } from "../core/describe-error.ts";
import { durationMs } from "../core/duration.ts";
import type { ActivityEffect } from "../core/effect.ts";
import type { settledEvent } from "../core/event.ts";
import { type Json, type JsonObject, toJson } from "../core/json.ts";
import type { ActivityRow } from "../store/records.ts";
import { addSpending } from "./budget.ts";
import type { Clock } from "./clock.ts";
import type { StreamWriter } from "./stream.ts";

export type { ActivityCode as Activity, ActivityScope };

/** What is known of an activity between attempts. */
export interface Report {
  readonly progress?: Json;
  readonly spent?: Spending;
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
  /** Keeps a report for the next attempt. */
  keep(report: Report): Promise<void>;
  /** The stream this attempt writes to. */
  stream(): Promise<StreamWriter>;
}

export class Attempt {
  readonly #world: AttemptWorld;
  readonly #row: ActivityRow;
  readonly #effect: ActivityEffect;
  readonly #overdue = new AbortController();
  readonly #signal: AbortSignal;
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
    this.#signal = AbortSignal.any([signal, this.#overdue.signal]);
    this.report = report;
  }

  /** Runs user code to its end; never throws. What it wrote to its stream is durable then. */
  async run(code: ActivityCode, input: Json | undefined): Promise<Result> {
    const { timeout } = this.#effect.options;
    const stop =
      timeout === undefined
        ? () => {}
        : this.#world.clock.after(durationMs(timeout), () => this.#giveUp(`It took longer than ${timeout}`));
    this.#beat();
    try {
      const output = await Promise.race([code(input as never, this.#scope()), aborted(this.#overdue.signal)]);
      await (await this.#writer)?.flush();
      return { output: output === undefined ? undefined : toJson(output, [], "output") };
    } catch (error) {
      return { error: describeFailure(error), lost: this.#overdue.signal.aborted };
    } finally {
      this.#over = true;
      stop();
      this.#stopBeat();
      // What was gathered is written before the next attempt says something.
      await this.#writer?.then((writer) => writer.flush()).catch(() => {});
    }
  }

  #giveUp(why: string): void {
    this.#overdue.abort(new Error(why));
  }

  #beat(): void {
    const { heartbeat } = this.#effect.options;
    if (heartbeat === undefined) return;
    this.#stopBeat();
    this.#stopBeat = this.#world.clock.after(durationMs(heartbeat), () =>
      this.#giveUp(`It gave no sign of life for ${heartbeat}`),
    );
  }

  #scope(): ActivityScope {
    const { run, tenant, key, attempt } = this.#row;
    return {
      ...{ key: `${run}:${key}`, run, tenant, attempt, signal: this.#signal },
      progress: this.report.progress,
      checkpoint: (progress) => unheard(this.#checkpoint(progress)),
      heartbeat: () => {
        if (!this.#over) this.#beat();
      },
      write: (chunk) => unheard(this.#write(chunk)),
      spend: (spending) => {
        if (!this.#over) this.report = { ...this.report, spent: addSpending(this.report.spent, spending) };
      },
    };
  }

  async #checkpoint(progress: Json): Promise<void> {
    this.#check();
    this.#beat();
    this.report = { ...this.report, progress: toJson(progress, [], "progress") };
    await this.#world.keep(this.report);
  }

  async #write(chunk: Json): Promise<void> {
    this.#check();
    this.#beat();
    this.#writer ??= this.#world.stream();
    await (await this.#writer).write(chunk);
  }

  #check(): void {
    if (this.#over) throw new Error(`Attempt ${this.#row.attempt} of ${this.#row.activity} is over`);
  }
}

/** A promise that user code need not wait for: that it failed is told by the end of the attempt, not by the process. */
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
