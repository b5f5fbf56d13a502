/** What users hold: a runtime, its runs, and the receipts of what they sent. */
import type { MachineReference } from "../core/definition.ts";
import type { EmitEffect, LogEffect } from "../core/effect.ts";
import type { EventShape } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Machine, MachineTypes } from "../core/machine.ts";
import type { Patch } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import type { Member } from "../store/fleet.ts";
import type { Entry } from "../store/journal.ts";
import type { Attribute, Breakpoint, RunHead, RunStatus } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { Chunk } from "./activity/stream.ts";
import type { LimitSource } from "./budget.ts";
import type { Clock } from "./clock.ts";
import type { Catalog } from "./evolution/catalog.ts";
import type { Migrated, MigrateOptions } from "./evolution/evolution.ts";
import type { FindQuery } from "./find.ts";
import type { FlowOptions } from "./flow/flow.ts";
import type { HousekeepingPlan } from "./housekeeping/housekeeper.ts";
import type { Ids } from "./ids.ts";
import type { DeadLetters } from "./inbox/dead-letters.ts";
import type { Handled } from "./live/live-run.ts";
import type { Actor } from "./name.ts";
import type { Committed, CommittedStep, Observed, Observer, Problem } from "./observer.ts";
import type { DebounceContext } from "./platform/debounce-machine.ts";
import type { CatchUp, ScheduleContext } from "./platform/schedule-machine.ts";
import type { RunProfile } from "./profile/journal.ts";
import type { RuntimeProfile } from "./profile/profiler.ts";
import type { AnyMachine, MachineEntry } from "./registry.ts";
import type { Seal } from "./seal.ts";
import type { Hearer } from "./standing.ts";
import type { Difference } from "./travel/compare.ts";
import type { Told } from "./travel/lineage.ts";
import type { PrunedRun } from "./travel/prune-run.ts";
import type { Replay } from "./travel/replay.ts";
import type { ForkOptions, Target } from "./travel/travel.ts";

export type { Actor, Committed, CommittedStep, Observed, Problem, PrunedRun };

/** A machine with activities that use the runtime they run in, as to ask another run; each runtime has its own. */
export interface GivenEntry extends MachineEntry {
  readonly activitiesOf?: (runtime: Runtime) => NonNullable<MachineEntry["activities"]>;
}

export interface RuntimeOptions {
  readonly store: Store;
  readonly machines: readonly (GivenEntry | AnyMachine)[];
  readonly seal?: Seal;
  readonly clock?: Clock;
  readonly ids?: Ids;
  readonly flow?: FlowOptions;
  /**
   * What it does in a fleet. A `worker`, which it is unless told otherwise, sees to runs and runs activities. A `client` does all
   * that it is asked to, and leaves timers, events that wait and every activity to workers; its store must be a shared one.
   */
  readonly role?: Role;
  /** Told of all that happens here: `holdfast/logs` and `holdfast/traces` make some. */
  readonly observers?: readonly Observer[];
  /** Told of what runs log and emit, once it is durable. */
  readonly onLog?: (log: LogEffect & { readonly run: string }) => void;
  readonly onEmit?: (emitted: EmitEffect & { readonly run: string }) => void;
  /** Told of what the runtime cannot settle by itself and nobody waits for: a run that is parked or cannot be read. */
  readonly onProblem?: (problem: Problem) => void;
  /** Refuses to begin, with DEPLOY_REFUSED and their list, if runs are alive whose machines are not among these. */
  readonly mustKnowAll?: boolean;
  /** Rules and backups that it sees to while it owns the store; none unless given. */
  readonly housekeeping?: HousekeepingPlan;
  /** Measures where its time goes, for `profile` to tell; off unless given, and then it costs nothing. */
  readonly profile?: boolean;
}

export type Role = "worker" | "client";

/**
 * What becomes of a start while a run of its key is live: `attach` gives that run, whatever its input; `refuse` throws
 * RUN_LIVE; `replace` cancels it and starts another.
 */
export type SingletonPolicy = "attach" | "refuse" | "replace";

export interface Singleton {
  readonly key: string;
  /** `attach` unless given. */
  readonly policy?: SingletonPolicy;
}

