/**
 * What an author writes. A definition is data; the only functions in it are guards, updates and expressions, and each
 * can be replaced by a name (bound with `machine.implement`) or by an expression of the machine's data model.
 * The words are XState's where the meaning is the same; the meaning is SCXML's.
 */
import type { CheckpointPolicy, Concurrency, Rate, RunLimits } from "./bounds.ts";
import type { DataModel } from "./data-model.ts";
import type { Address } from "./effect.ts";
import type { Event, EventShape, Matching } from "./event.ts";
import type { Json, JsonObject } from "./json.ts";
import type { EnsureScope, Scope } from "./scope.ts";
import type { Approval, Attempt, MapAction, MapItem, MapParts } from "./shorthand/definition.ts";
import type { ResumePolicy } from "./timer.ts";

export declare const machineTypes: unique symbol;

/** What is known of a machine by its schemas; `unknown` where it has none. */
export interface MachineTypes {
  readonly input: unknown;
  /** By event, what may be sent along. */
  readonly sends: unknown;
  /** `{ state, output }` for every final state. */
  readonly ends: unknown;
  /** By name, the code of its activities. */
  readonly activities: unknown;
  /** The paths of its states. */
  readonly paths: unknown;
}

/** A machine made by `defineMachine`, as far as another definition needs to know it. */
export interface MachineReference<Types extends MachineTypes = MachineTypes> {
  readonly id: string;
  readonly version: number;
  /** Only for the compiler. A method, so that a machine whose types are known is one whose types are not. */
  [machineTypes]?(types: Types): void;
}

/** Text of a data model other than TypeScript (CEL, ECMAScript …), as that model defines it. */
export type ModelSource = JsonObject;

/** A value, or how to compute it. Evaluated when the action runs, never later. */
export type Expression<Value, Context = JsonObject, Ev = Event> =
  | Value
  | ((scope: Scope<Context, Ev>) => Value)
  | ModelSource;

/** A named guard or update with the parameters it takes. */
export interface NamedUse<Context = JsonObject, Ev = Event> {
  readonly type: string;
  readonly params?: Expression<Json, Context, Ev>;
}

export type Guard<Context = JsonObject, Ev = Event> =
  | string
  | NamedUse<Context, Ev>
  | ((scope: Scope<Context, Ev>) => boolean)
  | { readonly in: string }
  | { readonly and: readonly Guard<Context, Ev>[] }
  | { readonly or: readonly Guard<Context, Ev>[] }
  | { readonly not: Guard<Context, Ev> }
  /** The event under way reports an error of one of these names or codes. */
  | { readonly error: string | number | readonly (string | number)[] }
  /** A worker of a map has an item; the `map` shorthand writes it. */
  | { readonly item: MapItem }
  | ModelSource;

/** A recipe: change the draft as if it were yours; the old context stays as it is. Its return value is ignored. */
export type Recipe<Context = JsonObject, Ev = Event> = (
  draft: Draft<Context>,
  scope: Scope<Context, Ev>,
) => unknown;
export type Update<Context = JsonObject, Ev = Event> = string | NamedUse<Context, Ev> | Recipe<Context, Ev>;

/** The same value with `readonly` taken off, all the way down; what may be any JSON stays so. */
export type Draft<Value> = Json extends Value
  ? Value
  : Value extends readonly (infer Item)[]
    ? Draft<Item>[]
    : Value extends object
      ? { -readonly [Key in keyof Value]: Draft<Value[Key]> }
      : Value;

/** An event to raise, send or emit: just its type, or its parts, or a function that makes it. */
export type EventSource<Context = JsonObject, Ev = Event> =
  | string
  | ((scope: Scope<Context, Ev>) => EventShape)
  | { readonly type: Expression<string, Context, Ev>; readonly data?: Expression<Json, Context, Ev> };

export interface SendParts<Context = JsonObject, Ev = Event> {
  readonly type?: Expression<string, Context, Ev>;
  readonly data?: Expression<Json, Context, Ev>;
  readonly to?: Expression<Address, Context, Ev>;
  /** Milliseconds, or text such as `30s`, `1.5 h` or `2 days`. */
  readonly delay?: Expression<number | string, Context, Ev>;
  /** Of a send with a delay; `deadline` unless given. */
  readonly resume?: ResumePolicy;
  /** A name to cancel it by. */
  readonly id?: Expression<string, Context, Ev>;
  /** The way to send it when it does not go to a run; for instance an SCXML event processor. */
  readonly via?: Expression<string, Context, Ev>;
  /** Where the data model stores the id that was made up. */
  readonly idLocation?: ModelSource;
}

