/**
 * One step under way: the only mutable thing in the core, alive for one call. It starts from a state, collects what
 * changes, and becomes the next state or is thrown away.
 *
 * W1. The state it starts from is never changed: lists are replaced, not edited.
 * W2. Everything it starts is named by (seq, index), so the same step always makes the same names.
 */
import {
  type Chart,
  type Configuration,
  findNode,
  type Plan,
  type SendRequest,
  type StateNode,
  type StepScope,
} from "./chart.ts";
import { describeError } from "./describe-error.ts";
import type { Address, CancelEffect, Effect } from "./effect.ts";
import {
  communicationErrorType,
  compensationId,
  compensationName,
  doneInvokeType,
  type Event,
  executionErrorType,
} from "./event.ts";
import type { History } from "./history.ts";
import { freeze, freezeDeep, type Json, type JsonObject } from "./json.ts";
import { admitData } from "./payload.ts";
import type { Activity, Child, Compensation, State, Timer } from "./state.ts";
import { withPolicy } from "./timer.ts";
import { Tracer } from "./trace.ts";
import type { Write } from "./writes.ts";

export interface StepOptions {
  /** Now, in milliseconds since 1970: the only clock a step has. */
  readonly at: number;
  /** Also return the trace. */
  readonly trace?: boolean;
  /** The run's id, for data models that show it. */
  readonly run?: string;
  /** Facts about the platform for the data model. */
  readonly environment?: JsonObject;
  /**
   * Whether an address other than a child exists, asked while stepping: a send to one that does not raises
   * `error.communication` inside the step, as SCXML wants it. Without this, whoever delivers the send reports its
   * failure as an event.
   */
  readonly reachable?: (to: Address) => boolean;
}

/** Of a step that makes its event itself. */
export interface AskedOptions extends StepOptions {
  /** Who asks for it, as that event is to tell: its `by`. */
  readonly by?: string;
}

const noEnvironment: JsonObject = Object.freeze({});
const nothing: readonly never[] = Object.freeze([]);
/** What the child would say that had nothing to undo. */
const nothingUndone: Event = freezeDeep({
  type: doneInvokeType(compensationId),
  kind: "platform",
  invokeId: compensationId,
  data: { undone: [], failed: [] },
});

export class Work implements StepScope {
  readonly chart: Chart;
  readonly options: StepOptions;
  /** The state it starts from. */
  readonly before: State;
  /** The state a refusal goes back to: the one before, without a timer that has fired. */
  spent: State;
  readonly seq: number;
  readonly tracer: Tracer | undefined;
  configuration: Configuration;
  /** The event the step is about, and the one that handlers see: the same, until others follow from it. */
  readonly given: Event;
  event: Event;
  context: JsonObject;
  old: JsonObject;
  /** The context that is known to fit its schema. */
  fitting: JsonObject;
  session: unknown = undefined;
  history: History;
  timers: readonly Timer[];
  activities: readonly Activity[];
  children: readonly Child[];
  deferred: readonly Event[];
  /** Undefined while there are none. */
  compensations: readonly Compensation[] | undefined;
  maps: State["maps"];
  effects: Effect[] | readonly never[] = nothing;
  /** Internal events, in order; undefined while there are none. */
  queue: Event[] | undefined = undefined;
  /** States entered in this macrostep whose invocations start at its end. */
  entered: StateNode[] | undefined = undefined;
  writes: Write[] | undefined = undefined;
  errors: Event[] | readonly never[] = nothing;
  dropped: readonly Event[] = nothing;
  /** The microstep under way and how far it got: what is active in between depends on it. */
  plan: Plan | undefined = undefined;
  exitedCount = 0;
  enteredCount = 0;
  microsteps = 0;
  /** The last microsteps before the bound, as they are shown. */
  loop: string[] | undefined = undefined;
  private keys = 0;

  constructor(chart: Chart, state: State, configuration: Configuration, event: Event, options: StepOptions) {
    this.chart = chart;
    this.options = options;
    this.before = state;
    this.spent = state;
    this.seq = state.seq + 1;
    this.tracer = options.trace === true ? new Tracer() : undefined;
    this.configuration = configuration;
    this.given = event;
    this.event = event;
    this.context = state.context;
    this.old = state.context;
    this.fitting = state.context;
    this.history = state.history;
    this.timers = state.timers;
    this.activities = state.activities;
    this.children = state.children;
    this.deferred = state.deferred;
    this.compensations = state.compensations;
    this.maps = state.maps;
  }

