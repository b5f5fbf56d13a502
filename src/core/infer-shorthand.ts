/**
 * Shorthand as an author writes it in a machine that declares schemas: `attempt`, `approval` and `map`, with the targets,
 * payloads and names that plain states have. What each part does is told in `shorthand/definition.ts`.
 */
import type { Rate } from "./bounds.ts";
import type { MachineReference } from "./definition.ts";
import type {
  Actions,
  AnyEvent,
  AnyVocabulary,
  At,
  DoneType,
  ErrorType,
  Expression,
  Failure,
  Guard,
  OneOrMany,
  Plain,
  Received,
  TimedParts,
  TransitionParts,
  Transitions,
} from "./infer-handler.ts";
import type {
  ActivityInput,
  ActivityOptions,
  ActivityOutput,
  Chosen,
  Invoke,
  MachineInput,
  MachineOutput,
} from "./infer-invoke.ts";
import type { Json } from "./json.ts";
import type { OutputOf } from "./schema.ts";
import type { Scope } from "./scope.ts";

/** The parts of a state that are shorthand. */
export interface ShorthandParts<
  Context,
  Events,
  Activities,
  Machines,
  Target,
  Names extends AnyVocabulary,
  Literal,
> {
  readonly attempt?: Attempt<Context, Events, Activities, Machines, Target, Names, At<Literal, "attempt">>;
  readonly approval?: Approval<Context, Events, Activities, Machines, Target, Names, At<Literal, "approval">>;
  readonly map?: MapOver<Context, Events, Activities, Machines, Target, Names, At<Literal, "map">>;
}

/** A bound on the time, with where it leads: both or none. */
type Timeout<Context, Events, Target, Names extends AnyVocabulary, Literal> =
  | { readonly timeout?: never; readonly onTimeout?: never }
  | {
      readonly timeout: Expression<number | string, Context, AnyEvent<Events>>;
      readonly onTimeout: OneOrMany<At<Literal, "onTimeout">, Target, TimedParts<Context, Target, Names>>;
    };

interface Catcher<Context, Target, Names extends AnyVocabulary>
  extends TransitionParts<Context, Received<ErrorType, Failure>, Target, Names> {
  readonly errors?: readonly (string | number)[];
}
type Attempt<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> = Timeout<
  Context,
  Events,
  Target,
  Names,
  Literal
> & {
  readonly invoke: Invoke<Context, Events, Activities, Machines, Target, Names, At<Literal, "invoke">> & {
    readonly onError?: never;
  };
  readonly catch: OneOrMany<At<Literal, "catch">, Target, Catcher<Context, Target, Names>>;
  readonly finally?: Actions<Context, AnyEvent<Events>, Names>;
};

/** The event that decides: the one of this name, or the usual one. */
type Decision<Events, Given, Usual> = ([Given] extends [never] ? Usual : Given) extends infer Name
  ? Name extends keyof Events
    ? Received<Name, OutputOf<Events[Name]>>
    : Received<string, Json | undefined>
  : never;
type Approval<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> = Timeout<
  Context,
  Events,
  Target,
  Names,
  Literal
> & {
  readonly ask?:
    | Invoke<Context, Events, Activities, Machines, Target, Names, At<Literal, "ask">>
    | Actions<Context, AnyEvent<Events>, Names>;
  readonly by?: Guard<
    Context,
    Decision<Events, At<Literal, "approve">, "approve"> | Decision<Events, At<Literal, "reject">, "reject">,
    Names
  >;
  readonly onApproved: Transitions<
    Context,
    Decision<Events, At<Literal, "approve">, "approve">,
    Target,
    Names,
    At<Literal, "onApproved">
  >;
  readonly onRejected: Transitions<
    Context,
    Decision<Events, At<Literal, "reject">, "reject">,
    Target,
    Names,
    At<Literal, "onRejected">
  >;
} & Deciding<Events, "approve"> &
  Deciding<Events, "reject">;
/** The name of the deciding event; needed where the machine lists its events and the usual one is not among them. */
type Deciding<Events, Usual extends string> = [Events] extends [never]
  ? { readonly [Key in Usual]?: string }
  : Usual extends keyof Events
    ? { readonly [Key in Usual]?: keyof Events & string }
    : { readonly [Key in Usual]: keyof Events & string };

