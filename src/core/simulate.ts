/**
 * An in-memory interpreter with a virtual clock: runs a machine, its timers, its child machines and the sends between
 * them, synchronously and in a fixed order. Nothing is durable and no time passes but what `advance` is told.
 *
 * M1. Effects are carried out in the order the step gave them, before the next event is taken.
 * M2. Each run takes its events one at a time, the most urgent first, and otherwise in order of arrival.
 * M3. Time moves only when every run is quiet; timers fire in order of their due time, then of their making.
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { compensationMachine } from "./compensation.ts";
import { byPriority } from "./deferral.ts";
import { describeError } from "./describe-error.ts";
import { durationMs } from "./duration.ts";
import type { Address, Effect, EmitEffect, LogEffect, ReplyEffect, SendEffect } from "./effect.ts";
import {
  communicationErrorType,
  compensationName,
  type Event,
  type EventShape,
  settledEvent,
} from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import type { Machine } from "./machine.ts";
import type { State, Timer } from "./state.ts";
import { cancel, type Step, start, step } from "./step.ts";
import type { StepOptions } from "./work.ts";

export interface SimulateOptions<Input = Json> {
  readonly input?: Input;
  /** The virtual time to start at; 0 unless given. */
  readonly at?: number | undefined;
  /** The id of the first run; the machine's id unless given. Children are named after it. */
  readonly run?: string;
  /** Child machines by name, for those the machine does not bring itself. */
  readonly machines?: (name: string) => Machine | undefined;
  /** What activities give back. One that is missing stays pending until `settle` is called for it. */
  readonly activities?: Readonly<Record<string, (input: Json | undefined) => Json | undefined>>;
  readonly environment?: (run: string) => JsonObject;
  /** Sends every state through JSON after every step, as a crash and a restart would. */
  readonly restore?: boolean;
  /** Runs until quiet right away; `false` leaves that to `turn`. */
  readonly settle?: boolean;
  readonly trace?: boolean;
}

/** One thing that happened: a step was taken, or an effect was carried out. */
export interface Turn {
  readonly run: string;
  readonly step?: Step;
  readonly event?: Event;
  readonly effect?: Effect;
  /** A send that goes out of the simulation; whoever drives it may deliver it. */
  readonly outside?: SendEffect;
}

export interface Simulation<Context = JsonObject> {
  /** The first run's state. */
  readonly state: State<Context>;
  readonly now: number;
  readonly logs: readonly (LogEffect & { readonly run: string })[];
  readonly emitted: readonly (EmitEffect & { readonly run: string })[];
  readonly replies: readonly (ReplyEffect & { readonly run: string })[];
  /** The last step of the first run: its outcome, its effects, its trace. */
  readonly last: Step<Context>;
  /** Sends to the first run and runs until quiet. Returns the step the event led to. */
  send(event: string | Event | EventShape): Step<Context>;
  /** Lets time pass, firing timers as they come due. */
  advance(duration: number | string): void;
  /** Puts an event in a run's inbox without running anything. */
  deliver(event: Event, run?: string): void;
  /** Settles an activity that is under way in the first run, by its id. */
  settle(id: string, result: { readonly output?: Json } | { readonly error: Json }): Step<Context>;
  /** Does one single thing; undefined when all is quiet. */
  turn(): Turn | undefined;
  run(id: string): State | undefined;
}

/** Starts a machine in memory, on a virtual clock. */
export function simulate<Context, Ev extends EventShape, Input>(
  machine: Machine<Context, Ev, Input>,
  options: SimulateOptions<Input> = {},
): Simulation<Context> {
  const simulator = new Simulator(machine as unknown as Machine, options as SimulateOptions);
  if (options.settle !== false) simulator.runUntilQuiet();
  return simulator as unknown as Simulation<Context>;
}

interface Run {
  readonly id: string;
  readonly machine: Machine;
  readonly parent: { readonly run: Run; readonly id: string; readonly key: string } | undefined;
  /** Live children by the key of their invocation. */
  readonly children: Map<string, Run>;
  readonly effects: Effect[];
  readonly inbox: Event[];
  state: State;
  last: Step;
}

class Simulator implements Simulation {
  readonly logs: (LogEffect & { readonly run: string })[] = [];
  readonly emitted: (EmitEffect & { readonly run: string })[] = [];
  readonly replies: (ReplyEffect & { readonly run: string })[] = [];
  now: number;
  private readonly options: SimulateOptions;
  private readonly runs = new Map<string, Run>();
  private readonly first: Run;

