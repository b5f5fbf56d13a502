/**
 * What a run must do with its timers, said once more: a plain interpreter of plans that knows nothing of Holdfast. It is
 * fed with the journal, step by step, and holds every step against what could have happened then.
 *
 * T1. A timer fires when it is due or later, by the clock at the time of its step.
 * T2. It fires once; one that was cancelled does not.
 * T3. Timers that do not run on while nobody is there are due when the outages say.
 */
import type { Plan, Policy, StatePlan } from "./plan.ts";

/** A time in which nobody was there. */
export interface Outage {
  readonly from: number;
  readonly until: number;
}

export interface PendingTimer {
  /** What its event is known by. */
  readonly label: string;
  readonly set: number;
  readonly ms: number;
  readonly policy: Policy;
  readonly id: string | undefined;
  /** The region or state that takes it along when it is left. */
  readonly owner: string | undefined;
  /** The run that its event is for, if it is another one. */
  readonly to: string | undefined;
}

/** What is looked at of an entry of the journal. */
export interface Step {
  readonly seq: number;
  readonly at: number;
  readonly outcome: string;
  readonly event: { readonly type: string; readonly data?: unknown; readonly timer?: string };
}

export interface Counts {
  set: number;
  fired: number;
  cancelled: number;
  /** Sent to other runs. */
  sent: number;
  /** Moved by an outage before they fired. */
  moved: number;
}

/** What a world tells its models, and hears of them. */
export interface ModelWorld {
  readonly counts: Counts;
  readonly outages: readonly Outage[];
  /** Whether outages are known for certain: a clock that is set back makes them a matter of opinion. */
  readonly exact: boolean;
  /** An event left for another run, or came from one. */
  sent(label: string, to: string): void;
  received(label: string, by: string): void;
  violated(rule: string, what: string): void;
}

const idle = -1;

export class RunModel {
  readonly name: string;
  readonly plan: Plan;
  readonly peer: string;
  readonly #world: ModelWorld;
  pending: PendingTimer[] = [];
  seq = 0;
  ended = false;
  /** The outside events it has taken. */
  readonly heard = new Set<string>();
  #quiet = false;
  #active: number[] = [];
  #entries: number[] = [];

  constructor(plan: Plan, name: string, peer: string, world: ModelWorld) {
    this.name = name;
    this.plan = plan;
    this.peer = peer;
    this.#world = world;
  }

  /** When a timer is due, as far as is known at this time. */
  due(timer: PendingTimer, at: number): number {
    const { exact, outages } = this.#world;
    // The last sign of life comes before a death: what fired in between was right to.
    return dueAfter(timer, exact ? outages.filter(({ until }) => until <= at) : []);
  }

  /** Takes the next step of the journal. */
  take({ seq, at, outcome, event }: Step): void {
    if (seq !== this.seq + 1) this.#violated("journal", `jumps from ${this.seq} to ${seq}`);
    this.seq = seq;
    const { n } = (event.data ?? {}) as { n?: string };
    if (n !== undefined && event.type !== "ring") this.#note(n);
    if (outcome !== "taken") return;
    if (event.timer !== undefined) this.#fire(event, at);
    else this.#hear(event, at);
  }