export interface SpawnParts<Context = JsonObject, Ev = Event> {
  readonly machine: string | MachineReference | ModelSource;
  readonly id?: Expression<string, Context, Ev>;
  readonly input?: Expression<Json, Context, Ev>;
}

export type Action<Context = JsonObject, Ev = Event> =
  | { readonly update: Update<Context, Ev> }
  | { readonly raise: EventSource<Context, Ev> }
  | { readonly send: string | SendParts<Context, Ev> | ((scope: Scope<Context, Ev>) => SendParts) }
  /** Cancels the pending sends of that id. */
  | { readonly cancel: Expression<string, Context, Ev> }
  | { readonly emit: EventSource<Context, Ev> }
  | { readonly log: Expression<Json, Context, Ev>; readonly label?: string }
  | { readonly spawn: string | SpawnParts<Context, Ev> }
  /** Answers whoever asked: with the event under way, or at `to`, an earlier event's `replyTo`. */
  | { readonly reply: Expression<Json, Context, Ev>; readonly to?: Expression<string, Context, Ev> }
  /** Undoes all activities that are done and have a compensation, the last one first. */
  | { readonly compensate: true }
  /** Stops a child that was spawned or invoked. */
  | { readonly stop: Expression<string, Context, Ev> }
  /** The first branch whose guard holds; one without a guard always does. */
  | { readonly choose: readonly Branch<Context, Ev>[] }
  /** What a map is made of; the `map` shorthand writes it. */
  | { readonly map: MapAction<string | Expression<readonly Json[], Context, Ev>> }
  /** An action only the data model knows. */
  | { readonly model: ModelSource };

export interface Branch<Context = JsonObject, Ev = Event> {
  readonly guard?: Guard<Context, Ev>;
  readonly actions?: ActionList<Context, Ev>;
}

export type ActionList<Context = JsonObject, Ev = Event> =
  | Action<Context, Ev>
  | readonly Action<Context, Ev>[];

/** Lists of lists are separate blocks: an error stops only the block it happens in. */
export type Blocks<Context = JsonObject, Ev = Event> =
  | ActionList<Context, Ev>
  | readonly (readonly Action<Context, Ev>[])[];

/** Named conditions. A false one refuses the step, and its name is in the error. */
export type Contracts<Context = JsonObject, Ev = Event> = Readonly<Record<string, Guard<Context, Ev>>>;
export type Ensures<Context = JsonObject, Ev = Event> = Readonly<
  Record<string, ((scope: EnsureScope<Context, Ev>) => boolean) | string | ModelSource>
>;

/** A sibling or an ancestor's sibling by key, `.child`, a path of keys, or `#id`. */
export type Target = string;

export interface TransitionParts<Context = JsonObject, Ev = Event> {
  readonly target?: Target | readonly Target[];
  readonly guard?: Guard<Context, Ev>;
  readonly update?: Update<Context, Ev>;
  /** Run after `update`. */
  readonly actions?: ActionList<Context, Ev>;
  /** Leave and enter the source again even if the target lies inside it. */
  readonly reenter?: boolean;
  /** Must hold before the transition's actions … */
  readonly require?: Contracts<Context, Ev>;
  /** … and after them. */
  readonly ensure?: Ensures<Context, Ev>;
  readonly description?: string;
  readonly meta?: Json;
}

export type Transition<Context = JsonObject, Ev = Event> = Target | TransitionParts<Context, Ev>;
export type Transitions<Context = JsonObject, Ev = Event> =
  | Transition<Context, Ev>
  | readonly Transition<Context, Ev>[];

/** Where the events are just any events, so is each of them. */
type EventOf<Ev extends EventShape, Type> = string extends Ev["type"]
  ? Ev
  : Type extends Ev["type"]
    ? Extract<Ev, { readonly type: Type }>
    : Event;
type PlatformType = `done.${string}` | `error.${string}` | `${string}*`;

/** Handlers by event key; the most specific key that matches comes first. */
export type HandlerRecord<Context, Ev extends EventShape> = {
  readonly [Type in Ev["type"] | PlatformType]?: Transitions<Context, EventOf<Ev, Type>>;
};

/** Handlers in document order, for formats where order beats specificity. */
export type HandlerList<Context, Ev extends EventShape> = readonly (TransitionParts<Context, Ev> & {
  readonly event: string | readonly string[];
})[];

