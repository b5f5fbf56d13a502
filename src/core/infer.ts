/**
 * What an author writes, typed by what the same definition declares. Schemas give context, events, inputs and outputs;
 * the literal of `states` gives the targets; `guards` and `updates` give their names.
 *
 * How it holds together, since the compiler infers all of it from one object:
 * I1. The compiler looks twice: first without the lambdas, then with them, and their parameters come from the first look.
 *     So what a parameter depends on must be written without lambdas: schemas, names, a child machine, the `as` of a map.
 * I2. What is not yet known is `never`, and `never` allows any name. So a first look finds no fault with what it does not
 *     see, and the second, with everything known, is strict.
 * I3. `Capture` takes the literal as it stands without being a type that anything is checked against, so that
 *     what is checked keeps its excess properties and its suggestions.
 * I4. Where a lambda stands in a literal, the first look takes the literal's outline, and so does an editor: it completes in
 *     code that does not compile yet, and there the compiler never looks twice.
 * A definition that declares no schema is a plain `MachineDefinition`, as if this file were not there.
 */
import type { ActivityScope } from "./activity.ts";
import type { Draft, MachineDefinition } from "./definition.ts";
import type { Event, EventShape } from "./event.ts";
import type { AnyEvent, Vocabulary } from "./infer-handler.ts";
import type { composed, IdsIn, TypedRoot, TypedStates } from "./infer-state.ts";
import type { Json } from "./json.ts";
import type { InputOf, OutputOf, Schema } from "./schema.ts";
import type { Scope } from "./scope.ts";

/**
 * Nothing, but a place the compiler infers `Literal` from: as it stands or, while there are lambdas in it that are not
 * known, by its outline. It stands in the false branch, since in the true one `Literal` would be another type.
 */
type Capture<Literal> = [Literal] extends [unknown] ? never : Literal | Outline<Literal>;
type Outline<Literal> = { readonly [Key in keyof Literal]: Literal[Key] | Outline<Literal[Key]> };

/** The same type, as a place that nothing is inferred from. `NoInfer` would stay around every part of it. */
type Kept<Literal> = [Literal] extends [infer Same] ? Same : never;

/** Whether a schema of its own was written there, rather than nothing, or any. */
type Stated<Given> = [Given] extends [never] ? never : Schema extends Given ? never : true;
type StatedEvents<Events> = [Events] extends [never]
  ? never
  : string extends keyof Events
    ? never
    : [Extract<Events[keyof Events], Schema>] extends [never]
      ? never
      : true;
type StatedActivities<Activities> = [Activities] extends [never]
  ? never
  : string extends keyof Activities
    ? never
    : true;

export type ContextOf<Given, Context> = [Stated<Given>] extends [never] ? Context : OutputOf<Given>;
type FirstContext<Given, Context> = [Stated<Given>] extends [never] ? Context : InputOf<Given>;
type EventsOf<Events> = [StatedEvents<Events>] extends [never] ? never : Events;
type ActivitiesOf<Activities> = [StatedActivities<Activities>] extends [never] ? never : Activities;

/** Whether anything is typed: `never` if the definition declares no schema. */
export type Typed<C, E, I, O, A> = Stated<C> | Stated<I> | Stated<O> | StatedEvents<E> | StatedActivities<A>;

/** A definition: typed by its schemas if it has any, and as it always was if it has none. */
export type DefinitionOf<Context, Ev extends EventShape, Input, C, E, I, O, A, M, G, U, S> = [
  Typed<C, E, I, O, A>,
] extends [never]
  ? MachineDefinition<Context, Ev, Input>
  : TypedDefinition<Context, C, E, I, O, A, M, G, U, S>;

type MachineSettings<Context> = Pick<
  MachineDefinition<Context>,
  "version" | "priorities" | "unhandled" | "limits" | "checkpoint" | "model"
>;

