/** A clock that stands still until it is told otherwise: a test of a year takes milliseconds. */
import { durationMs } from "../core/duration.ts";
import type { Clock } from "../runtime/clock.ts";

interface Alarm {
  readonly at: number;
  readonly run: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  readonly #alarms = new Set<Alarm>();
  readonly #rest: () => Promise<void>;

  /** `rest` resolves when nothing is under way any more; without it, promises are all there is to wait for. */
  constructor(now = 0, rest = settlePromises) {
    this.#now = now;
    this.#rest = rest;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const alarm = { at: this.#now + Math.max(0, ms), run };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  soon(run: () => void): void {
    void Promise.resolve().then(run);
  }

  /** Lets time pass, alarm by alarm, and everything that follows from each come to rest before the next. */
  async advance(duration: number | string): Promise<void> {
    const until = this.#now + durationMs(duration);
    await this.#rest();
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#alarms.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.run();
      await this.#rest();
    }
    this.#now = until;
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