/** A transition that a timer takes. */
export interface TimedParts<Context = JsonObject, Ev = Event> extends TransitionParts<Context, Ev> {
  /** `deadline` unless given. Transitions of one timer share it. */
  readonly resume?: ResumePolicy;
}
export type TimedTransitions<Context = JsonObject, Ev = Event> =
  | Target
  | TimedParts<Context, Ev>
  | readonly (Target | TimedParts<Context, Ev>)[];

export interface DelayedTransition<Context = JsonObject, Ev = Event> extends TimedParts<Context, Ev> {
  readonly delay: Expression<number | string, Context, Ev>;
}

/** The event of an activity or a child that ended. Its data is typed once machines are inferred from schemas. */
// biome-ignore lint/suspicious/noExplicitAny: the author knows the payload here; the compiler will with inference.
export type SettledEvent = Event & { readonly data: any };

interface InvokeParts<Context, Ev> {
  /** Unique in the machine; the state's path unless given. */
  readonly id?: Expression<string, Context, Ev>;
  readonly input?: Expression<Json, Context, Ev>;
  readonly onDone?: Transitions<Context, SettledEvent>;
  readonly onError?: Transitions<Context, SettledEvent>;
  readonly onUnknown?: Transitions<Context, SettledEvent>;
  /** Run on every event from the invocation, before any transition is chosen. */
  readonly finalize?: ActionList<Context, SettledEvent>;
  readonly idLocation?: ModelSource;
  /** Of a map's worker: which item its input is about. The `map` shorthand writes it. */
  readonly item?: MapItem;
}

export interface CompensateParts<Context = JsonObject> {
  readonly activity: string;
  readonly input?: Expression<Json, Context, SettledEvent>;
}

export interface InvokeActivity<Context = JsonObject, Ev = Event> extends InvokeParts<Context, Ev> {
  readonly activity: Expression<string, Context, Ev>;
  /** What undoes it once it is done: an activity, given this one's output unless `input` says otherwise. */
  readonly compensate?: string | CompensateParts<Context>;
  /** These five go to the runtime as they are. */
  readonly retry?: Json;
  readonly timeout?: number | string;
  /** How often it must give a sign of life. */
  readonly heartbeat?: number | string;
  readonly once?: boolean;
  /** The activity that finds out what became of one that may or may not have run. */
  readonly reconcile?: string;
  /** What waits for its turn, with whom; keys and priorities are made when it begins. */
  readonly concurrency?: Concurrency<Expression<string, Context, Ev>>;
  readonly rate?: Rate<Expression<string, Context, Ev>>;
  /** Higher first, 0 unless given. */
  readonly priority?: Expression<number, Context, Ev>;
}

export interface InvokeMachine<Context = JsonObject, Ev = Event> extends InvokeParts<Context, Ev> {
  readonly machine: string | MachineReference | ModelSource;
  /** Pass every event from outside on to the child as well. */
  readonly autoforward?: boolean;
}

export type Invoke<Context = JsonObject, Ev = Event> =
  | InvokeActivity<Context, Ev>
  | InvokeMachine<Context, Ev>;

export type Initial<Context = JsonObject, Ev = Event> =
  | Target
  | readonly Target[]
  | {
      readonly target: Target | readonly Target[];
      readonly update?: Update<Context, Ev>;
      readonly actions?: ActionList<Context, Ev>;
    };

/**
 * What to do when regions of a parallel state write different values to one place within one microstep: `reject` the
 * step, or let the `last` write stand, as if nobody looked, or the `first`. Regions act in document order, and leave in
 * reverse.
 */
export type WritePolicy = "reject" | "last" | "first";

