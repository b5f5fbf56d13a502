/** The life of a runtime: open until somebody closes it, or until something ends it that it cannot go on from. */
import { closedError } from "../errors.ts";

export class Life {
  readonly #over = Promise.withResolvers<unknown>();
  #closed = false;
  #failure: unknown;

  /** Resolves when it is over, with what ended it, or undefined if it was closed. */
  get stopped(): Promise<unknown> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  /** Throws what ended it. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw closedError();
  }

  /** Ends it for a reason; says whether it was this that ended it. */
  fail(error: unknown): boolean {
    if (this.isOver) return false;
    this.#failure = error;
    this.#over.resolve(error);
    return true;
  }

  /** Says whether it was not closed before; one that has failed can still be closed. */
  close(): boolean {
    if (this.#closed) return false;
    this.#closed = true;
    this.#over.resolve(undefined);
    return true;
  }
}
