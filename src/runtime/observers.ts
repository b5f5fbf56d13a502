/** Whoever listens to a runtime: told of what is durable and of what needs a person, and unable to hurt either. */
import type { EmitEffect, LogEffect } from "../core/effect.ts";
import type { RunName } from "../store/records.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { Committed, RuntimeOptions } from "./run.ts";

type Told = Pick<RuntimeOptions, "onLog" | "onEmit" | "onProblem">;
type Listener = (committed: Committed) => void;

export class Observers {
  readonly #options: Told;
  readonly #listeners = new Set<Listener>();

  constructor(options: Told) {
    this.#options = options;
  }

  /** Tells a listener of every commit from now on; what it gives back ends that. */
  observe(listener: Listener): () => void {
    // One that is given twice is told twice.
    const one: Listener = (committed) => listener(committed);
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  }

  /** A turn of a run is durable. */
  committed({ run: { name, head, state }, taken }: Pick<Checkpoint, "run" | "taken">): void {
    if (this.#listeners.size === 0) return;
    const steps = taken.map(({ seq, at, event, step: { outcome, effects, error } }) => ({
      ...{ seq, at, event, outcome, effects },
      ...(error === undefined ? undefined : { error }),
    }));
    for (const listener of this.#listeners) {
      callSafely(
        () => listener({ head, state, steps }),
        (error) => this.problem(name, error),
      );
    }
  }

  /** A run has logged or emitted something, and it is durable. */
  tell(name: RunName, effect: LogEffect | EmitEffect): void {
    const { run } = name;
    const { onLog, onEmit } = this.#options;
    callSafely(
      () => (effect.type === "log" ? onLog?.({ ...effect, run }) : onEmit?.({ ...effect, run })),
      (error) => this.problem(name, error),
    );
  }

  /** Something is wrong that nobody waits to hear. */
  readonly problem = ({ tenant, run }: RunName, error: unknown): void => {
    callSafely(
      () => this.#options.onProblem?.({ tenant, run, error }),
      // There is nobody left to tell.
      () => {},
    );
  };
}

/** Calls whoever listens. What they throw is told to `failed`, and so is what they promise and break. */
export function callSafely(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const given = call();
    // Most listeners promise nothing, and then there is nothing to wait for.
    if (typeof (given as PromiseLike<unknown> | undefined)?.then === "function")
      Promise.resolve(given).catch(failed);
  } catch (error) {
    failed(error);
  }
}
