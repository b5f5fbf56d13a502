/**
 * Leases on a board: the right to something for a while, for one agent at a time. Pure.
 *
 * L1. A name is leased to one grant at a time, and tokens only go up: whoever has a smaller one has lost it.
 * L2. Of those who want the same name, the one who has waited longest is next; nobody overtakes.
 * L3. Several names are given together or not at all, so nobody holds one of them while it waits for another of them.
 * L4. Nobody begins to wait who would close a circle of agents that wait for each other. Since only beginning to wait adds
 *     to who waits for whom, there never is one.
 */
import type { Json } from "../../core/json.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import type { Asker, BoardState, Grant, Waiter } from "./state.ts";

export interface LeaseAsked {
  readonly names: readonly string[];
  readonly ms: number;
  /** How long to wait: 0 for not at all, null for as long as it takes. */
  readonly waitMs: number | null;
}

type Answer = { readonly [field: string]: Json };

/** Gives leases, or lets the asker wait and gives no answer yet. */
export function lease(
  board: BoardState,
  { names: wanted, ms, waitMs }: LeaseAsked,
  asker: Asker,
): Answer | undefined {
  const { by, at, to } = asker;
  const names = [...wanted].sort();
  if (names.length === 0 || new Set(names).size < names.length || !(ms > 0))
    throw new HoldfastError("LEASE_INVALID", `A lease needs names, each once, and a time above 0`);
  if (!isBlocked(board, names)) {
    if (board.grants.length >= limits.boardWaitersMax) throw tooMany("leases are held");
    return grant(board, { names, by, ms }, at);
  }
  if (waitMs === 0 || to === undefined) return busy(board, names);
  const circle = findCircle(board, names, by);
  if (circle !== undefined) throw deadlockError(names, circle);
  if (board.queue.length >= limits.boardWaitersMax) throw tooMany("agents wait for leases");
  board.queue.push({ names, by, ms, until: waitMs === null ? null : at + waitMs, to });
  return undefined;
}

/** Makes a lease last from now on, if it is still in force and the asker's. */
export function renew(
  board: BoardState,
  { token, ms }: { readonly token: number; readonly ms: number },
  { by, at }: Pick<Asker, "by" | "at">,
): Answer {
  if (!(ms > 0)) throw new HoldfastError("LEASE_INVALID", "A lease needs a time above 0");
  const held = board.grants.find((one) => one.token === token && one.by === by);
  if (held === undefined) return { outcome: "lost" };
  held.until = at + ms;
  return { outcome: "renewed", until: held.until };
}

/** Gives a lease of the asker back; whoever is next has it at once. */
export function release(
  board: BoardState,
  { token }: { readonly token: number },
  { by, at }: Pick<Asker, "by" | "at">,
): Answer {
  const index = board.grants.findIndex((one) => one.token === token && one.by === by);
  if (index < 0) return { outcome: "lost" };
  board.grants.splice(index, 1);
  serve(board, at);
  return { outcome: "released" };
}

/** Takes back what is over, answers those who have waited long enough, and serves whoever is next. */
export function expireLeases(board: BoardState, at: number): void {
  const isOver = (until: number | null) => until !== null && until <= at;
  const late = board.queue.filter(({ until }) => isOver(until));
  if (late.length === 0 && !board.grants.some(({ until }) => isOver(until))) return;
  removeWhere(board.grants, ({ until }) => isOver(until));
  // Whoever can be served now has not waited in vain.
  serve(board, at);
  for (const waiter of board.queue.filter(({ until }) => isOver(until)))
    board.outbox.push({ to: waiter.to, data: busy(board, waiter.names) });
  removeWhere(board.queue, ({ until }) => isOver(until));
  serve(board, at);
}

/** When something of this is over next; null for never. */
export function nextExpiry({ grants, queue }: BoardState): number | null {
  const times = [...grants, ...queue].flatMap(({ until }) => (until === null ? [] : [until]));
  return times.length === 0 ? null : Math.min(...times);
}