  // What handlers and data models see.

  get machineId(): string {
    return this.chart.id;
  }

  get run(): string {
    return this.options.run ?? this.chart.id;
  }

  get at(): number {
    return this.options.at;
  }

  get environment(): JsonObject {
    return this.options.environment ?? noEnvironment;
  }

  in(name: string): boolean {
    const node = findNode(this.chart, name);
    return node !== undefined && this.isActive(node);
  }

  /** While a microstep runs, states leave and arrive one by one. */
  isActive(node: StateNode): boolean {
    if (node.parent === undefined) return true;
    const { plan } = this;
    const was = this.configuration.active.has(node);
    if (plan === undefined) return was;
    if (was) {
      const exit = plan.exits.indexOf(node);
      if (exit < 0 || exit >= this.exitedCount) return true;
    }
    const entry = plan.entries.findIndex((one) => one.node === node);
    return entry >= 0 && entry < this.enteredCount;
  }

  /** Errors are events: `error.execution`, with what is known of the error as data. */
  fail(error: unknown, sendId?: string): void {
    this.raiseError(executionErrorType, describeError(error), sendId);
  }

  private raiseError(type: string, data: Json, sendId: string | undefined): void {
    const event: Event = { type, kind: "platform", data, ...(sendId === undefined ? {} : { sendId }) };
    if (this.errors === nothing) this.errors = [];
    (this.errors as Event[]).push(freezeDeep(event));
    this.enqueue(event);
  }

  // What actions do.

  raise(event: Event): void {
    this.enqueue(freeze({ ...admitData(this.chart, event), kind: "internal" }));
  }

  announce(event: Event): void {
    this.enqueue(freeze({ ...event, kind: "platform" }));
  }

  enqueue(event: Event): void {
    if (this.queue === undefined) this.queue = [event];
    else this.queue.push(event);
  }

  send({ event, to, via, delayMs, resume, id }: SendRequest): void {
    const sent: Event = id === undefined ? event : freeze({ ...event, sendId: id });
    if (to === "internal") this.raise(sent);
    else if (delayMs > 0) this.schedule(delayMs, resume, sent, to, via);
    else this.dispatch(this.nextKey(), sent, to, via);
  }

  /** Sends an event now, if there is anybody to take it. */
  dispatch(key: string, event: Event, to: Exclude<Address, "internal">, via: string | undefined): void {
    const isChild = typeof to === "object" && "child" in to;
    const exists = isChild
      ? this.children.some(({ id }) => id === to.child)
      : this.options.reachable?.(to) !== false;
    if (!exists) {
      const message = `There is nobody at ${JSON.stringify(to)}`;
      this.raiseError(communicationErrorType, { message }, event.sendId);
    } else this.effect({ type: "send", key, to, ...(via === undefined ? {} : { via }), event });
  }

  private schedule(
    delayMs: number,
    resume: Timer["resume"],
    event: Event,
    to: Exclude<Address, "internal">,
    via: string | undefined,
  ): void {
    const { at } = this.options;
    const timer = {
      key: this.nextKey(),
      ...(event.sendId === undefined ? {} : { id: event.sendId }),
      due: at + delayMs,
      event,
      ...(to === "self" ? {} : { to }),
      ...(via === undefined ? {} : { via }),
    };
    this.addTimer(withPolicy<Timer>(timer, resume, at, delayMs));
  }

  addTimer(timer: Timer): void {
    this.timers = freeze([...this.timers, freeze(timer)]);
    this.effect({ type: "timer", key: timer.key, due: timer.due });
  }

  cancelSends(id: string): void {
    this.cancelTimers((timer) => timer.id === id && timer.state === undefined);
  }

  emit(event: Event): void {
    this.effect({ type: "emit", event });
  }

  log(label: string | undefined, data: Json | undefined): void {
    this.effect({
      type: "log",
      ...(label === undefined ? {} : { label }),
      ...(data === undefined ? {} : { data }),
    });
  }

  spawn(machine: string, id: string | undefined, input: Json | undefined): void {
    const key = this.nextKey();
    this.addChild({ key, id: id ?? key, machine }, input);
  }