type TypedDefinition<Context, C, E, I, O, A, M, G, U, S> = MachineSettings<ContextOf<C, Context>> &
  TypedRoot<
    ContextOf<C, Context>,
    EventsOf<E>,
    ActivitiesOf<A>,
    M,
    Kept<S>,
    Vocabulary<EventsOf<E>, Kept<G>, Kept<U>, ActivitiesOf<A>>
  > & {
    readonly id: string;
    readonly type?: "parallel";
    /** Schemas: of the context after every step, of the data of events, of what runs are given and end with. */
    readonly context?: C;
    readonly events?: E;
    readonly input?: I;
    readonly output?: O;
    /** The schemas of the activities that states invoke; `implement` binds their code. */
    readonly activities?: A;
    readonly machines?: M;
    readonly start?:
      | FirstContext<C, Context>
      | ((scope: { readonly input: OutputOf<I>; readonly at: number }) => FirstContext<C, Context>);
    /** Named guards and updates. Further parameters are given where the name is used. */
    readonly guards?:
      | Readonly<
          Record<
            string,
            (scope: Scope<ContextOf<C, Context>, AnyEvent<EventsOf<E>>>, params: never) => boolean
          >
        >
      | Capture<G>;
    readonly updates?:
      | Readonly<
          Record<
            string,
            (
              draft: Draft<ContextOf<C, Context>>,
              scope: Scope<ContextOf<C, Context>, AnyEvent<EventsOf<E>>>,
              params: never,
            ) => unknown
          >
        >
      | Capture<U>;
    readonly states:
      | Kept<
          TypedStates<
            ContextOf<C, Context>,
            EventsOf<E>,
            ActivitiesOf<A>,
            M,
            O,
            never,
            IdsIn<Kept<S>>,
            Kept<S>,
            Vocabulary<EventsOf<E>, Kept<G>, Kept<U>, ActivitiesOf<A>>
          >
        >
      | Capture<S>;
  };

/** What is known of the machine that such a definition makes. */
export interface TypesOf<E, I, O, A, S> {
  readonly input: [Stated<I>] extends [never] ? Json | undefined : InputOf<I>;
  readonly sends: SendsOf<EventsOf<E>>;
  readonly ends: EndsOf<S, O>;
  readonly activities: ActivityCodes<ActivitiesOf<A>>;
  readonly paths: StatePaths<S>;
}

/** The paths of all states; inside a composed machine, whose states are not known here, any. */
type StatePaths<States> = {
  [Key in keyof States & string]:
    | Key
    | (States[Key] extends { readonly states: infer Below }
        ? `${Key}.${StatePaths<Below>}`
        : States[Key] extends { readonly [composed]: unknown }
          ? `${Key}.${string}`
          : never);
}[keyof States & string];
export type EventShapes<Events> = [StatedEvents<Events>] extends [never]
  ? Event
  : {
      [Type in keyof Events & string]: { readonly type: Type; readonly data: OutputOf<Events[Type]> };
    }[keyof Events & string];

/** By event, what may be sent along. */
type SendsOf<Events> = [Events] extends [never]
  ? unknown
  : { readonly [Type in keyof Events & string]: InputOf<Events[Type]> };

/** One for every final state of the machine itself. Without any it is parallel, and ends when its regions have. */
type EndsOf<States, Output> = [FinalIn<States>] extends [never]
  ? {
      readonly state: string;
      readonly output: [Stated<Output>] extends [never] ? Json | undefined : OutputOf<Output>;
    }
  : {
      [Key in FinalIn<States>]: { readonly state: Key; readonly output: EndOutput<States[Key], Output> };
    }[FinalIn<States>];
type FinalIn<States> = {
  [Key in keyof States & string]: States[Key] extends { readonly type: "final" } ? Key : never;
}[keyof States & string];
type EndOutput<Node, Output> = Node extends { readonly output: infer Given }
  ? [Stated<Output>] extends [never]
    ? Given extends (...scope: never) => infer Made
      ? Made
      : Given
    : OutputOf<Output>
  : undefined;

/** The code of activities, by name: given what their schemas let in, they give what their schemas let out. */
type ActivityCodes<Activities> = [Activities] extends [never]
  ? unknown
  : { readonly [Name in keyof Activities]?: CodeOf<Activities[Name]> };
type CodeOf<Types> = (
  input: Types extends { readonly input: infer Given extends Schema } ? OutputOf<Given> : Json | undefined,
  scope: ActivityScope,
) => Awaitable<Types extends { readonly output: infer Given extends Schema } ? InputOf<Given> : unknown>;
type Awaitable<Value> = Value | Promise<Value>;
