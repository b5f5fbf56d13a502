/**
 * Invocations as an author writes them, typed by what the machine declares: an activity or a child machine by name, what
 * it is given, and what it gives back. `infer.ts` says how the types come about.
 */
import type { Concurrency, Rate } from "./bounds.ts";
import type { MachineReference, MachineTypes } from "./definition.ts";
import type {
  Actions,
  AnyEvent,
  AnyVocabulary,
  At,
  DoneType,
  ErrorType,
  Expression,
  Failure,
  NameOf,
  Plain,
  Received,
  Transitions,
} from "./infer-handler.ts";
import type { Json } from "./json.ts";
import type { InputOf, OutputOf, Schema } from "./schema.ts";

interface InvokeParts<Context, Events, Output, Target, Names extends AnyVocabulary, Literal> {
  readonly id?: string;
  readonly onDone?: Transitions<Context, Received<DoneType, Output>, Target, Names, At<Literal, "onDone">>;
  readonly onError?: Transitions<
    Context,
    Received<ErrorType, Failure>,
    Target,
    Names,
    At<Literal, "onError">
  >;
  readonly finalize?: Actions<Context, AnyEvent<Events>, Names>;
}
type Unknown<Context, Target, Names extends AnyVocabulary, Literal> = Transitions<
  Context,
  Received<`unknown.${string}`, { readonly message: string }>,
  Target,
  Names,
  At<Literal, "onUnknown">
>;
/** What runs at most once may end without an answer, and then somebody must know what to do. */
type Once<Context, Target, Names extends AnyVocabulary, Literal> =
  | { readonly once?: false; readonly onUnknown?: Unknown<Context, Target, Names, Literal> }
  | {
      readonly once: true;
      readonly onUnknown: Unknown<Context, Target, Names, Literal>;
      readonly reconcile?: NameOf<Names["activities"]>;
    }
  | {
      readonly once: true;
      readonly reconcile: NameOf<Names["activities"]>;
      readonly onUnknown?: Unknown<Context, Target, Names, Literal>;
    };
/** What goes to the runtime with an activity. */
export interface ActivityOptions<Context, Output, Names extends AnyVocabulary> {
  /** What undoes it once it is done: an activity, given this one's output unless `input` says otherwise. */
  readonly compensate?:
    | NameOf<Names["activities"]>
    | {
        readonly activity: NameOf<Names["activities"]>;
        readonly input?: Expression<Plain, Context, Received<DoneType, Output>>;
      };
  readonly retry?: Json;
  readonly timeout?: number | string;
  readonly heartbeat?: number | string;
}
interface ActivityParts<Name, Context, Events, Output, Target, Names extends AnyVocabulary, Literal>
  extends InvokeParts<Context, Events, Output, Target, Names, Literal>,
    ActivityOptions<Context, Output, Names> {
  readonly activity: Name;
  readonly concurrency?: Concurrency<Expression<string, Context, AnyEvent<Events>>>;
  readonly rate?: Rate<Expression<string, Context, AnyEvent<Events>>>;
  readonly priority?: Expression<number, Context, AnyEvent<Events>>;
  readonly machine?: never;
}
interface ChildParts<Name, Context, Events, Output, Target, Names extends AnyVocabulary, Literal>
  extends InvokeParts<Context, Events, Output, Target, Names, Literal> {
  readonly machine: Name;
  readonly activity?: never;
  readonly autoforward?: boolean;
}
/** Needed unless it may be left out. */
type Input<Given, Context, Events> = undefined extends Given
  ? { readonly input?: Expression<Exclude<Given, undefined>, Context, AnyEvent<Events>> }
  : { readonly input: Expression<Given, Context, AnyEvent<Events>> };

/** The schemas of an activity. Without one of them, anything that is JSON goes there. */
export interface ActivityTypes {
  readonly input?: Schema;
  readonly output?: Schema;
}
export type ActivityInput<Types> = Types extends { readonly input: infer Given extends Schema }
  ? InputOf<Given>
  : Plain | undefined;
export type ActivityOutput<Types> = Types extends { readonly output: infer Given extends Schema }
  ? OutputOf<Given>
  : Json | undefined;

export type Invoke<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> =
  | InvokeActivity<Context, Events, Activities, Target, Names, Literal>
  | InvokeMachine<Context, Events, Machines, Target, Names, Literal>;
export type Invokes<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> = [
  Literal,
] extends [never]
  ?
      | Invoke<Context, Events, Activities, Machines, Target, Names, never>
      | readonly Invoke<Context, Events, Activities, Machines, Target, Names, never>[]
  : Literal extends readonly unknown[]
    ? {
        readonly [Index in keyof Literal]: Invoke<
          Context,
          Events,
          Activities,
          Machines,
          Target,
          Names,
          Literal[Index]
        >;
      }
    : Invoke<Context, Events, Activities, Machines, Target, Names, Literal>;

type InvokeActivity<Context, Events, Activities, Target, Names extends AnyVocabulary, Literal> = [
  Activities,
] extends [never]
  ? ActivityParts<
      Expression<string, Context, AnyEvent<Events>>,
      Context,
      Events,
      Json | undefined,
      Target,
      Names,
      Literal
    > &
      Input<Plain | undefined, Context, Events> &
      Once<Context, Target, Names, Literal>
  : {
      [Name in Chosen<Activities, At<Literal, "activity">>]: ActivityParts<
        Name,
        Context,
        Events,
        ActivityOutput<Activities[Name]>,
        Target,
        Names,
        Literal
      > &
        Input<ActivityInput<Activities[Name]>, Context, Events> &
        Once<Context, Target, Names, Literal>;
    }[Chosen<Activities, At<Literal, "activity">>];
type InvokeMachine<Context, Events, Machines, Target, Names extends AnyVocabulary, Literal> =
  | {
      [Name in Chosen<Machines, At<Literal, "machine">>]: ChildParts<
        Name,
        Context,
        Events,
        MachineOutput<Machines[Name]>,
        Target,
        Names,
        Literal
      > &
        Input<MachineInput<Machines[Name]>, Context, Events>;
    }[Chosen<Machines, At<Literal, "machine">>]
  | (ChildParts<
      MachineReference,
      Context,
      Events,
      MachineOutput<At<Literal, "machine">>,
      Target,
      Names,
      Literal
    > &
      Input<MachineInput<At<Literal, "machine">>, Context, Events>);
/** The one that the literal names, or all of them. */
export type Chosen<Declared, Name> = [Name] extends [never]
  ? keyof Declared & string
  : Name extends keyof Declared & string
    ? Name
    : keyof Declared & string;

/** What a machine is given at its start; nothing, where it says not what. */
export type MachineInput<Given> = [unknown] extends [TypesOf<Given>["input"]]
  ? Plain | undefined
  : TypesOf<Given>["input"];
/** What a machine ends with. */
export type MachineOutput<Given> = [unknown] extends [TypesOf<Given>["ends"]]
  ? Json | undefined
  : (TypesOf<Given>["ends"] & { readonly output: unknown })["output"];
type TypesOf<Given> = [Given] extends [never]
  ? MachineTypes
  : Given extends MachineReference<infer Types>
    ? Types
    : MachineTypes;
