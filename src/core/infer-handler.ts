/**
 * Handlers as an author writes them, typed by what the machine declares: guards, updates, actions and transitions.
 * `infer.ts` says how the types come about; what each part does is told in `definition.ts`.
 */
import type { Draft, EventSource, MachineReference } from "./definition.ts";
import type { Address } from "./effect.ts";
import type { Event } from "./event.ts";
import type { Json } from "./json.ts";
import type { InputOf, OutputOf } from "./schema.ts";
import type { EnsureScope, Scope } from "./scope.ts";
import type { ResumePolicy } from "./timer.ts";

/** Whatever can become JSON. Not `unknown`, which would take lambdas their parameters. */
export type Plain = null | boolean | number | string | object;
export type Expression<Value, Context, Ev> = Value | ((scope: Scope<Context, Ev>) => Value);

/** An event as a handler sees it. */
export interface Received<Type, Data> extends Omit<Event, "type" | "data"> {
  readonly type: Type;
  readonly data: Data;
}

export type DoneType = `done.${string}`;
export type ErrorType = `error.${string}`;
type PlatformEvent =
  | Received<DoneType | ErrorType | `unknown.${string}`, Json | undefined>
  | Received<`after.${string}` | "start" | "cancel" | "migrate", Json | undefined>;
type TimerEvent = Received<`after.${string}`, undefined>;

/** What `onError` gets as data. */
export interface Failure {
  readonly message: string;
  readonly name?: string;
  readonly code?: string | number;
  /** How often it was tried. */
  readonly attempts?: number;
}

export type OwnEvent<Events> = {
  [Type in keyof Events & string]: Received<Type, OutputOf<Events[Type]>>;
}[keyof Events & string];
/** What a handler may see that is not for one event. */
export type AnyEvent<Events> = [Events] extends [never] ? Event : OwnEvent<Events> | PlatformEvent;

/** The names a machine declares; `never` where it declares none of that kind, and any goes. */
export interface Vocabulary<Events, Guards, Updates, Activities> {
  readonly events: Events;
  readonly guards: Guards;
  readonly updates: Updates;
  readonly activities: Activities;
}
export type AnyVocabulary = Vocabulary<unknown, unknown, unknown, unknown>;
export type NameOf<Declared> = [Declared] extends [never] ? string : keyof Declared & string;

/** How a guard or an update of a name is used: by the name alone, or with the parameters it takes. */
type Use<Params, Context, Ev> = [Params] extends [never]
  ? string | { readonly type: string; readonly params?: Expression<Plain, Context, Ev> }
  : {
      [Name in keyof Params & string]: [Params[Name]] extends [never]
        ? Name | { readonly type: Name }
        : { readonly type: Name; readonly params: Expression<Params[Name], Context, Ev> };
    }[keyof Params & string];
type GuardParams<Guards> = [Guards] extends [never]
  ? never
  : { readonly [Name in keyof Guards]: SecondOf<Guards[Name]> };
type UpdateParams<Updates> = [Updates] extends [never]
  ? never
  : { readonly [Name in keyof Updates]: ThirdOf<Updates[Name]> };
type SecondOf<Code> = Code extends (...given: infer Given) => unknown
  ? Given extends readonly [unknown, infer Params, ...unknown[]]
    ? Params
    : never
  : never;
type ThirdOf<Code> = Code extends (...given: infer Given) => unknown
  ? Given extends readonly [unknown, unknown, infer Params, ...unknown[]]
    ? Params
    : never
  : never;

export type Guard<Context, Ev, Names extends AnyVocabulary> =
  | Use<GuardParams<Names["guards"]>, Context, Ev>
  | ((scope: Scope<Context, Ev>) => boolean)
  | { readonly in: string }
  | { readonly and: readonly Guard<Context, Ev, Names>[] }
  | { readonly or: readonly Guard<Context, Ev, Names>[] }
  | { readonly not: Guard<Context, Ev, Names> }
  /** The event under way reports an error of one of these names or codes. */
  | { readonly error: string | number | readonly (string | number)[] };
export type Update<Context, Ev, Names extends AnyVocabulary> =
  | Use<UpdateParams<Names["updates"]>, Context, Ev>
  | ((draft: Draft<Context>, scope: Scope<Context, Ev>) => unknown);

/** One of the machine's own events, to raise or to send to itself. */
type Raised<Events, Context, Ev> = [Events] extends [never]
  ? EventSource<Context, Ev>
  :
      | BareType<Events>
      | ((scope: Scope<Context, Ev>) => Outgoing<Events>)
      | {
          [Type in keyof Events & string]: {
            readonly type: Type;
            readonly data: Expression<InputOf<Events[Type]>, Context, Ev>;
          };
        }[keyof Events & string]
      | { readonly type: BareType<Events> };
/** The events that need no data. */
type BareType<Events> = {
  [Type in keyof Events & string]: undefined extends InputOf<Events[Type]> ? Type : never;
}[keyof Events & string];
type Outgoing<Events> = {
  [Type in keyof Events & string]: { readonly type: Type; readonly data: InputOf<Events[Type]> };
}[keyof Events & string];

