/** One alarm for everything that is due some day: it rings at the earliest time it was set to. */
import type { Clock } from "./clock.ts";

/**
 * How long it sleeps at most. Clocks are set forwards and back, laptops sleep, and timers of the system count neither:
 * so it looks at the time again and again, and is late by no more than this.
 */
const sleepMsMax = 5_000;

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #at: number | undefined;
  #stop: () => void = () => {};

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Makes sure it rings at this time or before. */
  set(at: number): void {
    if (this.#at !== undefined && this.#at <= at) return;
    this.stop();
    this.#at = at;
    this.#sleep(at);
  }

  stop(): void {
    this.#stop();
    this.#at = undefined;
  }

  #sleep(at: number): void {
    const ms = Math.min(at - this.#clock.now(), sleepMsMax);
    this.#stop = this.#clock.after(ms, () => {
      if (this.#clock.now() < at) return this.#sleep(at);
      this.#at = undefined;
      this.#ring();
    });
  }
}