export interface StartOptions extends Actor {
  readonly id?: string;
  /** Instead of an id: of the runs of its machine started under this key, within the tenant, at most one is live. */
  readonly singleton?: string | Singleton;
  readonly tenant?: string;
  /** Whose data the run holds; the run's own id unless given. */
  readonly subject?: string;
  readonly input?: Json;
  /** Values to find the run by. */
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** What it may use up, beside or instead of what its machine says. */
  readonly limits?: LimitSource;
}

/** Proof that an event is durable. */
export interface Receipt {
  /** What became of it. */
  handled(): Promise<Handled>;
}

/** An event to send. A repeated key is the same event. */
export interface Outgoing extends Actor {
  readonly type: string;
  readonly data?: Json;
  readonly key?: string;
}

/** How a run ended: in one of its machine's final states, or from outside. */
export type End<Types extends MachineTypes = MachineTypes> = Done<Types["ends"]> | Stopped;

/** It came to a final state. */
type Done<Ends> = [unknown] extends [Ends]
  ? DoneIn<string, Json | undefined>
  : Ends extends { readonly state: infer State; readonly output: infer Output }
    ? DoneIn<State, Output>
    : never;
interface DoneIn<State, Output> {
  readonly status: "done";
  /** The final state, or those of all regions, joined by commas. */
  readonly state: State;
  readonly output: Output;
  readonly reason: undefined;
}

/** It was ended from outside, wherever it was. */
export interface Stopped {
  readonly status: Exclude<RunStatus, "active" | "parked" | "done">;
  /** It came to no final state, so `state` alone tells how a run ended … */
  readonly state: undefined;
  /** … and these are the states it was in, joined by commas. */
  readonly stoppedIn: string;
  readonly output: undefined;
  /** Why it failed. */
  readonly reason: JsonObject | undefined;
}

/** The types of events a run can be sent. */
type SendType<Sends> = [unknown] extends [Sends] ? string : keyof Sends & string;
/** What is sent after the type: the data, where the event has some, and the options. */
type SendRest<Sends, Type, Options> = [unknown] extends [Sends]
  ? [data?: Json, options?: Options]
  : Type extends keyof Sends
    ? undefined extends Sends[Type]
      ? [data?: Sends[Type], options?: Options]
      : [data: Sends[Type], options?: Options]
    : never;
export interface SendOptions extends Actor {
  readonly key?: string;
}
export interface AskOptions extends SendOptions {
  readonly timeout?: number | string;
}
type OutgoingOf<Sends> = [unknown] extends [Sends]
  ? Outgoing
  : {
      [Type in keyof Sends & string]: SendOptions & { readonly type: Type } & (undefined extends Sends[Type]
          ? { readonly data?: Sends[Type] }
          : { readonly data: Sends[Type] });
    }[keyof Sends & string];

export interface FollowOptions {
  /** Ends it when it is aborted, also while it waits for a step. */
  readonly signal?: AbortSignal;
}