  #note(n: string): void {
    if (this.heard.has(n)) this.#violated("once", `${n} was taken twice`);
    this.heard.add(n);
  }

  #hear({ type, data }: Step["event"], at: number): void {
    const {
      n,
      region = 0,
      to = 0,
      id,
    } = (data ?? {}) as { n?: string; region?: number; to?: number; id?: string };
    if (type === "ring") this.#world.received(n as string, this.name);
    else if (type === "start") this.#begin(at);
    else if (type === "set")
      this.#set({ ...(data as PendingTimer), label: n as string, owner: undefined }, at);
    else if (type === "cancel") this.#cancel((timer) => timer.id === id && timer.owner === undefined);
    else if (type === "go") this.#move(region, to, at);
    else if (type === "quiet") this.#quiet = true;
    else if (type === "finish") this.#end();
    else if (type === "reset") this.#begin(at);
  }

  /** Regions are left and entered together: what contains them is parallel. */
  #begin(at: number): void {
    const regions = [...this.plan.regions.keys()];
    for (const region of regions) this.#leave(region);
    this.#cancel(({ owner }) => owner !== undefined);
    for (const region of regions) this.#enterRegion(region, at);
  }

  /** A timer of this label fires: there must be one, and it must be due. */
  #fire({ type, data }: Step["event"], at: number): void {
    const label = type === "ring" ? (data as { n: string }).n : type;
    const timer = this.pending.find((one) => one.label === label);
    if (timer === undefined) {
      this.#violated("T2", `${label} fired, and is not pending`);
      return;
    }
    const due = this.due(timer, at);
    if (at < due) this.#violated("T1", `${label} fired at ${at}, ${due - at} ms early`);
    this.#world.counts.fired++;
    if (due > timer.set + timer.ms) this.#world.counts.moved++;
    this.pending = this.pending.filter((one) => one !== timer);
    if (timer.to !== undefined) {
      this.#world.counts.sent++;
      this.#world.sent(label, timer.to);
    }
    const [, region, state, index] = /^after\.live\.r(\d+)(?:\.s(\d+))?\.(\d+)$/.exec(label) ?? [];
    if (region === undefined || state === undefined) return;
    const { to } = this.#state(Number(region), Number(state)).delays[Number(index)] as { to: number };
    this.#move(Number(region), this.#quiet ? idle : to, at);
  }

  #move(region: number, to: number, at: number): void {
    if (region >= this.plan.regions.length || to >= (this.plan.regions[region]?.states.length ?? 0)) return;
    this.#leave(region);
    this.#enter(region, to, at);
  }

  #leave(region: number): void {
    const state = this.#active[region] ?? idle;
    if (state === idle) return;
    for (const id of this.#state(region, state).cancels)
      this.#cancel((timer) => timer.id === id && timer.owner === undefined);
    this.#cancel(({ owner }) => owner === `live.r${region}.s${state}`);
  }

  #enterRegion(region: number, at: number): void {
    const owner = `live.r${region}`;
    for (const [index, { ms, policy }] of (this.plan.regions[region]?.delays ?? []).entries())
      this.#set({ label: `after.${owner}.${index}`, ms, policy, owner, id: undefined, to: undefined }, at);
    this.#enter(region, 0, at);
  }

  #enter(region: number, state: number, at: number): void {
    this.#active[region] = state;
    if (state === idle) return;
    const entries = (this.#entries[region] ?? 0) + 1;
    this.#entries[region] = entries;
    const { sends, delays } = this.#state(region, state);
    for (const [index, { to, ...send }] of sends.entries()) {
      const label = `${this.name} ${region} ${entries} ${index}`;
      const peer = to === "peer" ? this.peer : undefined;
      if (!this.#quiet) this.#set({ ...send, label, owner: undefined, to: peer }, at);
    }
    const owner = `live.r${region}.s${state}`;
    for (const [index, { ms, policy }] of delays.entries())
      this.#set({ label: `after.${owner}.${index}`, ms, policy, owner, id: undefined, to: undefined }, at);
  }

  #state(region: number, state: number): StatePlan {
    return this.plan.regions[region]?.states[state] as StatePlan;
  }

  #end(): void {
    this.#cancel(() => true);
    this.ended = true;
  }

  #set(timer: Omit<PendingTimer, "set">, at: number): void {
    const { label, ms, policy, id, owner, to } = timer;
    this.pending.push({ label, ms, policy, id, owner, to, set: at });
    this.#world.counts.set++;
  }

  #cancel(isMeant: (timer: PendingTimer) => boolean): void {
    const kept = this.pending.filter((timer) => !isMeant(timer));
    this.#world.counts.cancelled += this.pending.length - kept.length;
    this.pending = kept;
  }

  #violated(rule: string, what: string): void {
    this.#world.violated(rule, `${this.name}, step ${this.seq}: ${what}`);
  }
}

/** T3, by going through time: what remains only shrinks while somebody is there; a restart begins with each return. */
export function dueAfter(
  { set, ms, policy }: Pick<PendingTimer, "set" | "ms" | "policy">,
  outages: readonly Outage[],
): number {
  let now = set;
  let left = ms;
  for (const { from, until } of policy === "deadline" ? [] : outages) {
    if (until <= now) continue;
    const awake = Math.max(0, from - now);
    if (awake >= left) break;
    left = policy === "remaining" ? left - awake : ms;
    now = until;
  }
  return now + left;
}