interface Posting<Context, Ev> {
  /** Milliseconds, or text such as `30s`, `1.5 h` or `2 days`. */
  readonly delay?: Expression<number | string, Context, Ev>;
  readonly resume?: ResumePolicy;
  /** A name to cancel it by. */
  readonly id?: Expression<string, Context, Ev>;
}
/** To itself goes what it knows; to others goes what they know. */
type Sent<Events, Context, Ev> =
  | BareType<Events>
  | (Exclude<Raised<Events, Context, Ev>, string | ((scope: never) => unknown)> &
      Posting<Context, Ev> & { readonly to?: "self" | "internal" })
  | (Posting<Context, Ev> & {
      readonly type: Expression<string, Context, Ev>;
      readonly data?: Expression<Plain, Context, Ev>;
      readonly to: Expression<Exclude<Address, "self" | "internal">, Context, Ev>;
      readonly via?: Expression<string, Context, Ev>;
    })
  | ((scope: Scope<Context, Ev>) => { readonly type: string; readonly data?: Plain });

/** See `Action` of definition.ts for what each does. */
type Action<Context, Ev, Names extends AnyVocabulary> =
  | { readonly update: Update<Context, Ev, Names> }
  | { readonly raise: Raised<Names["events"], Context, Ev> }
  | { readonly send: Sent<Names["events"], Context, Ev> }
  | { readonly cancel: Expression<string, Context, Ev> }
  | { readonly emit: EventSource<Context, Ev> }
  | { readonly log: Expression<Plain, Context, Ev>; readonly label?: string }
  | { readonly spawn: string | Spawned<Context, Ev> }
  | { readonly reply: Expression<Plain, Context, Ev>; readonly to?: Expression<string, Context, Ev> }
  | { readonly compensate: true }
  | { readonly stop: Expression<string, Context, Ev> }
  | { readonly choose: readonly Branch<Context, Ev, Names>[] };
interface Spawned<Context, Ev> {
  readonly machine: string | MachineReference;
  readonly id?: Expression<string, Context, Ev>;
  readonly input?: Expression<Plain, Context, Ev>;
}
interface Branch<Context, Ev, Names extends AnyVocabulary> {
  readonly guard?: Guard<Context, Ev, Names>;
  readonly actions?: Actions<Context, Ev, Names>;
}
export type Actions<Context, Ev, Names extends AnyVocabulary> =
  | Action<Context, Ev, Names>
  | readonly Action<Context, Ev, Names>[];
export type Blocks<Context, Ev, Names extends AnyVocabulary> =
  | Actions<Context, Ev, Names>
  | readonly (readonly Action<Context, Ev, Names>[])[];
export type Contracts<Context, Ev, Names extends AnyVocabulary> = Readonly<
  Record<string, Guard<Context, Ev, Names>>
>;
export type Ensures<Context, Ev, Names extends AnyVocabulary> = Readonly<
  Record<string, ((scope: EnsureScope<Context, Ev>) => boolean) | NameOf<Names["guards"]>>
>;

export interface TransitionParts<Context, Ev, Target, Names extends AnyVocabulary> {
  readonly target?: Target | readonly Target[];
  readonly guard?: Guard<Context, Ev, Names>;
  readonly update?: Update<Context, Ev, Names>;
  readonly actions?: Actions<Context, Ev, Names>;
  readonly reenter?: boolean;
  readonly require?: Contracts<Context, Ev, Names>;
  readonly ensure?: Ensures<Context, Ev, Names>;
  readonly description?: string;
  readonly meta?: Json;
}
/** What a literal has under a key; `never` where that is nothing, or not known. */
export type At<Literal, Key> = Key extends keyof Literal ? Literal[Key] : never;
/**
 * One or many, each by its target alone or in parts: whichever of these the literal is. A union of all three would be
 * as right, but with hundreds of targets in it the compiler takes its time, and its messages name none of them.
 */
export type OneOrMany<Literal, Target, Parts> = [Literal] extends [never]
  ? Target | Parts | readonly (Target | Parts)[]
  : Literal extends string
    ? Target
    : Literal extends readonly unknown[]
      ? { readonly [Index in keyof Literal]: Literal[Index] extends string ? Target : Parts }
      : Parts;
export type Transitions<Context, Ev, Target, Names extends AnyVocabulary, Literal> = OneOrMany<
  Literal,
  Target,
  TransitionParts<Context, Ev, Target, Names>
>;

export interface TimedParts<Context, Target, Names extends AnyVocabulary>
  extends TransitionParts<Context, TimerEvent, Target, Names> {
  readonly resume?: ResumePolicy;
}
export type After<Context, Events, Target, Names extends AnyVocabulary, Literal> = [Literal] extends [never]
  ?
      | DelayedList<Context, Events, Target, Names>
      | { readonly [delay: string]: OneOrMany<never, Target, TimedParts<Context, Target, Names>> }
  : Literal extends readonly unknown[]
    ? DelayedList<Context, Events, Target, Names>
    : {
        readonly [Delay in keyof Literal]: OneOrMany<
          Literal[Delay],
          Target,
          TimedParts<Context, Target, Names>
        >;
      };
type DelayedList<Context, Events, Target, Names extends AnyVocabulary> = readonly (TimedParts<
  Context,
  Target,
  Names
> & { readonly delay: Expression<number | string, Context, AnyEvent<Events>> })[];

export type Handlers<Context, Events, Target, Names extends AnyVocabulary, Literal> = [Events] extends [never]
  ? { readonly [type: string]: Transitions<Context, Event, Target, Names, never> }
  : {
      readonly [Type in keyof Events]?: Transitions<
        Context,
        Received<Type, OutputOf<Events[Type]>>,
        Target,
        Names,
        At<Literal, Type>
      >;
    } & {
      readonly [type: DoneType | ErrorType | `${string}*`]: Transitions<
        Context,
        AnyEvent<Events>,
        Target,
        Names,
        never
      >;
    };
