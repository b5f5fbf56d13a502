/**
 * What an author writes as shorthand. What it is made of (transitions, guards, expressions) comes in as `Pieces`, so that
 * `definition.ts`, which has these as parts of a state, need not be known here.
 */

/** The parts of a definition that shorthand is made of; `definition.ts` says what they are. */
interface AnyPieces {
  readonly invoke: unknown;
  readonly perItem: object;
  readonly machine: unknown;
  readonly list: unknown;
  readonly delay: unknown;
  readonly guard: unknown;
  readonly actions: unknown;
  readonly transition: object;
  readonly decided: unknown;
  readonly settled: unknown;
  readonly timed: unknown;
}

/** An error's names or codes, and where it leads; without `errors`, any error. */
export type Catcher<Pieces extends AnyPieces> =
  | string
  | (Pieces["transition"] & { readonly errors?: readonly (string | number)[] });

/** An invocation with what its errors lead to, and a bound on all its attempts together. */
export interface Attempt<Pieces extends AnyPieces> {
  readonly invoke: Pieces["invoke"];
  /** The first that names the error takes it; the last one names none, and takes the rest. */
  readonly catch: Catcher<Pieces> | readonly Catcher<Pieces>[];
  /** For all attempts and the waiting between them; `invoke.timeout` is for each. */
  readonly timeout?: Pieces["delay"];
  readonly onTimeout?: Pieces["timed"];
  /** Run when the state is left, whichever way. */
  readonly finally?: Pieces["actions"];
}

/** What an invocation of a map has of an activity's options. */
type ItemOption =
  | ("input" | "retry" | "timeout" | "heartbeat" | "once" | "reconcile" | "compensate")
  | ("rate" | "priority");

/** Where results and failures end in the context. */
export type Collect = string | { readonly results?: string; readonly failures?: string };

/** An activity or a child machine for every item of a list, a few at a time. */
export type MapParts<Pieces extends AnyPieces> = Pick<
  Pieces["perItem"],
  ItemOption & keyof Pieces["perItem"]
> & {
  /** The list: written out, computed, or the field of the context that holds it. */
  readonly over: Pieces["list"];
  /** The item's name in `event.data` of `input`; `item` unless given. `input` is the item unless given. */
  readonly as?: string;
  /** One of the two. */
  readonly activity?: string;
  readonly machine?: Pieces["machine"];
  /** How many at a time; 1 unless given. */
  readonly concurrency?: number;
  /** How many items may fail: a number, or a share such as `20%`; 0 unless given. */
  readonly tolerate?: number | string;
  /** The field of the context that gets the results, in order, with null for what failed. */
  readonly collect?: Collect;
  /** With `{ results, failures }` as `event.data`. */
  readonly onDone: Pieces["settled"];
  readonly onError: Pieces["settled"];
};

/** Waiting for somebody to say yes or no. */
export interface Approval<Pieces extends AnyPieces> {
  /** What tells whoever decides: an invocation, or actions. */
  readonly ask?: Pieces["invoke"] | Pieces["actions"];
  /** The events that say yes and no; `approve` and `reject` unless given. */
  readonly approve?: string;
  readonly reject?: string;
  /** Who may decide: an event for which it does not hold is not taken. */
  readonly by?: Pieces["guard"];
  readonly timeout?: Pieces["delay"];
  readonly onApproved: Pieces["decided"];
  readonly onRejected: Pieces["decided"];
  readonly onTimeout?: Pieces["timed"];
}

/** Begins a list, settles a worker's item by the event under way, or ends the list. */
export type MapAction<List> =
  | {
      readonly begin: string;
      readonly over: List;
      readonly workers: number;
      readonly tolerate?: number | string;
      readonly collect?: Collect;
    }
  | { readonly settle: string; readonly worker: number }
  | { readonly end: string };

/** The item that a worker of a map has, as `event.data` of its input: by this name, with its `index`. */
export interface MapItem {
  readonly of: string;
  readonly worker: number;
  readonly as?: string;
}
