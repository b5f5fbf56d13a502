/**
 * States as an author writes them, typed by what the machine declares: where transitions may lead, what is invoked and
 * what it gives back. `infer.ts` says how the types come about; what each part does is told in `definition.ts`.
 */

import type { Concurrency, Rate } from "./bounds.ts";
import type { MachineReference, MachineTypes, StateDefinition, WritePolicy } from "./definition.ts";
import type {
  Actions,
  After,
  AnyEvent,
  AnyVocabulary,
  At,
  Blocks,
  Contracts,
  DoneType,
  Ensures,
  ErrorType,
  Expression,
  Failure,
  Handlers,
  NameOf,
  Plain,
  Received,
  Transitions,
  Update,
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
interface ActivityParts<Name, Context, Events, Output, Target, Names extends AnyVocabulary, Literal>
  extends InvokeParts<Context, Events, Output, Target, Names, Literal> {
  readonly activity: Name;
  readonly machine?: never;
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
  readonly concurrency?: Concurrency<Expression<string, Context, AnyEvent<Events>>>;
  readonly rate?: Rate<Expression<string, Context, AnyEvent<Events>>>;
  readonly priority?: Expression<number, Context, AnyEvent<Events>>;
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

type Invoke<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> =
  | InvokeActivity<Context, Events, Activities, Target, Names, Literal>
  | InvokeMachine<Context, Events, Machines, Target, Names, Literal>;
type Invokes<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> = [
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
  | (ChildParts<MachineReference, Context, Events, Json | undefined, Target, Names, Literal> &
      Input<MachineInput<At<Literal, "machine">>, Context, Events>);
/** The one that the literal names, or all of them. */
type Chosen<Declared, Name> = [Name] extends [never]
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

export declare const composed: unique symbol;
/** A machine put into another as a state. What it reads and writes is the other's context, so they must agree on it. */
export interface Composed<Context> {
  readonly [composed]: (context: Context) => Context;
}

/** The children of a state's literal; `never` while it is not known. */
type StatesIn<Node> = [Node] extends [never]
  ? never
  : Node extends { readonly states: infer States }
    ? States
    : unknown;
/** Every way down from here: keys, and keys of keys. */
export type PathsIn<States> = [States] extends [never]
  ? string
  : {
      [Key in keyof States & string]:
        | Key
        | (States[Key] extends { readonly states: infer Below } ? `${Key}.${PathsIn<Below>}` : never);
    }[keyof States & string];
/** Every `#id`, and every way down from one. */
export type IdsIn<States> = [States] extends [never]
  ? string
  : {
      [Key in keyof States & string]:
        | (States[Key] extends { readonly id: infer Id extends string }
            ? IdPaths<Id, StatesIn<States[Key]>>
            : never)
        | (States[Key] extends { readonly states: infer Below } ? IdsIn<Below> : never);
    }[keyof States & string];
type IdPaths<Id extends string, States> = `#${Id}` | `#${Id}.${PathsIn<States>}`;

type Initial<Context, Events, Path, Names extends AnyVocabulary> =
  | Path
  | readonly Path[]
  | {
      readonly target: Path | readonly Path[];
      readonly update?: Update<Context, AnyEvent<Events>, Names>;
      readonly actions?: Actions<Context, AnyEvent<Events>, Names>;
    };

/** What every state can have, the machine itself included. */
interface StateParts<
  Context,
  Events,
  Activities,
  Machines,
  Target,
  Inside,
  Names extends AnyVocabulary,
  Literal,
> extends Pick<StateDefinition, "tags" | "description" | "meta"> {
  readonly initial?: Initial<Context, Events, Inside, Names>;
  readonly on?: Handlers<Context, Events, Target, Names, At<Literal, "on">>;
  readonly always?: Transitions<Context, AnyEvent<Events>, Target, Names, At<Literal, "always">>;
  readonly after?: After<Context, Events, Target, Names, At<Literal, "after">>;
  readonly entry?: Blocks<Context, AnyEvent<Events>, Names>;
  readonly exit?: Blocks<Context, AnyEvent<Events>, Names>;
  readonly invoke?: Invokes<Context, Events, Activities, Machines, Target, Names, At<Literal, "invoke">>;
  readonly defer?: readonly NameOf<Events>[];
  readonly writes?: WritePolicy | Readonly<Record<string, WritePolicy>>;
  readonly invariants?: Contracts<Context, AnyEvent<Events>, Names>;
  readonly require?: Contracts<Context, AnyEvent<Events>, Names>;
  readonly ensure?: Ensures<Context, AnyEvent<Events>, Names>;
}
interface TypedState<
  Context,
  Events,
  Activities,
  Machines,
  Output,
  Up,
  Ids,
  Node,
  Names extends AnyVocabulary,
> extends StateParts<
    Context,
    Events,
    Activities,
    Machines,
    Up | Ids | `.${PathsIn<StatesIn<Node>>}`,
    PathsIn<StatesIn<Node>> | `.${PathsIn<StatesIn<Node>>}` | Ids,
    Names,
    Node
  > {
  readonly id?: string;
  readonly type?: "parallel" | "final" | "history";
  readonly states?: TypedStates<
    Context,
    Events,
    Activities,
    Machines,
    Output,
    Up,
    Ids,
    StatesIn<Node>,
    Names
  >;
  readonly onDone?: Transitions<
    Context,
    Received<DoneType, Json | undefined>,
    Up | Ids | `.${PathsIn<StatesIn<Node>>}`,
    Names,
    At<Node, "onDone">
  >;
  readonly output?: Expression<[Output] extends [never] ? Plain : InputOf<Output>, Context, AnyEvent<Events>>;
  readonly history?: "shallow" | "deep";
  readonly target?: Up | Ids | readonly (Up | Ids)[];
  readonly update?: Update<Context, AnyEvent<Events>, Names>;
  readonly actions?: Actions<Context, AnyEvent<Events>, Names>;
  /** A machine that `asState` put here; it must keep the same context. */
  readonly [composed]?: Composed<Context>[typeof composed];
}
export type TypedStates<
  Context,
  Events,
  Activities,
  Machines,
  Output,
  Up,
  Ids,
  States,
  Names extends AnyVocabulary,
> = [States] extends [never]
  ? {
      readonly [key: string]: TypedState<
        Context,
        Events,
        Activities,
        Machines,
        Output,
        string,
        string,
        never,
        Names
      >;
    }
  : {
      readonly [Key in keyof States]: TypedState<
        Context,
        Events,
        Activities,
        Machines,
        Output,
        Up | PathsIn<States>,
        Ids,
        States[Key],
        Names
      >;
    };

export type TypedRoot<
  Context,
  Events,
  Activities,
  Machines,
  States,
  Names extends AnyVocabulary,
> = StateParts<
  Context,
  Events,
  Activities,
  Machines,
  PathsIn<States> | `.${PathsIn<States>}` | IdsIn<States>,
  PathsIn<States> | `.${PathsIn<States>}` | IdsIn<States>,
  Names,
  never
>;
