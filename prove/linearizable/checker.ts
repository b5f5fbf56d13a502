/**
 * The checker: whether there is an order of operations, each at a moment between its call and its answer, in which a cell that
 * nobody shares would have given all those answers. It is the search of Wing and Gong, which takes the operations one after
 * the other and goes back where it cannot go on, and remembers where it has been, as Lowe does. Histories of different cells
 * are looked at one by one: a whole is linearizable if its parts are.
 *
 * C1. An operation comes before all those that were called after it was answered.
 * C2. One that nobody was answered may have happened at any moment after its call, or never.
 * C3. What changes nothing, whenever it happens, and would be answered as it was is taken at once: no later moment can be
 *     better for the others. A write of what is there already is not of that kind: later it might change something.
 */
import { type Answer, applyTo, firstValue, type Operation } from "./cell.ts";

/** One operation as its client saw it, by the clock of the machine that all clients are on. */
export interface Call {
  readonly client: string;
  readonly operation: Operation;
  readonly from: number;
  /** When it was answered, and how; neither if nobody knows. */
  readonly until?: number;
  readonly answer?: Answer;
}

type Answered = Call & { readonly until: number; readonly answer: Answer };

/** `unclear`: there was no order among the first so many that were tried. */
export type Verdict =
  | { readonly verdict: "linearizable" }
  | { readonly verdict: "unclear" }
  | {
      readonly verdict: "not linearizable";
      /** As many as could be put in order. */
      readonly order: readonly Call[];
      /** What the cell held then. */
      readonly value: number;
      /** Those of which one should have come next. */
      readonly stuck: readonly Call[];
    };

/** How many places the search remembers before it gives up. */
const placesMax = 500_000;

export function checkCell(calls: readonly Call[], first = firstValue): Verdict {
  return new Search(calls).run(first);
}

const inTime = (one: Call, other: Call): number => one.from - other.from;

/** Whether a call has changed nothing, by what it was answered. */
function isIdle({ operation: { kind }, answer }: Answered): boolean {
  return kind === "read" || kind === "look" || (kind === "cas" && answer === false);
}

