/**
 * States as an author writes them, typed by what the machine declares: where transitions may lead, what is invoked and
 * what it gives back. `infer.ts` says how the types come about; what each part does is told in `definition.ts`.
 */
import type { StateDefinition, WritePolicy } from "./definition.ts";
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
  Expression,
  Handlers,
  NameOf,
  Plain,
  Received,
  Transitions,
  Update,
} from "./infer-handler.ts";
import type { Invokes } from "./infer-invoke.ts";
import type { ShorthandParts } from "./infer-shorthand.ts";
import type { Json } from "./json.ts";
import type { InputOf } from "./schema.ts";

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
    >,
    ShorthandParts<
      Context,
      Events,
      Activities,
      Machines,
      Up | Ids | `.${PathsIn<StatesIn<Node>>}`,
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
