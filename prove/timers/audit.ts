/**
 * The audit of a world: it reads what is stored, without touching any runtime, feeds the models with it, and says where
 * the two disagree.
 *
 * T4. Whatever is pending for the model is pending in the state, with the same due time, and the other way round.
 * T5. Once the clock has passed a timer and nothing has disturbed the runtime for a while, it has fired.
 * T6. What a timer sends to another run is taken there, or becomes a dead letter, once.
 */
import type { Event, State } from "../../src/index.ts";
import { Past } from "../../src/runtime/live/past.ts";
import { noSeal } from "../../src/runtime/seal.ts";
import { decode } from "../../src/store/codec.ts";
import type { Entry } from "../../src/store/journal.ts";
import type { Store } from "../../src/store/store.ts";
import type { ModelWorld, Outage, RunModel } from "./model.ts";
import type { ScheduleModel } from "./schedule-model.ts";
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
    if (this.#received.has(label)) this.violated("T6", `${label} came twice`);
    this.#received.set(label, by);
  }

  violated(rule: string, what: string): void {
    this.violations.push(`${rule}: ${what}`);
  }

  /** Reads on in all journals. */
  async read(store: Store): Promise<void> {
    for (const model of this.models)
      for await (const entry of entries(store, model.name, model.seq + 1)) {
        model.take(entry);
        this.counts.steps++;
      }
    for (const schedule of this.schedules)
      for await (const entry of entries(store, schedule.spec.id, schedule.seq + 1)) schedule.take(entry);
    for await (const { seq, event } of entries(store, "notebook", this.#ticksSeq + 1)) {
      this.#ticksSeq = seq;
      if (event.type === "tick") this.#tick(event.data as unknown as { schedule: string; due: number });
    }
  }

  #tick({ schedule, due }: { schedule: string; due: number }): void {
    const ticks = this.#ticks.get(schedule) ?? [];
    ticks.push(due);
    this.#ticks.set(schedule, ticks);
  }

  /**
   * Holds all states against the models, after a while in peace. `told`: whether all runs have been in memory since the
   * last outage, and so know of it.
   */
  async check(store: Store, now: number, { told, calmSince }: Peace): Promise<void> {
    await this.read(store);
    for (const model of this.models) {
      const state = await stateOf(store, model.name);
      if (state !== undefined) this.#checkTimers(model, state, now, told);
    }
    for (const schedule of this.schedules)
      schedule.checkAtRest(now - lateMs, this.exact ? calmSince + lateMs : undefined);
  }

  #checkTimers(model: RunModel, { timers, status }: State, now: number, told: boolean): void {
    const where = `${model.name} at ${now}`;
    if ((status === "active") === model.ended) this.violated("T4", `${where} is ${status}`);
    const stored = timers.map(({ event, due }) => ({ label: labelOf(event), due })).sort(byLabel);
    const pending = model.pending.map((timer) => ({ ...timer, due: model.due(timer, now) })).sort(byLabel);
    const labels = (list: readonly { readonly label: string }[]) => list.map(({ label }) => label).join(", ");
    if (labels(stored) !== labels(pending)) {
      this.violated(
        "T4",
        `${where} has the timers [${labels(stored)}], and should have [${labels(pending)}]`,
      );
      return;
    }
    for (const [index, { label, due, policy }] of pending.entries()) {
      const known = stored[index]?.due as number;
      // Where clocks are set back the model does not know what outages there were, but the run does.
      const expected = this.exact ? due : known;
      if (this.exact && told && known !== due)
        this.violated("T3", `${where} has ${label} due ${known}, and it should be ${due}`);
      if (expected <= now - lateMs && (this.exact || told || policy === "deadline"))
        this.violated("T5", `${where} has not fired ${label}, which was due ${now - expected} ms ago`);
    }
  }

  /** Whether a schedule has something to do at once. */
  async isFiring(store: Store): Promise<boolean> {
    for (const { spec } of this.schedules)
      if ((await stateOf(store, spec.id))?.configuration.includes("firing")) return true;
    return false;
  }

  /** When the timers are due that wait anywhere. */
  async pending(store: Store): Promise<number[]> {
    const states = await Promise.all(this.models.map(({ name }) => stateOf(store, name)));
    return states.flatMap((state) => state?.timers ?? []).map(({ due }) => due);
  }

  /** The end: nothing waits any more, and what was sent has come. */
  async checkEnd(store: Store): Promise<void> {
    for (const { name, pending } of this.models)
      if (pending.length > 0)
        this.violated("T5", `${name} never fired ${pending.map(({ label }) => label).join(", ")}`);
    // A run that has ended, or whose beginning was lost in a crash, takes nothing.
    for (const row of await store.readDeadLetters("default", 0, Number.MAX_SAFE_INTEGER))
      this.received(labelOf(decode(row.bytes, "a dead letter") as unknown as Event), row.run);
    for (const [label, to] of this.#sent)
      if (this.#received.get(label) !== to) this.violated("T6", `${label} never came to ${to}`);
    for (const [label, by] of this.#received)
      if (!this.#sent.has(label)) this.violated("T6", `${label} came to ${by}, and nobody sent it`);
    for (const [n, model] of this.acked)
      if (!model.heard.has(n)) this.violated("I4", `${n} was acknowledged, and ${model.name} never took it`);
    for (const schedule of this.schedules) {
      const { id, starts } = schedule.spec;
      schedule.checkEffects(starts ? await marks(store, id) : (this.#ticks.get(id) ?? []));
      this.counts.scheduled += schedule.fired.length;
    }
  }
}

/** What is known of the peace in which a world is looked at. */
interface Peace {
  readonly told: boolean;
  readonly calmSince: number;
}

const nameOf = (run: string) => ({ tenant: "default", run });

async function* entries(store: Store, name: string, from: number): AsyncGenerator<Entry> {
  const head = await store.readHead(nameOf(name));
  if (head !== undefined && head.seq >= from) yield* new Past(store, noSeal).entries(head, from);
}

async function stateOf(store: Store, name: string): Promise<State | undefined> {
  const loaded = await store.load(nameOf(name));
  if (loaded === undefined) return undefined;
  return (await new Past(store, noSeal).rebuild(loaded)).state as unknown as State;
}

/** The times in the names of the runs that a schedule started. */
async function marks(store: Store, schedule: string): Promise<number[]> {
  const query = { tenant: "default", attributes: { schedule }, limit: 1_000_000 };
  const heads = await store.findRuns(query);
  return heads.map(({ run }) => Date.parse(run.slice(schedule.length + 1))).sort((one, other) => one - other);
}

function labelOf({ type, data }: { readonly type: string; readonly data?: unknown }): string {
  return type === "ring" ? (data as { n: string }).n : type;
}

function byLabel(
  { label: one }: { readonly label: string },
  { label: other }: { readonly label: string },
): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
