/** One alarm for everything that is due some day: it rings at the earliest time it was set to. */
import type { Clock } from "./clock.ts";

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #set: { readonly at: number; readonly stop: () => void } | undefined;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Makes sure it rings at this time or before. */
  set(at: number): void {
    if (this.#set !== undefined && this.#set.at <= at) return;
    this.stop();
    const stop = this.#clock.after(at - this.#clock.now(), () => {
      this.#set = undefined;
      this.#ring();
    });
    this.#set = { at, stop };
  }

  stop(): void {
    this.#set?.stop();
    this.#set = undefined;
  }
}
