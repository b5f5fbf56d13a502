/**
 * A clock that stands still until it is told otherwise: a test of a year takes milliseconds. As with real ones, what time
 * it shows and how long something waits are two things: a clock that is set makes nobody wait longer or shorter.
 *
 * Alarms that only wind themselves up again, to look at the time, would make a year long after all. A clock that is told
 * when something is due next lets such alarms ring then, and not before: nothing would have come of them.
 */
import { durationMs } from "../core/duration.ts";
import type { Clock } from "../runtime/clock.ts";

interface Alarm {
  /** Of the time that has passed. */
  readonly at: number;
  readonly ms: number;
  readonly run: () => void;
  /** It may wait until something else happens. */
  readonly idle: boolean;
}

/** What a clock needs to know of those who live by it. */
export interface Surroundings {
  /** Resolves when nothing is under way any more. */
  rest(): Promise<void>;
  /** The next time on this clock at which something is due, if that is known; otherwise every alarm rings in its time. */
  nextDue?(): Promise<number | undefined>;
}

export class VirtualClock implements Clock {
  /** How much time has passed. */
  #passed = 0;
  /** What the clock showed in the beginning, with all it was set by since. */
  #offset: number;
  #ringing: Alarm | undefined;
  readonly #alarms = new Set<Alarm>();
  readonly #around: Surroundings;

  /** `rest` resolves when nothing is under way any more; without it, promises are all there is to wait for. */
  constructor(now = 0, rest: Surroundings["rest"] | Surroundings = settlePromises) {
    this.#offset = now;
    this.#around = typeof rest === "function" ? { rest } : rest;
  }

  now(): number {
    return this.#offset + this.#passed;
  }

  /** Sets the clock forward, or back, without any time passing. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  after(ms: number, run: () => void): () => void {
    return this.#add(ms, run, this.#ringing?.ms === ms);
  }

  /** Calls back once so much time has passed, and something else happens or time stops passing. */
  whenIdleAfter(ms: number, run: () => void): () => void {
    return this.#add(ms, run, true);
  }

  #add(ms: number, run: () => void, idle: boolean): () => void {
    const waits = idle && this.#around.nextDue !== undefined;
    const alarm: Alarm = { at: this.#passed + Math.max(0, ms), ms, run, idle: waits };
    this.#alarms.add(alarm);
    return () => this.#alarms.delete(alarm);
  }

  soon(run: () => void): void {
    void Promise.resolve().then(run);
  }

  /** Lets time pass, alarm by alarm, and everything that follows from each come to rest before the next. */
  async advance(duration: number | string): Promise<void> {
    const until = this.#passed + durationMs(duration);
    await this.#around.rest();
    for (let next = await this.#next(until); next !== undefined; next = await this.#next(until)) {
      this.#passed = Math.max(this.#passed, next.at);
      await this.#ring(next.alarm);
    }
    this.#passed = until;
    await this.#around.rest();
  }

  /**
   * Lets others wait without the clock going on, as after a delay that does not count: until this holds, which is asked
   * after every alarm, or for so many milliseconds.
   */
  async stand(ms: number, holds: () => Promise<boolean>): Promise<void> {
    const until = this.#passed + ms;
    const now = this.now();
    while (!(await holds())) {
      const next = await this.#next(until);
      if (next === undefined) return;
      this.#passed = Math.max(this.#passed, next.at);
      this.#offset = now - this.#passed;
      await this.#ring(next.alarm);
    }
  }

  async #ring(alarm: Alarm): Promise<void> {
    this.#alarms.delete(alarm);
    this.#ringing = alarm;
    alarm.run();
    this.#ringing = undefined;
    await this.#around.rest();
  }

  /** The alarm that rings next, and when; none if that is not before then. */
  async #next(until: number): Promise<{ readonly alarm: Alarm; readonly at: number } | undefined> {
    const due = await this.#around.nextDue?.();
    let eager = due === undefined ? until : Math.min(until, Math.max(due - this.#offset, this.#passed));
    for (const { at, idle } of this.#alarms) if (!idle) eager = Math.min(eager, at);
    let next: { readonly alarm: Alarm; readonly at: number } | undefined;
    for (const alarm of this.#alarms) {
      const at = alarm.idle ? Math.max(alarm.at, eager) : alarm.at;
      const isBefore = next === undefined || at < next.at || (at === next.at && alarm.at < next.alarm.at);
      if (at <= until && isBefore) next = { alarm, at };
    }
    return next;
  }
}

/** How many turns of promises are given to what is under way: far more than any chain of them here has. */
const turns = 200;

async function settlePromises(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
}
