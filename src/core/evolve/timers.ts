/**
 * Timers: each keeps the time it is due and how outages move it, whatever the new definition says of its delay. One that
 * should wait anew is let go, and what the new definition has there begins.
 */
import type { StateNode } from "../chart.ts";
import { freeze } from "../json.ts";
import { inside, show } from "../problem.ts";
import type { Timer } from "../state.ts";
import { hears, moveEvent, refuseUnheard } from "./events.ts";
import { placesOf } from "./mapping.ts";
import type { Counterpart, Move } from "./move.ts";
import { type Pending, pendingTimer } from "./report.ts";
import { writtenDelays } from "./written.ts";

export class Timers {
  readonly #move: Move;
  /** By counterpart: for the event type of an old delay, the new delay's. */
  readonly #pairs = new Map<Counterpart, ReadonlyMap<string, string>>();
  readonly #taken = new Set<string>();
  readonly #childIds: ReadonlyMap<string, string>;

  constructor(move: Move, childIds: ReadonlyMap<string, string>) {
    this.#move = move;
    this.#childIds = childIds;
    for (const counterpart of move.counterparts) this.#pairs.set(counterpart, pairDelays(move, counterpart));
  }

  timers(): readonly Timer[] {
    return this.#move.state.timers.flatMap((timer, index) => {
      const pending = pendingTimer(timer);
      const at = inside("timers", index);
      const now =
        timer.state === undefined
          ? this.#sent(timer, pending, at)
          : this.#owned(timer as Timer & { state: string }, pending, at);
      return now === undefined ? [] : [this.#move.keep(pending, timer, now, pendingTimer(now))];
    });
  }

  /** The delays that the new definition has in active states and the old one had not, or that were let go. */
  *beginning(): Generator<{ readonly node: StateNode; readonly index: number }> {
    const known = new Set([...this.#pairs.values()].flatMap((pairs) => [...pairs.values()]));
    for (const node of this.#move.active)
      for (const [index, { type }] of node.delays.entries()) if (!known.has(type)) yield { node, index };
  }

  /** A delayed send: for others it goes along as it is, for the run itself there must be a use for it. */
  #sent(timer: Timer, pending: Pending, at: string): Timer | undefined {
    const move = this.#move;
    const { to } = timer;
    if (to !== undefined) {
      const child = typeof to === "object" && "child" in to ? this.#childIds.get(to.child) : undefined;
      return child === undefined ? timer : freeze({ ...timer, to: { child } });
    }
    const moved = moveEvent(move, timer.event);
    if (moved === null) move.letGo(pending);
    else if ("problem" in moved) move.refuse(pending, at, `cannot be kept: ${moved.problem}`, moved.fix);
    // What the old definition had no use for either is no loss.
    else if (hears(move.from, timer.event.type) && !hears(move.to, moved.event.type))
      refuseUnheard(move, pending, at, moved.event.type);
    else return moved.event === timer.event ? timer : freeze({ ...timer, event: moved.event });
    return undefined;
  }

  /** The timer of a state's `after`. */
  #owned(timer: Timer & { readonly state: string }, pending: Pending, at: string): Timer | undefined {
    const move = this.#move;
    const { state, event } = timer;
    if (move.mapping.events.get(event.type) === null) {
      move.letGo(pending);
      return undefined;
    }
    const places = [...this.#pairs].filter(([{ old }]) => old.path === state);
    for (const [{ now }, pairs] of places) {
      const type = pairs.get(event.type);
      if (type === undefined || this.#taken.has(type)) continue;
      this.#taken.add(type);
      if (type === event.type && now.path === state) return timer;
      return freeze({ ...timer, state: now.path, event: freeze({ ...event, type }) });
    }
    const or = `let go of it with \`events\`: { ${JSON.stringify(event.type)}: null }`;
    if (places.length === 0)
      move.refuse(
        pending,
        at,
        `is of the state ${show(state)}, which would not be active`,
        `map that state in \`states\`, or ${or}`,
      );
    else {
      const others = places.flatMap(([{ now }]) => now.delays.map(({ type }) => show(type)));
      const problem = `leads nowhere any more: ${places.map(([{ now }]) => show(now.path)).join(", ")} has no such delay`;
      move.refuse(
        pending,
        at,
        problem,
        others.length === 0 ? or : `map it to ${others.join(" or ")}, or ${or}`,
      );
    }
    return undefined;
  }
}

/** Which delays are the same: as the mapping says, those that wait as long, and those that lead to the same place. */
export function pairDelays(
  move: Pick<Move, "from" | "to" | "mapping">,
  { old, now }: Counterpart,
): ReadonlyMap<string, string> {
  const { from, to, mapping } = move;
  const [before, after] = [writtenDelays(from.definition, old.path), writtenDelays(to.definition, now.path)];
  const pairs = new Map<string, string>();
  const taken = new Set<string>();
  const pair = (fits: (one: number, other: number) => boolean) => {
    old.delays.forEach(({ type }, one) => {
      if (pairs.has(type)) return;
      const found = now.delays.find((delay, other) => !taken.has(delay.type) && fits(one, other))?.type;
      if (found === undefined) return;
      pairs.set(type, found);
      taken.add(found);
    });
  };
  const typeOf = (node: StateNode, index: number) => node.delays[index]?.type as string;
  const mapped = (index: number) => mapping.events.get(typeOf(old, index));
  pair((one, other) => mapped(one)?.type === typeOf(now, other));
  pair((one, other) => mapped(one) === undefined && before[one] === after[other]);
  const placesBefore = old.delays.map(({ type }) =>
    targetsOf(old, type).flatMap((path) => placesOf(mapping, to.chart, path)),
  );
  pair(
    (one, other) =>
      mapped(one) === undefined &&
      isSame(placesBefore[one] as readonly string[], targetsOf(now, typeOf(now, other))),
  );
  return pairs;
}

/** Where a delay leads. */
function targetsOf({ transitions }: StateNode, type: string): readonly string[] {
  return transitions
    .filter(({ platform, descriptors }) => platform && descriptors[0] === type)
    .flatMap(({ targets }) => targets.map(({ path }) => path));
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((path, index) => path === others[index]);
}