  addChild(child: Child, input: Json | undefined): void {
    this.children = freeze([...this.children, freeze(child)]);
    const { key, id, machine } = child;
    this.effect({ type: "spawn", key, id, machine, ...(input === undefined ? {} : { input }) });
  }

  addActivity(activity: Activity, input: Json | undefined, options: JsonObject): void {
    this.activities = freeze([...this.activities, freeze(activity)]);
    const { key, id, activity: name } = activity;
    this.effect({
      type: "activity",
      key,
      id,
      activity: name,
      ...(input === undefined ? {} : { input }),
      options,
    });
  }

  reply(to: string, data: Json): void {
    this.effect({ type: "reply", to, data });
  }

  addCompensation(compensation: Compensation): void {
    this.compensations = freeze([...(this.compensations ?? []), freeze(compensation)]);
  }

  compensate(): void {
    const input = this.takeCompensations();
    const machine = compensationName(this.chart.id);
    if (input !== undefined) this.spawn(machine, compensationId, input);
    // What is being undone already announces its end by itself.
    else if (!this.children.some((child) => child.machine === machine)) this.enqueue(nothingUndone);
  }

  /** The input of the child that undoes what was recorded, the last one first; nothing stays recorded. */
  takeCompensations(): Json | undefined {
    const { compensations } = this;
    this.compensations = undefined;
    if (compensations === undefined) return undefined;
    return freeze({ steps: freeze(compensations.toReversed()) }) as unknown as Json;
  }

  stop(id: string): void {
    this.cancelChildren((child) => child.id === id);
  }

  wrote(node: StateNode, before: JsonObject, after: JsonObject): void {
    if (this.writes === undefined) this.writes = [];
    this.writes.push({ node, before, after });
  }

  effect(effect: Effect): void {
    if (this.effects === nothing) this.effects = [];
    (this.effects as Effect[]).push(freeze(effect));
  }

  nextKey(): string {
    return `${this.seq}.${this.keys++}`;
  }

  // What ends.

  cancelTimers(which: (timer: Timer) => boolean): void {
    this.timers = this.cancelFrom(this.timers, which, "timer");
  }

  cancelActivities(which: (activity: Activity) => boolean): void {
    this.activities = this.cancelFrom(this.activities, which, "activity");
  }

  cancelChildren(which: (child: Child) => boolean): void {
    this.children = this.cancelFrom(this.children, which, "child");
  }

  private cancelFrom<Item extends { readonly key: string; readonly id?: string }>(
    items: readonly Item[],
    which: (item: Item) => boolean,
    of: CancelEffect["of"],
  ): readonly Item[] {
    if (!items.some(which)) return items;
    for (const { key, id } of items.filter(which)) {
      this.effect({ type: "cancel", of, key, ...(id === undefined ? {} : { id }) });
    }
    return without(items, which);
  }

  /** The state this work came to. */
  result(status: State["status"], output: Json | undefined): State {
    const { chart, compensations, maps } = this;
    const state: State = {
      machine: chart.id,
      version: chart.version,
      status,
      seq: this.seq,
      configuration: this.configuration.paths,
      context: this.context,
      history: this.history,
      timers: this.timers,
      activities: this.activities,
      children: this.children,
      deferred: this.deferred,
    };
    if (output === undefined && compensations === undefined && maps === undefined) return freeze(state);
    return freeze({
      ...state,
      ...(compensations === undefined ? {} : { compensations }),
      ...(maps === undefined ? {} : { maps }),
      ...(output === undefined ? {} : { output }),
    });
  }
}

/** A list without some of its items; the shared empty list when nothing is left. */
export function without<Item>(items: readonly Item[], which: (item: Item) => boolean): readonly Item[] {
  const rest = items.filter((item) => !which(item));
  return rest.length === 0 ? nothing : freeze(rest);
}

/** A state before its first step: nothing active, nothing pending. */
export function blankState(chart: Chart): State {
  return {
    machine: chart.id,
    version: chart.version,
    status: "active",
    seq: 0,
    configuration: nothing,
    context: noEnvironment,
    history: noEnvironment as History,
    timers: nothing,
    activities: nothing,
    children: nothing,
    deferred: nothing,
  };
}