  constructor(machine: Machine, options: SimulateOptions) {
    this.options = options;
    this.now = options.at ?? 0;
    this.first = this.begin(machine, options.run ?? machine.id, options.input, undefined);
  }

  get state(): State {
    return this.first.state;
  }

  get last(): Step {
    return this.first.last;
  }

  run(id: string): State | undefined {
    return this.runs.get(id)?.state;
  }

  send(event: string | Event | EventShape): Step {
    const sent = (typeof event === "string" ? { type: event } : event) as Event;
    this.deliver(sent);
    let taken = this.first.last;
    this.runUntilQuiet((turn) => {
      if (turn.event === sent && turn.step !== undefined) taken = turn.step;
    });
    return taken;
  }

  deliver(event: Event, run: string = this.first.id): void {
    const target = this.runs.get(run);
    if (target === undefined)
      throw new HoldfastError("EVENT_INVALID", `There is no run ${JSON.stringify(run)} here`);
    target.inbox.push(event);
  }

  settle(id: string, result: { readonly output?: Json } | { readonly error: Json }): Step {
    const activity = this.first.state.activities.find((one) => one.id === id);
    if (activity === undefined) {
      const pending = this.first.state.activities.map((one) => one.id).join(", ") || "none";
      throw new HoldfastError(
        "EVENT_INVALID",
        `There is no activity ${JSON.stringify(id)} under way; pending: ${pending}`,
      );
    }
    return this.send(settledEvent(activity, result));
  }

  advance(duration: number | string): void {
    const until = this.now + durationMs(duration);
    this.runUntilQuiet();
    let firings = 0;
    for (let due = this.nextTimer(until); due !== undefined; due = this.nextTimer(until)) {
      firings = due.timer.due > this.now ? 0 : firings + 1;
      if (firings > limits.turnsMax) throw restless({ run: due.run.id, event: due.timer.event });
      this.now = Math.max(this.now, due.timer.due);
      due.run.inbox.push({ ...due.timer.event, timer: due.timer.key });
      this.runUntilQuiet();
    }
    this.now = until;
  }

  private nextTimer(until: number): { run: Run; timer: Timer } | undefined {
    let next: { run: Run; timer: Timer } | undefined;
    for (const run of this.runs.values()) {
      for (const timer of run.state.timers) {
        if (timer.due <= until && (next === undefined || timer.due < next.timer.due)) next = { run, timer };
      }
    }
    return next;
  }

  runUntilQuiet(look?: (turn: Turn) => void): void {
    for (let turns = 1; ; turns++) {
      const turn = this.turn();
      if (turn === undefined) return;
      if (turns > limits.turnsMax) throw restless(turn);
      look?.(turn);
      // Nobody outside is listening here, so the sender is told.
      if (turn.outside !== undefined) this.undelivered(this.runs.get(turn.run), turn.outside);
    }
  }

  turn(): Turn | undefined {
    for (const run of this.runs.values()) {
      const effect = run.effects.shift();
      if (effect !== undefined) return this.carryOut(run, effect);
    }
    for (const run of this.runs.values()) {
      if (run.state.status !== "active" && run.parent !== undefined) return this.report(run, run.parent);
      if (run.inbox.length > 0) return this.take(run);
    }
    return undefined;
  }

  private begin(machine: Machine, id: string, input: Json | undefined, parent: Run["parent"]): Run {
    const last = start(machine, input, this.stepOptions(id, parent));
    const run: Run = {
      id,
      machine,
      parent,
      children: new Map(),
      effects: [],
      inbox: [],
      state: last.state,
      last,
    };
    this.runs.set(id, run);
    this.adopt(run, last);
    return run;
  }

  private stepOptions(run: string, parent: Run["parent"]): StepOptions {
    const { environment, trace } = this.options;
    return {
      at: this.now,
      run,
      ...(trace === undefined ? {} : { trace }),
      ...(environment === undefined ? {} : { environment: environment(run) }),
      reachable: (to) => this.isReachable(to, run, parent),
    };
  }

  private isReachable(to: Address, own: string, parent: Run["parent"]): boolean {
    if (to === "parent") return parent !== undefined;
    if (typeof to !== "object") return true;
    if ("run" in to) return to.run === own || this.runs.has(to.run);
    return !("url" in to) || to.url !== "";
  }

  private take(run: Run): Turn {
    const [event] = byPriority(run.machine, run.inbox) as [Event];
    run.inbox.splice(run.inbox.indexOf(event), 1);
    const taken = step(run.machine, run.state, event, this.stepOptions(run.id, run.parent));
    this.adopt(run, taken);
    return { run: run.id, step: taken, event };
  }

