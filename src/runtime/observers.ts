/** Whoever listens to a runtime: told of what is durable and of what needs a person, and unable to hurt either. */
import { describeError } from "../core/describe-error.ts";
import type { EmitEffect, LogEffect } from "../core/effect.ts";
import type { RunName } from "../store/records.ts";
import type { AttemptBegun, AttemptOver, Observed, Observer } from "./observer.ts";
import type { RuntimeOptions } from "./run.ts";
import type { Turn } from "./turn.ts";

type Told = Pick<RuntimeOptions, "observers" | "onLog" | "onEmit" | "onProblem">;
type Listener = (committed: Observed) => void;

export class Observers {
  readonly #options: Told;
  readonly #listeners = new Set<Listener>();
  readonly #observers: readonly Observer[];
  /** Those of them who are told of attempts. */
  readonly #bystanders: readonly Observer[];

  constructor(options: Told) {
    this.#options = options;
    this.#observers = options.observers ?? [];
    this.#bystanders = this.#observers.filter(({ attempt }) => attempt !== undefined);
    for (const one of this.#observers)
      if (one.committed !== undefined) this.observe((committed) => one.committed?.(committed));
  }

  /** Tells a listener of every commit from now on; what it gives back ends that. */
  observe(listener: Listener): () => void {
    // One that is given twice is told twice.
    const one: Listener = (committed) => listener(committed);
    this.#listeners.add(one);
    return () => void this.#listeners.delete(one);
  }

  /** A turn of a run is durable. */
  committed({ run: { name, head, state }, taken }: Pick<Turn, "run" | "taken">): void {
    if (this.#listeners.size === 0) return;
    const steps = taken.map(({ seq, at, event, step: { outcome, effects, error, state } }) => ({
      ...{ seq, at, event, outcome, effects, configuration: state.configuration },
      ...(error === undefined ? undefined : { error }),
    }));
    for (const listener of this.#listeners) {
      callSafely(
        () => listener({ head, state, steps }),
        (error) => this.problem(name, error),
      );
    }
  }

  /** Runs an attempt, with whoever wants to stand around it. */
  attempt<Result>(
    begun: AttemptBegun,
    run: () => Promise<Result>,
    over: (result: Result) => AttemptOver,
  ): Promise<Result> {
    if (this.#bystanders.length === 0) return run();
    const running = once(run);
    const around = (inside: () => Promise<AttemptOver>, { attempt }: Observer) => {
      const go = once(inside);
      return () => {
        callSafely(
          () => attempt?.(begun, go),
          (error) => this.problem(begun, error),
        );
        // They may not have called it, or not yet.
        return go();
      };
    };
    const tellEnd = () => running().then(over, (error: unknown) => ({ error: describeError(error) }));
    void this.#bystanders.reduceRight(around, tellEnd)();
    return running();
  }

  /** A run has logged or emitted something, and it is durable. */
  tell(name: RunName, effect: LogEffect | EmitEffect): void {
    const { run } = name;
    const { onLog, onEmit } = this.#options;
    const tell = (call: () => unknown) => callSafely(call, (error) => this.problem(name, error));
    if (effect.type === "emit") {
      tell(() => onEmit?.({ ...effect, run }));
      return;
    }
    tell(() => onLog?.({ ...effect, run }));
    for (const one of this.#observers) tell(() => one.logged?.({ ...effect, run }));
  }

  /** Something is wrong that nobody waits to hear. */
  readonly problem = ({ tenant, run }: RunName, error: unknown): void => {
    // There is nobody left to tell if these fail.
    const tell = (call: () => unknown) => callSafely(call, () => {});
    tell(() => this.#options.onProblem?.({ tenant, run, error }));
    for (const one of this.#observers) tell(() => one.problem?.({ tenant, run, error }));
  };
}

/** Does it when it is first called; gives the same from then on. */
function once<Given>(make: () => Given): () => Given {
  let made: { readonly given: Given } | undefined;
  return () => {
    made ??= { given: make() };
    return made.given;
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
