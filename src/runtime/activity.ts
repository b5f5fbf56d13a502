/**
 * Activities: user code that runs outside the step, at least once and with a stable key, or at most once with an
 * outcome that may be unknown. What an attempt reports goes into the activity's row; only its end is an event.
 */
import { durationMs } from "../core/duration.ts";
import type { ActivityEffect } from "../core/effect.ts";
import { type Event, settledEvent } from "../core/event.ts";
import { type Json, type JsonObject, toJson } from "../core/json.ts";
import { describeError } from "../core/work.ts";
import type { ActivityRow, RunName } from "../store/records.ts";
import type { Clock } from "./clock.ts";
import type { Ids } from "./ids.ts";
import { retryDelayMs, retryPolicy } from "./retry.ts";

/** What an activity is given besides its input. */
export interface ActivityScope {
  /** The same for every attempt: hand it to tools as their idempotency key. */
  readonly key: string;
  readonly run: string;
  readonly tenant: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when the activity is cancelled or takes too long. */
  readonly signal: AbortSignal;
  /** What an earlier attempt left with `checkpoint`. */
  readonly progress: Json | undefined;
  /** Keeps progress for the next attempt; resolves when it is durable. */
  checkpoint(progress: Json): Promise<void>;
}

export type Activity = (input: never, scope: ActivityScope) => unknown;

/** What running activities needs of the rest. */
export interface ActivityWorld {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Replaces the row; false if the activity is not wanted any more. */
  record(row: ActivityRow): Promise<boolean>;
  /** The activity is over: this is the event that says how. */
  settle(name: RunName, event: Event): void;
  encode(name: RunName, value: JsonObject): Uint8Array;
  decode(name: RunName, bytes: Uint8Array): JsonObject;
}

/** The activities under way in this process. */
export class Activities {
  readonly #world: ActivityWorld;
  readonly #running = new Map<string, AbortController>();
  #closed = false;

  constructor(world: ActivityWorld) {
    this.#world = world;
  }

  /** Runs an activity to its end, attempt after attempt, from wherever its row says it stands. */
  start(row: ActivityRow, code: Activity | undefined): void {
    const id = idOf(row, row.key);
    if (this.#running.has(id)) return;
    const controller = new AbortController();
    this.#running.set(id, controller);
    void this.#run(row, code, controller).finally(() => {
      if (this.#running.get(id) === controller) this.#running.delete(id);
    });
  }

  /** The activity is not wanted any more: its signal is aborted and its result will be ignored. */
  cancel(name: RunName, key: string): void {
    this.#running.get(idOf(name, key))?.abort(new Error("The activity was cancelled"));
  }

  close(): void {
    this.#closed = true;
    for (const controller of this.#running.values()) controller.abort(new Error("The runtime is closing"));
  }

  async #run(row: ActivityRow, code: Activity | undefined, controller: AbortController): Promise<void> {
    const { clock, ids } = this.#world;
    const effect = this.#world.decode(row, row.bytes) as unknown as ActivityEffect;
    const settle = (result: Parameters<typeof settledEvent>[1]) => {
      if (!this.#closed && !controller.signal.aborted) this.#world.settle(row, settledEvent(effect, result));
    };
    if (code === undefined) {
      settle({
        error: { name: "Error", message: `There is no activity ${JSON.stringify(effect.activity)}` },
      });
      return;
    }
    const once = effect.options.once === true;
    if (once && row.status === "running") {
      settle({ unknown: { message: "The process ended while it ran; whether it took effect is not known" } });
      return;
    }
    const policy = retryPolicy(once ? { attempts: 1 } : effect.options.retry);
    let current = row;
    for (;;) {
      await sleep(clock, current.dueAt - clock.now(), controller.signal);
      if (controller.signal.aborted) return;
      current = { ...current, attempt: current.attempt + 1, status: "running" };
      // At most once: that it began must be durable before it begins.
      if (once && !(await this.#world.record(current))) return;
      const result = await this.#attempt(current, effect, code, controller.signal, (report) => {
        current = { ...current, report };
      });
      if (controller.signal.aborted) return;
      if ("output" in result) return settle(result.output === undefined ? {} : { output: result.output });
      const delay = retryDelayMs(policy, current.attempt, result.error, ids.chance());
      if (delay === undefined) return settle({ error: { ...result.error, attempts: current.attempt } });
      current = { ...current, status: "waiting", dueAt: clock.now() + delay };
      if (!(await this.#world.record(current))) return;
    }
  }

  async #attempt(
    row: ActivityRow,
    effect: ActivityEffect,
    code: Activity,
    signal: AbortSignal,
    reported: (report: Uint8Array) => void,
  ): Promise<{ readonly output: Json | undefined } | { readonly error: JsonObject }> {
    const world = this.#world;
    const { timeout } = effect.options;
    const timer = new AbortController();
    const stop =
      timeout === undefined
        ? () => {}
        : world.clock.after(durationMs(timeout), () =>
            timer.abort(new Error(`It took longer than ${timeout}`)),
          );
    const either = AbortSignal.any([signal, timer.signal]);
    let progress = row.report === undefined ? undefined : world.decode(row, row.report).progress;
    const scope: ActivityScope = {
      key: `${row.run}:${row.key}`,
      run: row.run,
      tenant: row.tenant,
      attempt: row.attempt,
      signal: either,
      progress,
      async checkpoint(value) {
        progress = toJson(value, [], "progress");
        const report = world.encode(row, { progress });
        reported(report);
        await world.record({ ...row, report });
      },
    };
    try {
      const output = await Promise.race([code(effect.input as never, scope), aborted(timer.signal)]);
      return { output: output === undefined ? undefined : toJson(output, [], "output") };
    } catch (error) {
      return { error: describeError(error) };
    } finally {
      stop();
    }
  }
}

function idOf({ tenant, run }: RunName, key: string): string {
  return JSON.stringify([tenant, run, key]);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = clock.after(ms, resolve);
    signal.addEventListener(
      "abort",
      () => {
        stop();
        resolve();
      },
      { once: true },
    );
  });
}
