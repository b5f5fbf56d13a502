/** Where sessions come from: one for each step that runs code of the document, and none for a step that does not. */
import type { ModelScope } from "../core/data-model.ts";
import type { JsonObject } from "../core/json.ts";
import { HoldfastError, isHoldfastError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import type { Program } from "./program.ts";
import { Session } from "./session.ts";

export class Sessions {
  readonly program: Program;
  readonly #engine: Engine;

  constructor(engine: Engine, program: Program) {
    this.#engine = engine;
    this.program = program;
  }

  /** The session of the step under way, made at its first use. */
  of(scope: ModelScope): Session {
    scope.session ??= this.#open(scope);
    if (scope.session instanceof HoldfastError) throw scope.session;
    return (scope.session as Session).enter(scope);
  }

  /** The context after the step: the same as before where no code ran. */
  save(scope: ModelScope): JsonObject {
    if (scope.session === undefined) return scope.context;
    if (scope.session instanceof HoldfastError) throw scope.session;
    return (scope.session as Session).save();
  }

  close(scope: ModelScope): void {
    if (scope.session instanceof Session) scope.session.close();
    scope.session = undefined;
  }

  /** A session, or why there is none: then no code of the document can run, and the step is refused in the end. */
  #open(scope: ModelScope): Session | HoldfastError {
    try {
      return new Session(this.#engine, this.program, scope);
    } catch (cause) {
      if (isHoldfastError(cause)) return cause;
      const reason = (cause as Error).message;
      return new HoldfastError(
        "STATE_INVALID",
        `The variables of ${JSON.stringify(scope.run)} cannot be brought back: ${reason}`,
        { cause },
      );
    }
  }
}

/** Does something that may fail without stopping what comes after. */
export function attempt(scope: ModelScope, work: () => void): void {
  try {
    work();
  } catch (error) {
    scope.fail(error);
  }
}
