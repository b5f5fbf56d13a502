/**
 * What a schedule must do, held against an almanac. It is fed with the journal of the schedule's run.
 *
 * S1. Every time it fires takes effect once.
 * S2. Times only grow, and none is fired before the clock has reached it.
 * S4. Every time it fires is one of its pattern.
 * S5. After a while in peace nothing is left to make up for.
 */
import { limits } from "../../src/index.ts";
import { Almanac, type Rule } from "./almanac.ts";
import type { Counts } from "./model.ts";

export interface ScheduleSpec {
  readonly id: string;
  readonly rule: Rule;
  readonly zone: string;
  readonly catchUp: "one" | "all" | "none";
  readonly starts: boolean;
}

export interface ScheduleStep {
  readonly seq: number;
  readonly at: number;
  readonly event: { readonly type: string; readonly timer?: string };
  readonly effects: readonly { readonly type: string; readonly of?: string; readonly input?: unknown }[];
}

export class ScheduleModel {
  readonly spec: ScheduleSpec;
  readonly fired: number[] = [];
  seq = 0;
  #setAt = 0;
  #stopped = false;
  /** The time it was firing when it was stopped: that may or may not have taken effect. */
  #interrupted: number | undefined;
  readonly #almanac: Almanac;
  readonly #counts: Counts;
  readonly #violated: (rule: string, what: string) => void;

  constructor(spec: ScheduleSpec, counts: Counts, violated: (rule: string, what: string) => void) {
    this.spec = spec;
    this.#almanac = new Almanac(spec.rule, spec.zone);
    this.#counts = counts;
    this.#violated = (rule, what) => violated(rule, `${spec.id} (${spec.rule.cron} ${spec.zone}): ${what}`);
  }

  take({ seq, at, event, effects }: ScheduleStep): void {
    this.seq = seq;
    if (event.type === "start") this.#setAt = at;
    if (event.type === "stop") this.#stopped = true;
    if (event.timer !== undefined) this.#counts.fired++;
    for (const { type, of, input } of effects) {
      if (type === "timer") this.#counts.set++;
      else if (type === "cancel" && of === "timer") this.#counts.cancelled++;
      else if (type === "cancel") this.#interrupted = this.fired.pop();
      else if (type === "activity") this.#fire((input as { due: number }).due, at);
    }
  }

  #fire(due: number, at: number): void {
    const { catchUp } = this.spec;
    const before = this.fired.at(-1);
    this.fired.push(due);
    if (due > at) this.#violated("S2", `${due} was fired ${due - at} ms early`);
    if (!this.#almanac.has(due)) this.#violated("S4", `${due} is no time of it`);
    if (before !== undefined && due <= before) this.#violated("S2", `${due} was fired after ${before}`);
    if (catchUp === "none" && at - due > limits.missedAfterMs)
      this.#violated("S5", `${due} was fired ${at - due} ms late`);
    if (catchUp === "all" && before !== undefined && !this.#follows(before, due, at))
      this.#violated("S5", `${due} was fired after ${before}, and times in between were not`);
  }

  /** Whether nothing was left out in between, or no more than had to be: as many as a schedule makes up for are left. */
  #follows(before: number, due: number, at: number): boolean {
    if (this.#almanac.next(before) === due) return true;
    let left = 0;
    for (
      let time: number | undefined = due;
      time !== undefined && time <= at;
      time = this.#almanac.next(time)
    )
      left++;
    return left === limits.catchUpMax;
  }

  /** Nothing of what came before `now` is left; `calmSince` is from when on nothing disturbed it, if that is known. */
  checkAtRest(now: number, calmSince: number | undefined): void {
    const last = this.#almanac.last(now);
    if (this.seq === 0 || this.#stopped || last === undefined || last <= this.#setAt) return;
    if (this.spec.catchUp === "none" && (calmSince === undefined || last <= calmSince)) return;
    const newest = this.fired.at(-1);
    if (newest === undefined || newest < last)
      this.#violated("S5", `at ${now} it has fired up to ${newest}, and ${last} is over`);
  }

  /** What took effect, in the order it did. */
  checkEffects(given: readonly number[]): void {
    const effects = given.filter((due) => due !== this.#interrupted);
    const same =
      effects.length === this.fired.length && effects.every((due, index) => due === this.fired[index]);
    if (!same)
      this.#violated("S1", `fired ${this.fired.join(" ")}, and what took effect is ${effects.join(" ")}`);
  }
}
