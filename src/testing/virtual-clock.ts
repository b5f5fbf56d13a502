/**
 * A clock that stands still until it is told otherwise: a test of a year takes milliseconds. As with real ones, what time
 * it shows and how long something waits are two things: a clock that is set makes nobody wait longer or shorter.
 */
import { durationMs } from "../core/duration.ts";
import type { Clock } from "../runtime/clock.ts";

interface Alarm {
  /** Of the time that has passed. */
  readonly at: number;
  readonly run: () => void;
}

export class VirtualClock implements Clock {
  /** How much time has passed. */
  #passed = 0;
  /** What the clock showed in the beginning, with all it was set by since. */
  #offset: number;
  readonly #alarms = new Set<Alarm>();
  readonly #rest: () => Promise<void>;

  /** `rest` resolves when nothing is under way any more; without it, promises are all there is to wait for. */
  constructor(now = 0, rest = settlePromises) {
    this.#offset = now;
    this.#rest = rest;
  }

  now(): number {
    return this.#offset + this.#passed;
  }

  /** Sets the clock forward, or back, without any time passing. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  after(ms: number, run: () => void): () => void {
    const alarm = { at: this.#passed + Math.max(0, ms), run };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  soon(run: () => void): void {
    void Promise.resolve().then(run);
  }

  /** Lets time pass, alarm by alarm, and everything that follows from each come to rest before the next. */
  async advance(duration: number | string): Promise<void> {
    const until = this.#passed + durationMs(duration);
    await this.#rest();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#alarms.delete(next);
      this.#passed = Math.max(this.#passed, next.at);
      next.run();
      await this.#rest();
    }
    this.#passed = until;
    await this.#rest();
  }

  #next(until: number): Alarm | undefined {
    let next: Alarm | undefined;
    for (const alarm of this.#alarms) {
      if (alarm.at <= until && (next === undefined || alarm.at < next.at)) next = alarm;
    }
    return next;
  }
}

/** How many turns of promises are given to what is under way: far more than any chain of them here has. */
const turns = 200;

async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
}