/** Gives leases to those who need wait for nobody: neither for who has what they want, nor for who asked for it first. */
function serve(board: BoardState, at: number): void {
  const taken = new Set(board.grants.flatMap(({ names }) => names));
  const isNext = board.queue.map(({ names }) => {
    const isFree = !names.some((name) => taken.has(name));
    for (const name of names) taken.add(name);
    return isFree;
  });
  const served = board.queue.filter((_, index) => isNext[index]);
  for (let index = isNext.length - 1; index >= 0; index--) if (isNext[index]) board.queue.splice(index, 1);
  for (const { names, by, ms, to } of served)
    board.outbox.push({ to, data: grant(board, { names: [...names], by, ms }, at) });
}

function grant(
  board: BoardState,
  { names, by, ms }: Pick<Waiter, "names" | "by" | "ms">,
  at: number,
): Answer {
  board.token++;
  const given: Grant = { token: board.token, names, by, until: at + ms };
  board.grants.push(given);
  return { outcome: "granted", token: given.token, names: given.names, until: given.until };
}

function busy(board: BoardState, names: readonly string[]): Answer {
  const held = holdersOf(board, names).map(({ by, until, names: theirs }) => ({
    by,
    until,
    names: [...theirs],
  }));
  return { outcome: "busy", held };
}

const holdersOf = (board: BoardState, names: readonly string[]): Grant[] =>
  board.grants.filter((one) => overlap(one.names, names));

const overlap = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((name) => others.includes(name));

/** Whether somebody who comes now has to wait for these names. */
const isBlocked = (board: BoardState, names: readonly string[]): boolean =>
  [...board.grants, ...board.queue].some((one) => overlap(one.names, names));

/**
 * The circle that would be closed, from the agent back to itself; undefined if there would be none (L4). Somebody waits for who
 * has what it wants, and for the last one before it who wants the same: that one waits for the others. Who wants what it
 * has waits for itself; who wants the same twice does not: a repeat of a wait is the same wait, and adds to no circle.
 */
function findCircle(board: BoardState, names: readonly string[], by: string): string[] | undefined {
  const waitsFor = new Map<string, Set<string>>();
  const holders = new Map(board.grants.flatMap((one) => one.names.map((name) => [name, one.by])));
  const last = new Map<string, string>();
  const waits = new Set<string>();
  for (const waiter of [...board.queue, { names, by }]) {
    const wait = JSON.stringify([waiter.by, waiter.names]);
    if (waits.has(wait)) continue;
    waits.add(wait);
    const others = waitsFor.get(waiter.by) ?? new Set();
    waitsFor.set(waiter.by, others);
    for (const name of waiter.names) {
      const [holder, before] = [holders.get(name), last.get(name)];
      if (holder !== undefined) others.add(holder);
      if (before !== undefined && before !== waiter.by) others.add(before);
      last.set(name, waiter.by);
    }
  }
  return findWay(waitsFor, by);
}

/** A way from an agent back to itself. */
function findWay(waitsFor: ReadonlyMap<string, ReadonlySet<string>>, by: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  for (const next = [by]; next.length > 0; ) {
    const agent = next.shift() as string;
    for (const other of waitsFor.get(agent) ?? []) {
      if (other === by) {
        const way = [by];
        for (let at = agent; at !== by; at = cameFrom.get(at) as string) way.unshift(at);
        return [by, ...way];
      }
      if (cameFrom.has(other)) continue;
      cameFrom.set(other, agent);
      next.push(other);
    }
  }
  return undefined;
}

function deadlockError(names: readonly string[], circle: readonly string[]): HoldfastError {
  return new HoldfastError(
    "LEASE_DEADLOCK",
    `${circle[0]} cannot wait for ${names.join(", ")}: ${circle.join(" would wait for ")}. Give back what you hold, or ask for all of it at once`,
    { details: { circle, names } },
  );
}

const tooMany = (what: string): HoldfastError =>
  new HoldfastError("BOARD_FULL", `${limits.boardWaitersMax} ${what} already; try again later`);

function removeWhere<Item>(list: Item[], isGone: (item: Item) => boolean): void {
  for (let index = list.length - 1; index >= 0; index--)
    if (isGone(list[index] as Item)) list.splice(index, 1);
}