/** A run, as its users hold it. Whoever acts on it may say who they are: the journal tells it. */
export interface Run<Context = JsonObject, Types extends MachineTypes = MachineTypes> {
  readonly id: string;
  readonly tenant: string;
  /** Its state at the newest checkpoint. */
  state(): Promise<State<Context>>;
  head(): Promise<RunHead>;
  /** Sends an event; resolves when it is durable. A repeated key is the same event. */
  send<Type extends SendType<Types["sends"]>>(
    type: Type,
    ...rest: SendRest<Types["sends"], Type, SendOptions>
  ): Promise<Receipt>;
  /** Sends several at once: all of them are durable, in this order, or none. Receipts of what comes after the run's end say so. */
  sendAll(events: readonly OutgoingOf<Types["sends"]>[]): Promise<readonly Receipt[]>;
  /** Sends an event and resolves with the reply the machine gives to it, in that step or a later one. */
  ask<Type extends SendType<Types["sends"]>>(
    type: Type,
    ...rest: SendRest<Types["sends"], Type, AskOptions>
  ): Promise<Json>;
  /** Resolves once a state is active; rejects if the run ends without. */
  waitFor(path: string): Promise<State<Context>>;
  /** Resolves when the run has ended. */
  finished(): Promise<End<Types>>;
  /** Ends it: exit actions run, what it waits for is cancelled, what it did is compensated. */
  cancel(actor?: Actor): Promise<void>;
  /** Brings a parked run back; a result it could not take is given to it again. */
  retry(actor?: Actor): Promise<void>;
  /** Commits steps that wait, where the machine's checkpoint policy lets them. */
  checkpoint(): Promise<void>;
  /** Its state at a checkpoint. */
  at(seq: number): Promise<State<Context>>;
  /**
   * Takes it back to a checkpoint, in a new step: what it began since is cancelled, what was under way then and has ended
   * since begins again. `edit` changes the context it goes on with; one that the machine refuses changes nothing. Gives the
   * checkpoint of that step.
   */
  rollback(target: Target<Context>, actor?: Actor): Promise<number>;
  /**
   * Removes its journal up to now: nobody reads or goes back to what was before. Its state stays, and so do its timers and the
   * keys it has seen. When it resolves the rows are deleted, or it says why they are kept.
   */
  prune(actor?: Actor): Promise<PrunedRun>;
  /** Begins another run from a checkpoint of this one, which it leaves as it is. */
  fork(options?: ForkOptions<Context>): Promise<Run<Context, Types>>;
  /** What turns its state at one checkpoint into that at another; the newest one unless given. */
  diff(from: number, to?: number): Promise<readonly Patch[]>;
  /** The step that last changed what stands at a path of the context, such as `$.items[0]`; undefined if none ever did. */
  lastChange(path: string): Promise<Told | undefined>;
  /** Takes its steps once more from what is recorded, without calling anything; with another machine, to see what that would do. */
  replay(options?: { readonly machine?: AnyMachine }): Promise<Replay>;
  /** Takes it to another version of its machine, in a step; throws MIGRATION_REFUSED if it cannot go there. */
  migrate(options?: MigrateOptions): Promise<Migrated>;
  /** Parks it until it is brought back with `retry` or `advance`. */
  pause(actor?: Actor): Promise<void>;
  /** Sets where it is parked from now on, instead of any breakpoints it had. */
  breakpoints(breakpoints: readonly Breakpoint[], actor?: Actor): Promise<void>;
  /** Lets a parked run take one event, or so many, and parks it again. Resolves when it may go on. */
  advance(events?: number, actor?: Actor): Promise<void>;
  /** Resolves when it is parked, with the reason; rejects if it ends. */
  parked(): Promise<JsonObject>;
  /** What an activity says while it runs, from an offset on, until it is over. By its id while it runs, or its key. */
  stream(activity: string, from?: number, options?: Pick<FollowOptions, "signal">): AsyncIterable<Chunk>;
  /** Where its time went, state by state, from its journal alone. */
  profile(): Promise<RunProfile>;
  /** Its steps, in order. */
  journal(from?: number): AsyncIterable<Entry>;
  /** Its steps from a checkpoint on, and those to come as they come, made here or elsewhere, until it has ended. */
  follow(from?: number, options?: FollowOptions): AsyncIterable<Entry>;
}

/** A run of whatever machine. */
export type RunReference = Pick<Run, "id" | "tenant">;

/** A run to start at every time, of the newest version of its machine the runtime has then. */
export interface ScheduledStart extends Omit<StartOptions, "id" | "tenant" | "singleton" | "by"> {
  readonly machine: MachineReference | string;
  /** `{ schedule, due }` unless given: the schedule's id, and the time in milliseconds since 1970. */
  readonly input?: Json;
}

/** An event to send at every time. */
export interface ScheduledSend {
  readonly run: string;
  readonly type: string;
  /** `{ schedule, due }` unless given. */
  readonly data?: Json;
}

export type ScheduleOptions = {
  /** Five fields, six with seconds first, or seven with the year last; see the guide for what clock changes do. */
  readonly cron: string;
  /** An IANA name such as `Europe/Berlin`; UTC unless given, wherever the process runs. */
  readonly timezone?: string;
  /** `one` unless given. */
  readonly catchUp?: CatchUp;
  readonly tenant?: string;
} & (
  | { readonly start: ScheduledStart; readonly send?: never }
  | { readonly send: ScheduledSend; readonly start?: never }
);

export type DebounceOptions = {
  /** How long it must be quiet: milliseconds, or text such as `5s`. */
  readonly for: number | string;
  /** How long calls are put off at most, from the first one on; as long as they come, unless given. */
  readonly max?: number | string;
  readonly tenant?: string;
} & (
  | { readonly start: ScheduledStart; readonly send?: never }
  | { readonly send: ScheduledSend; readonly start?: never }
);

