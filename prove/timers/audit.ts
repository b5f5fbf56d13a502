/**
 * The audit of a world: it reads journals and states through the runtime, feeds the models with them, and says where the
 * two disagree.
 *
 * T5. Whatever is pending for the model is pending in the state, with the same due time, and the other way round.
 * T6. Once the clock has passed a timer and nothing has disturbed the runtime for a while, it has fired.
 * T7. What a timer sends to another run is taken there, or becomes a dead letter, once.
 */
import { isHoldfastError, type Run, type Runtime, type State } from "../../src/index.ts";
import type { ModelWorld, Outage, RunModel, Step } from "./model.ts";
import type { ScheduleModel, ScheduleStep } from "./schedule-model.ts";
import { second } from "./span.ts";
import { emptyTally } from "./tally.ts";

/** How late a timer may be: an alarm sleeps five seconds at most, and a run that is busy is asked again after one. */
const lateMs = 7 * second;

export class Audit implements ModelWorld {
  readonly counts = emptyTally();
  readonly outages: Outage[] = [];
  readonly violations: string[] = [];
  readonly models: RunModel[] = [];
  readonly schedules: ScheduleModel[] = [];
  readonly exact: boolean;
  /** Outside events that were acknowledged, and the runs they were for. */
  readonly acked = new Map<string, RunModel>();
  readonly #sent = new Map<string, string>();
  readonly #received = new Map<string, string>();
  readonly #ticks = new Map<string, number[]>();
  #ticksSeq = 0;

  /** Outages are known for certain where clocks are never set back. */
  constructor(exact: boolean) {
    this.exact = exact;
  }

  sent(label: string, to: string): void {
    this.#sent.set(label, to);
  }

  received(label: string, by: string): void {
    if (this.#received.has(label)) this.violated("T7", `${label} came twice`);
    this.#received.set(label, by);
  }

  violated(rule: string, what: string): void {
    this.violations.push(`${rule}: ${what}`);
  }

  /** Reads on in all journals. */
  async read(runtime: Runtime): Promise<void> {
    for (const model of this.models) {
      const run = await find(runtime, model.name);
      for await (const entry of run?.journal(model.seq + 1) ?? []) {
        model.take(entry as Step);
        this.counts.steps++;
      }
    }
    for (const schedule of this.schedules) {
      const run = await find(runtime, schedule.spec.id);
      for await (const entry of run?.journal(schedule.seq + 1) ?? []) schedule.take(entry as ScheduleStep);
    }
    const notebook = await find(runtime, "notebook");
    for await (const { seq, event } of notebook?.journal(this.#ticksSeq + 1) ?? []) {
      this.#ticksSeq = seq;
      if (event.type === "tick") this.#tick(event.data as unknown as { schedule: string; due: number });
    }
  }

  #tick({ schedule, due }: { schedule: string; due: number }): void {
    const ticks = this.#ticks.get(schedule) ?? [];
    ticks.push(due);
    this.#ticks.set(schedule, ticks);
  }

  /** Holds all states against the models, after a while in peace; `calmSince` is how long. */
  async check(runtime: Runtime, now: number, calmSince: number): Promise<void> {
    await this.read(runtime);
    for (const model of this.models) {
      const run = await find(runtime, model.name);
      if (run !== undefined) this.#checkTimers(model, await run.state(), now);
    }
    for (const schedule of this.schedules)
      schedule.checkAtRest(now - lateMs, this.exact ? calmSince + lateMs : undefined);
  }

  #checkTimers(model: RunModel, { timers, status }: State, now: number): void {
    const where = `${model.name} at ${now}`;
    if ((status === "active") === model.ended) this.violated("T5", `${where} is ${status}`);
    const stored = timers.map(({ event, due }) => [labelOf(event), due] as const).sort(byLabel);
    const pending = model.pending.map((timer) => [timer.label, model.due(timer, now)] as const).sort(byLabel);
    const labels = (list: readonly (readonly [string, number])[]) => list.map(([label]) => label).join(", ");
    if (labels(stored) !== labels(pending))
      this.violated(
        "T5",
        `${where} has the timers [${labels(stored)}], and should have [${labels(pending)}]`,
      );
    else if (this.exact && stored.some(([, due], index) => due !== pending[index]?.[1]))
      this.violated(
        "T4",
        `${where} has ${JSON.stringify(stored)}, and should have ${JSON.stringify(pending)}`,
      );
    for (const [label, due] of stored)
      if (due <= now - lateMs)
        this.violated("T6", `${where} has not fired ${label}, which was due ${now - due} ms ago`);
  }

  /** Whether a schedule has something to do at once. */
  async isFiring(runtime: Runtime): Promise<boolean> {
    for (const { spec } of this.schedules) {
      const run = await find(runtime, spec.id);
      if ((await run?.state())?.configuration.includes("firing")) return true;
    }
    return false;
  }

  /** When the last timer is due that waits anywhere, and one of those that wait. */
  async pending(runtime: Runtime): Promise<number[]> {
    const dues: number[] = [];
    for (const { name } of this.models) {
      const run = await find(runtime, name);
      for (const { due } of (await run?.state())?.timers ?? []) dues.push(due);
    }
    return dues;
  }

  /** The end: nothing waits any more, and what was sent has come. */
  async checkEnd(runtime: Runtime): Promise<void> {
    for (const { name, pending } of this.models)
      if (pending.length > 0)
        this.violated("T6", `${name} never fired ${pending.map(({ label }) => label).join(", ")}`);
    // A run that has ended, or whose beginning was lost in a crash, takes nothing.
    for await (const { run, event } of runtime.deadLetters.list()) this.received(labelOf(event), run);
    for (const [label, to] of this.#sent)
      if (this.#received.get(label) !== to) this.violated("T7", `${label} never came to ${to}`);
    for (const [label, by] of this.#received)
      if (!this.#sent.has(label)) this.violated("T7", `${label} came to ${by}, and nobody sent it`);
    for (const [n, model] of this.acked)
      if (!model.heard.has(n)) this.violated("I4", `${n} was acknowledged, and ${model.name} never took it`);
    for (const schedule of this.schedules) {
      const { id, starts } = schedule.spec;
      schedule.checkEffects(starts ? await marks(runtime, id) : (this.#ticks.get(id) ?? []));
      this.counts.scheduled += schedule.fired.length;
    }
  }
}

async function find(runtime: Runtime, name: string): Promise<Run | undefined> {
  try {
    return await runtime.run(name);
  } catch (error) {
    if (isHoldfastError(error) && error.code === "RUN_UNKNOWN") return undefined;
    throw error;
  }
}

/** The times in the names of the runs that a schedule started. */
async function marks(runtime: Runtime, schedule: string): Promise<number[]> {
  const times: number[] = [];
  for await (const { run } of runtime.find({ attributes: { schedule } }))
    times.push(Date.parse(run.slice(schedule.length + 1)));
  return times.sort((one, other) => one - other);
}

function labelOf({ type, data }: { readonly type: string; readonly data?: unknown }): string {
  return type === "ring" ? (data as { n: string }).n : type;
}

function byLabel([one]: readonly [string, number], [other]: readonly [string, number]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
