/** The life of a runtime: open until somebody closes it, or until something ends it that it cannot go on from. */
import { closedError } from "../errors.ts";

export class Life {
  readonly #over = Promise.withResolvers<unknown>();
  #closed = false;
  #closing: Promise<void> | undefined;
  #failure: unknown;

  /** Resolves when it is over, with what ended it, or undefined if it was closed. */
  get stopped(): Promise<unknown> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#closed || this.#failure !== undefined;
  }

  /** Throws what ended it. */
  readonly check = (): void => {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw closedError();
  };

  /** Tells of something that is wrong, unless it is over: that it was closed meanwhile is nobody's fault. */
  unlessOver<Given extends readonly unknown[]>(tell: (...given: Given) => void): (...given: Given) => void {
    return (...given) => {
      if (!this.isOver) tell(...given);
    };
  }

  /** Ends it for a reason; says whether it was this that ended it. */
  fail(error: unknown): boolean {
    if (this.isOver) return false;
    this.#failure = error;
    this.#over.resolve(error);
    return true;
  }

  /** Closes it, once: whoever closes it again waits for the same. One that has failed can still be closed. */
  close(end: () => Promise<void>): Promise<void> {
    this.#closed = true;
    this.#over.resolve(undefined);
    this.#closing ??= end();
    return this.#closing;
  }
}