/** A schedule, as its users hold it. */
export interface Schedule {
  readonly id: string;
  /** The run behind it; its journal shows every firing. */
  readonly run: Run<ScheduleContext>;
  /** When it fires next, in milliseconds since 1970; undefined when it has been stopped or has no time left. */
  next(): Promise<number | undefined>;
  /** Fires no more. It starts again when it is scheduled again, with the same definition or another. */
  stop(): Promise<void>;
}

/** How to start a run: with an input, where its machine says what it needs. */
export type StartRest<Input> = [unknown] extends [Input]
  ? [options?: StartOptions]
  : undefined extends Input
    ? [options?: TypedStart<Input>]
    : [options: TypedStart<Input>];
type TypedStart<Input> = Omit<StartOptions, "input"> &
  (undefined extends Input ? { readonly input?: Exclude<Input, undefined> } : { readonly input: Input });

/** What a conversation can be had with, such as what `defineAgent` of `holdfast/agent` makes. */
export interface Threaded<Thread, Options> {
  openThread(runtime: Runtime, options?: Options): Promise<Thread>;
}

export interface Runtime {
  /** Starts a run, or attaches to the one of the same id, machine and input. Resolves when its first step is durable. */
  start<Context, Ev extends EventShape, Input, Types extends MachineTypes>(
    machine: Machine<Context, Ev, Input, Types>,
    ...options: StartRest<Types["input"]>
  ): Promise<Run<Context, Types>>;
  /** A conversation with an agent: a new one, or the one of the same id. */
  thread<Thread, Options>(agent: Threaded<Thread, Options>, options?: Options): Promise<Thread>;
  /** An existing run; throws RUN_UNKNOWN. */
  run(id: string, options?: { readonly tenant?: string }): Promise<Run>;
  /**
   * Sets a schedule, or attaches to the one of the same id and definition. Another definition is refused with
   * RUN_DIFFERS, and one that cannot be read with SCHEDULE_INVALID.
   */
  schedule(id: string, options: ScheduleOptions): Promise<Schedule>;
  /**
   * Starts a run or sends an event once it has been quiet for a while: of calls of one key, within the tenant, that come in
   * quick succession only the last takes effect. Resolves when the call is durable, with the run that gathers them: it is
   * over when it has acted, and what it starts has the attribute `debounce`. Throws FLOW_INVALID, RUN_UNKNOWN for a send
   * to nobody, MACHINE_UNKNOWN for a start of nothing.
   */
  debounce(key: string, options: DebounceOptions): Promise<Run<DebounceContext>>;
  /**
   * Adds a machine while the runtime runs; runs of it that could not be read go on. The same definition again changes
   * nothing, and another one of the same id and version is refused with MACHINE_INVALID.
   */
  register(machine: GivenEntry | AnyMachine): void;
  /** The runs that fit, the newest first. */
  find(query?: FindQuery): AsyncIterable<RunHead>;
  /** The versions of machines there are and were, where each stands in its life, and how runs go from one to another. */
  readonly machines: Pick<Catalog, "list" | "read" | "mark" | "deploy" | "migrate">;
  /** What two runs have in common, where they part, and what differs now. */
  diff(one: RunReference, other: RunReference): Promise<Difference>;
  /** Events that found no run to take them. */
  readonly deadLetters: DeadLetters;
  /** Tells a listener of every commit that is made here, of whatever run, once it is durable; what it gives back ends that. */
  observe(listener: (committed: Observed) => void): () => void;
  /**
   * Tells a listener of which runs others who share the store have taken steps, soon after they have; undefined where any may
   * have been missed. What it gives back ends that. It costs what the listener does, and a look at the names.
   */
  hear(listener: Hearer): () => void;
  /** Where its time went since it was opened; undefined unless it was created with `profile: true`. */
  profile(): RuntimeProfile | undefined;
  /** Who shares its store, this process among them, and how much each has to do; nobody where it owns the store alone. */
  members(): readonly Member[];
  /**
   * Leaves what is new to those who share its store, and lets its activities end: for as long as that takes, or as it was
   * given, in milliseconds or as text such as `30s`. Says whether all have ended. It goes on serving whoever asks it, until it
   * is closed.
   */
  drain(within?: number | string): Promise<boolean>;
  /** Resolves when no more steps are taken: with the error if the runtime had to stop by itself. */
  readonly stopped: Promise<unknown>;
  close(): Promise<void>;
}