  private adopt(run: Run, taken: Step): void {
    run.last = taken;
    run.state =
      this.options.restore === true ? (JSON.parse(JSON.stringify(taken.state)) as State) : taken.state;
    run.effects.push(...taken.effects);
  }

  private carryOut(run: Run, effect: Effect): Turn {
    const turn = { run: run.id, effect };
    switch (effect.type) {
      case "send":
        return this.carrySend(run, effect) ? turn : { ...turn, outside: effect };
      case "log":
        this.logs.push({ ...effect, run: run.id });
        return turn;
      case "emit":
        this.emitted.push({ ...effect, run: run.id });
        return turn;
      case "reply":
        this.replies.push({ ...effect, run: run.id });
        return turn;
      case "spawn":
        this.spawn(run, effect);
        return turn;
      case "activity":
        this.perform(run, effect);
        return turn;
      case "cancel":
        if (effect.of === "child") this.stop(run.children.get(effect.key));
        return turn;
      case "timer":
        // The state holds the timer; `advance` finds it there.
        return turn;
    }
  }

  /** Delivers a send if it stays inside; false if it leaves the simulation. */
  private carrySend(run: Run, effect: SendEffect): boolean {
    const { to, via, event } = effect;
    if (via !== undefined || (typeof to === "object" && "url" in to)) return false;
    const target = this.addressee(run, to);
    if (target === undefined) this.undelivered(run, effect);
    else {
      const { parent } = run;
      const fromChild =
        to === "parent" && parent !== undefined ? { invokeId: parent.id, invocation: parent.key } : {};
      // An event passed on by autoforward is an exact copy, its origin included.
      target.inbox.push({ origin: run.id, ...event, ...fromChild });
    }
    return true;
  }

  private addressee(run: Run, to: SendEffect["to"]): Run | undefined {
    if (to === "self") return run;
    if (to === "parent") return run.parent?.run;
    if ("run" in to) return this.runs.get(to.run);
    // By the runs there are, not by the state: what an exit action sends goes out before its child is cancelled.
    const { child: id } = to as { readonly child: string };
    return [...run.children.values()].findLast((child) => child.parent?.id === id && this.runs.has(child.id));
  }

  private undelivered(run: Run | undefined, { to, event }: SendEffect): void {
    const data = { message: `There is nobody at ${JSON.stringify(to)}` };
    const { sendId } = event;
    run?.inbox.unshift({
      type: communicationErrorType,
      kind: "platform",
      data,
      ...(sendId === undefined ? {} : { sendId }),
    });
  }

  private spawn(run: Run, { id, key, machine: name, input }: Extract<Effect, { type: "spawn" }>): void {
    try {
      const machine =
        own(run.machine.machines as Record<string, Machine>, name) ??
        this.options.machines?.(name) ??
        (name === compensationName(run.machine.id) ? compensationMachine(run.machine) : undefined);
      if (machine === undefined)
        throw new HoldfastError("MACHINE_INVALID", `There is no machine ${JSON.stringify(name)} to start`);
      run.children.set(key, this.begin(machine, `${run.id}/${id}:${key}`, input, { run, id, key }));
    } catch (error) {
      run.inbox.unshift(settledEvent({ id, key }, { error: describeError(error) }));
    }
  }

  private perform(run: Run, { id, key, activity, input }: Extract<Effect, { type: "activity" }>): void {
    const work = own(this.options.activities ?? {}, activity);
    if (work === undefined) return;
    try {
      const output = work(input);
      run.inbox.push(settledEvent({ id, key }, output === undefined ? {} : { output }));
    } catch (error) {
      run.inbox.push(settledEvent({ id, key }, { error: describeError(error) }));
    }
  }

  /** A child that is done tells its parent, if that is still there; one that was cancelled is just gone. */
  private report(run: Run, parent: NonNullable<Run["parent"]>): Turn {
    this.runs.delete(run.id);
    const { status, output } = run.state;
    if (status === "done" && parent.run.state.status === "active")
      parent.run.inbox.push(settledEvent(parent, output === undefined ? {} : { output }));
    return { run: run.id };
  }

  private stop(run: Run | undefined): void {
    if (run === undefined || run.state.status !== "active") return;
    this.adopt(run, cancel(run.machine, run.state, this.stepOptions(run.id, run.parent)));
  }
}

/** What a record has under a name that may be any text, such as `constructor`. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function restless({ run }: Turn): HoldfastError {
  return new HoldfastError(
    "SIMULATION_UNBOUNDED",
    `The simulation did not come to rest after ${limits.turnsMax} turns; the run ${JSON.stringify(run)} is still busy. Put a delay between sends that go on for ever`,
  );
}