/** The fields of a context that hold lists. */
type ListIn<Context> = {
  [Key in keyof Context & string]-?: Exclude<Context[Key], undefined> extends readonly unknown[]
    ? Key
    : never;
}[keyof Context & string];
/** What the list holds: known if it is written out or is a field of the context, any JSON if it is computed. */
type ItemOf<Context, Over> = [Over] extends [never]
  ? Json
  : Over extends readonly (infer Item)[]
    ? Item
    : Over extends keyof Context
      ? Exclude<Context[Over], undefined> extends readonly (infer Item)[]
        ? Item
        : Json
      : Json;
/** What `input` sees as `event.data`. */
type ItemData<Item, As> = {
  readonly [Name in [As] extends [never] ? "item" : As extends string ? As : never]: Item;
} & { readonly index: number };
/** Needed unless the item itself will do. */
type ItemInput<Given, Item, Context, Literal> = [Item] extends [Given]
  ? { readonly input?: Expression<Given, Context, ItemEvent<Item, Literal>> }
  : { readonly input: Expression<Given, Context, ItemEvent<Item, Literal>> };
type ItemEvent<Item, Literal> = Received<string, ItemData<Item, At<Literal, "as">>>;

/** What `onDone` and `onError` get: a result for each item, null where it failed. */
interface Settled<Output, Item> {
  readonly results: readonly (Output | null)[];
  readonly failures: readonly { readonly index: number; readonly item: Item; readonly error: Failure }[];
}
interface NoList {
  /** Why there was no list. */
  readonly error?: Failure;
}
interface MapParts<Context, Item, Output, Target, Names extends AnyVocabulary, Literal> {
  readonly as?: string;
  readonly concurrency?: number;
  readonly rate?: Rate<Expression<string, Context, ItemEvent<Item, Literal>>>;
  readonly priority?: Expression<number, Context, ItemEvent<Item, Literal>>;
  readonly tolerate?: number | string;
  readonly collect?:
    | ListIn<Context>
    | { readonly results?: ListIn<Context>; readonly failures?: ListIn<Context> };
  readonly onDone: Transitions<
    Context,
    Received<DoneType, Settled<Output, Item>>,
    Target,
    Names,
    At<Literal, "onDone">
  >;
  readonly onError: Transitions<
    Context,
    Received<ErrorType, Settled<Output, Item> & NoList>,
    Target,
    Names,
    At<Literal, "onError">
  >;
}
type MapOver<Context, Events, Activities, Machines, Target, Names extends AnyVocabulary, Literal> = {
  readonly over:
    | ListIn<Context>
    | readonly Plain[]
    | ((scope: Scope<Context, AnyEvent<Events>>) => readonly Plain[]);
} & (
  | MapActivity<Context, Activities, ItemOf<Context, At<Literal, "over">>, Target, Names, Literal>
  | MapMachine<Context, Machines, ItemOf<Context, At<Literal, "over">>, Target, Names, Literal>
);
type MapActivity<Context, Activities, Item, Target, Names extends AnyVocabulary, Literal> = [
  Activities,
] extends [never]
  ? MapParts<Context, Item, Json, Target, Names, Literal> &
      ActivityOptions<Context, Json | undefined, Names> & {
        readonly activity: string;
        readonly machine?: never;
        readonly once?: boolean;
        readonly reconcile?: string;
      } & ItemInput<Plain | undefined, Item, Context, Literal>
  : {
      [Name in Chosen<Activities, At<Literal, "activity">>]: MapParts<
        Context,
        Item,
        ActivityOutput<Activities[Name]>,
        Target,
        Names,
        Literal
      > &
        ActivityOptions<Context, ActivityOutput<Activities[Name]>, Names> & {
          readonly activity: Name;
          readonly machine?: never;
          readonly once?: boolean;
          readonly reconcile?: keyof Activities & string;
        } & ItemInput<ActivityInput<Activities[Name]>, Item, Context, Literal>;
    }[Chosen<Activities, At<Literal, "activity">>];
type MapMachine<Context, Machines, Item, Target, Names extends AnyVocabulary, Literal> =
  | {
      [Name in Chosen<Machines, At<Literal, "machine">>]: MapParts<
        Context,
        Item,
        MachineOutput<Machines[Name]>,
        Target,
        Names,
        Literal
      > & { readonly machine: Name; readonly activity?: never } & ItemInput<
          MachineInput<Machines[Name]>,
          Item,
          Context,
          Literal
        >;
    }[Chosen<Machines, At<Literal, "machine">>]
  | (MapParts<Context, Item, MachineOutput<At<Literal, "machine">>, Target, Names, Literal> & {
      readonly machine: MachineReference;
      readonly activity?: never;
    } & ItemInput<MachineInput<At<Literal, "machine">>, Item, Context, Literal>);
