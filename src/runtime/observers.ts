/** Whoever listens to a runtime: told of what is durable and of what needs a person, and unable to hurt either. */
import type { EmitEffect, LogEffect } from "../core/effect.ts";
import type { RunName } from "../store/records.ts";
import type { RuntimeOptions } from "./run.ts";

export class Observers {
  readonly #options: Pick<RuntimeOptions, "onLog" | "onEmit" | "onProblem">;

  constructor(options: Pick<RuntimeOptions, "onLog" | "onEmit" | "onProblem">) {
    this.#options = options;
  }

  /** A run has logged or emitted something, and it is durable. */
  tell(name: RunName, effect: LogEffect | EmitEffect): void {
    const { run } = name;
    try {
      if (effect.type === "log") this.#options.onLog?.({ ...effect, run });
      else this.#options.onEmit?.({ ...effect, run });
    } catch (error) {
      this.problem(name, error);
    }
  }

  /** Something is wrong that nobody waits to hear. */
  readonly problem = ({ tenant, run }: RunName, error: unknown): void => {
    try {
      this.#options.onProblem?.({ tenant, run, error });
    } catch {
      // There is nobody left to tell.
    }
  };
}
