/**
 * Readiness: whether the store answers, for whoever decides where requests go.
 *
 * R1. One question is under way at a time, however many ask and however long it takes: a store that is slow already is not
 *     asked more because of it.
 * R2. An answer is good for `limits.readyKnownMs`. A question that is older than `limits.readyMsMax` is an answer too.
 */
import { limits } from "../limits.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemTenant } from "../runtime/name.ts";
import type { Store } from "../store/store.ts";

/** Undefined when all is well. */
type Why = string | undefined;

export class Readiness {
  readonly #store: Pick<Store, "readDocument">;
  readonly #clock: Clock;
  #known: { readonly at: number; readonly why: Why } | undefined;
  #asked: { readonly at: number; readonly answer: Promise<Why> } | undefined;

  constructor(store: Pick<Store, "readDocument">, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Why the store cannot be worked with now; undefined if it can. Resolves within `limits.readyMsMax`. */
  async store(): Promise<Why> {
    const now = this.#clock.now();
    const known = this.#known;
    if (this.#asked === undefined && known !== undefined && now - known.at < limits.readyKnownMs)
      return known.why;
    const { at, answer } = this.#asked ?? this.#ask(now);
    const leftMs = at + limits.readyMsMax - now;
    const late = `does not answer within ${limits.readyMsMax} ms`;
    if (leftMs <= 0) return late;
    const { promise, resolve } = Promise.withResolvers<Why>();
    const cancel = this.#clock.after(leftMs, () => resolve(late));
    return Promise.race([answer, promise]).finally(cancel);
  }

  #ask(at: number): { readonly at: number; readonly answer: Promise<Why> } {
    // A document that nobody writes: one look into an index, and a way there and back.
    const asking = Promise.resolve().then(() => this.#store.readDocument(systemTenant, "readiness"));
    const answer = asking
      .then(
        () => undefined,
        () => "cannot be reached, or does not answer",
      )
      .then((why) => {
        this.#known = { at: this.#clock.now(), why };
        this.#asked = undefined;
        return why;
      });
    this.#asked = { at, answer };
    return this.#asked;
  }
}