export interface StateDefinition<Context = JsonObject, Ev extends EventShape = Event> {
  /** A name for `#id` targets; must be unique in the machine. */
  readonly id?: string;
  /** Data that the machine's data model declares with this state. */
  readonly data?: ModelSource;
  /** Needed for these three only; a state with `states` is compound, one without is atomic. */
  readonly type?: "parallel" | "final" | "history";
  readonly initial?: Initial<Context, Ev>;
  readonly states?: { readonly [key: string]: StateDefinition<Context, Ev> };
  readonly on?: HandlerRecord<Context, Ev> | HandlerList<Context, Ev>;
  readonly always?: Transitions<Context, Ev>;
  readonly after?:
    | { readonly [delay: string]: TimedTransitions<Context, Ev> }
    | readonly DelayedTransition<Context, Ev>[];
  readonly entry?: Blocks<Context, Ev>;
  readonly exit?: Blocks<Context, Ev>;
  readonly invoke?: Invoke<Context, Ev> | readonly Invoke<Context, Ev>[];
  /** Taken when the state's children are done: a final child, or one in every region. */
  readonly onDone?: Transitions<Context, SettledEvent>;
  /** Events to keep for later while this state is active and nothing takes them. */
  readonly defer?: readonly string[];
  /** For final states: what `onDone` gets as data, and what the run ends with. */
  readonly output?: Expression<Json, Context, Ev>;
  /** For history states. */
  readonly history?: "shallow" | "deep";
  /** For history states: where to go, and what to do, while there is nothing to remember. */
  readonly target?: Target | readonly Target[];
  readonly update?: Update<Context, Ev>;
  readonly actions?: ActionList<Context, Ev>;
  /** For parallel states. `reject` unless given. */
  readonly writes?: WritePolicy | Readonly<Record<string, WritePolicy>>;
  /** Must hold at the end of every step while the state is active. */
  readonly invariants?: Contracts<Context, Ev>;
  /** Must hold before the state's entry actions, and after its exit actions. */
  readonly require?: Contracts<Context, Ev>;
  readonly ensure?: Ensures<Context, Ev>;
  readonly tags?: readonly string[];
  readonly description?: string;
  readonly meta?: Json;
  /** Shorthand, expanded to the above before anything else; a state has at most one of them. */
  readonly attempt?: Attempt<Pieces<Context, Ev>>;
  readonly map?: MapParts<Pieces<Context, Ev>>;
  readonly approval?: Approval<Pieces<Context, Ev>>;
}

/** What shorthand is made of. */
export interface Pieces<Context, Ev> {
  readonly invoke: Invoke<Context, Ev>;
  readonly perItem: InvokeActivity<Context, SettledEvent>;
  readonly machine: InvokeMachine["machine"];
  readonly list: string | Expression<readonly Json[], Context, Ev>;
  readonly delay: Expression<number | string, Context, Ev>;
  readonly guard: Guard<Context, Ev>;
  readonly actions: ActionList<Context, Ev>;
  readonly transition: TransitionParts<Context, SettledEvent>;
  readonly decided: Transitions<Context, Ev>;
  readonly settled: Transitions<Context, SettledEvent>;
  readonly timed: TimedTransitions<Context, Ev>;
}

/** What becomes of an event that no active state takes. */
export type UnhandledPolicy = "ignore" | "defer" | "reject";

export interface MachineDefinition<Context = JsonObject, Ev extends EventShape = Event, Input = Json>
  extends StateDefinition<Context, Ev> {
  readonly id: string;
  readonly version?: number;
  /** Where editors find the schema of definitions; it means nothing else. */
  readonly $schema?: string;
  /** The first context: a value, or a function of the input. */
  readonly start?:
    | Context
    | ((scope: { readonly input: Input; readonly at: number }) => Context)
    | ModelSource;
  /**
   * The events this machine knows; with a Standard Schema, what their data must be. If there are any, states handle no
   * others but those the machine makes itself.
   */
  readonly events?: Readonly<Record<string, unknown>>;
  /** Schemas: of the context after every step, and of what runs are given. */
  readonly context?: object;
  readonly input?: object;
  /** The schemas of activities by name, and of what they are given and give back. */
  readonly activities?: Readonly<Record<string, { readonly input?: object; readonly output?: object }>>;
  /** Which event goes first when several wait: higher first, 0 unless given. Keys are event descriptors. */
  readonly priorities?: Readonly<Record<string, number>>;
  /** `known` is for events some state handles, `unknown` for all others; `ignore` and `reject` unless given. */
  readonly unhandled?:
    | UnhandledPolicy
    | { readonly known?: UnhandledPolicy; readonly unknown?: UnhandledPolicy };
  readonly matching?: Matching;
  /** These two are for whoever runs the machine; a step does not know them. */
  readonly limits?: RunLimits;
  /** `step` unless given. */
  readonly checkpoint?: CheckpointPolicy<Context>;
  /** Named guards, updates and child machines that the states refer to. */
  readonly guards?: Readonly<Record<string, (scope: Scope<Context, Ev>, params: never) => boolean>>;
  readonly updates?: Readonly<
    Record<string, (draft: Draft<Context>, scope: Scope<Context, Ev>, params: never) => unknown>
  >;
  readonly machines?: Readonly<Record<string, MachineReference>>;
  readonly model?: DataModel;
}

/** What a definition has that a state has not. */
export const machineKeys = [
  ...[
    "id",
    "version",
    "start",
    "context",
    "events",
    "input",
    "output",
    "activities",
    "priorities",
    "unhandled",
  ],
  ...["matching", "limits", "checkpoint", "guards", "updates", "machines", "model"],
] as const;