class Search {
  readonly #known: readonly Answered[];
  readonly #unknown: readonly Call[];
  readonly #isDone: boolean[];
  readonly #isUsed: boolean[];
  readonly #seen = new Set<string>();
  readonly #order: Call[] = [];
  readonly #places = new Map<Call, number>();
  /** Nothing after this one was ever taken. */
  #last = 0;
  #farthest: { readonly order: readonly Call[]; readonly value: number; readonly stuck: readonly Call[] } = {
    order: [],
    value: 0,
    stuck: [],
  };

  constructor(calls: readonly Call[]) {
    this.#known = calls.filter((call): call is Answered => call.until !== undefined).sort(inTime);
    this.#unknown = calls.filter(({ until }) => until === undefined).sort(inTime);
    for (const [at, call] of this.#known.entries()) this.#places.set(call, at);
    this.#isDone = this.#known.map(() => false);
    this.#isUsed = this.#unknown.map(() => false);
  }

  run(first: number): Verdict {
    if (this.#search(0, first)) return { verdict: "linearizable" };
    if (this.#seen.size >= placesMax) return { verdict: "unclear" };
    return { verdict: "not linearizable", ...this.#farthest };
  }

  /** Whether the rest can be put in order; all before `low` is. */
  #search(low: number, value: number): boolean {
    const depth = this.#order.length;
    const start = this.#takeIdle(low, value);
    if (start === this.#known.length) return true;
    if (this.#isNew(start, value)) {
      const { next, deadline } = this.#candidates(start);
      if (this.#order.length >= this.#farthest.order.length)
        this.#farthest = { order: [...this.#order], value, stuck: next.map((at) => this.#known[at] as Call) };
      for (const at of next) if (this.#tryKnown(at, start, value)) return true;
      for (let at = 0; at < this.#unknown.length && (this.#unknown[at] as Call).from <= deadline; at++)
        if (this.#tryUnknown(at, start, value)) return true;
    }
    this.#undo(depth);
    return false;
  }

  /** Takes whatever changes nothing and is answered as it was (C3); says where the rest begins. */
  #takeIdle(low: number, value: number): number {
    let start = low;
    for (let isMore = true; isMore; ) {
      while (this.#isDone[start]) start++;
      isMore = false;
      for (const at of this.#candidates(start).next) {
        const call = this.#known[at] as Answered;
        if (!isIdle(call) || applyTo(value, call.operation).answer !== call.answer) continue;
        this.#take(at);
        isMore = true;
      }
    }
    return start;
  }

  /** Those that may come next: called before any other that is left was answered (C1). */
  #candidates(start: number): { readonly next: readonly number[]; readonly deadline: number } {
    const next: number[] = [];
    let deadline = Number.POSITIVE_INFINITY;
    for (let at = start; at < this.#known.length; at++) {
      const { from, until } = this.#known[at] as Answered;
      if (from > deadline) break;
      if (this.#isDone[at]) continue;
      next.push(at);
      deadline = Math.min(deadline, until);
    }
    return { next: next.filter((at) => (this.#known[at] as Call).from <= deadline), deadline };
  }

  #tryKnown(at: number, start: number, value: number): boolean {
    const call = this.#known[at] as Answered;
    const outcome = applyTo(value, call.operation);
    if (outcome.answer !== call.answer) return false;
    const depth = this.#order.length;
    this.#take(at);
    if (this.#search(start, outcome.value)) return true;
    this.#undo(depth);
    return false;
  }

  #take(at: number): void {
    this.#isDone[at] = true;
    this.#last = Math.max(this.#last, at);
    this.#order.push(this.#known[at] as Call);
  }

  /** One whose outcome nobody knows (C2). Of several that are alike the first is as good as any. */
  #tryUnknown(at: number, start: number, value: number): boolean {
    const call = this.#unknown[at] as Call;
    if (this.#isUsed[at] || this.#hasLikeBefore(at)) return false;
    const outcome = applyTo(value, call.operation);
    if (outcome.value === value) return false;
    this.#isUsed[at] = true;
    const depth = this.#order.length;
    this.#order.push(call);
    if (this.#search(start, outcome.value)) return true;
    this.#undo(depth);
    this.#isUsed[at] = false;
    return false;
  }

  #hasLikeBefore(at: number): boolean {
    const wanted = JSON.stringify((this.#unknown[at] as Call).operation);
    for (let before = 0; before < at; before++)
      if (!this.#isUsed[before] && JSON.stringify((this.#unknown[before] as Call).operation) === wanted)
        return true;
    return false;
  }

  /** Whether the search has not been here: with these taken, and this value. */
  #isNew(start: number, value: number): boolean {
    const done: number[] = [];
    for (let at = start; at <= this.#last; at++) if (this.#isDone[at]) done.push(at - start);
    const used = this.#isUsed.flatMap((isUsed, at) => (isUsed ? [at] : []));
    const place = `${start} ${value} ${done} ${used}`;
    if (this.#seen.has(place) || this.#seen.size >= placesMax) return false;
    this.#seen.add(place);
    return true;
  }

  /** Takes back all but the first so many; those of which nobody knows are taken back by whoever took them. */
  #undo(depth: number): void {
    for (const call of this.#order.splice(depth)) {
      const at = this.#places.get(call);
      if (at !== undefined) this.#isDone[at] = false;
    }
  }
}

/** A verdict in words. */
export function describe(verdict: Verdict): string {
  if (verdict.verdict !== "not linearizable") return verdict.verdict;
  const { order, value, stuck } = verdict;
  const last = order.slice(-6).map(shown).join(", ");
  return `not linearizable: after ${order.length} operations (… ${last}) it holds ${value}, and none of these can be next: ${stuck.map(shown).join(", ")}`;
}

function shown({ client, operation, from, until, answer }: Call): string {
  const { kind, ...given } = operation;
  const what = `${kind}(${Object.values(given).join(", ")})`;
  return `${client}:${what}=${until === undefined ? "?" : answer} [${ms(from)}–${until === undefined ? "" : ms(until)}]`;
}

const ms = (nanoseconds: number): string => (nanoseconds / 1e6).toFixed(2);
