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
  if (blockersOf(board, names, by, board.queue).length === 0) {
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

/** Makes a lease last from now on, if it is still in force. */
export function renew(
  board: BoardState,
  { token, ms }: { readonly token: number; readonly ms: number },
  { at }: Asker,
): Answer {
  if (!(ms > 0)) throw new HoldfastError("LEASE_INVALID", "A lease needs a time above 0");
  const held = board.grants.find((one) => one.token === token);
  if (held === undefined) return { outcome: "lost" };
  held.until = at + ms;
  return { outcome: "renewed", until: held.until };
}

/** Gives a lease back; whoever is next has it at once. */
export function release(
  board: BoardState,
  { token }: { readonly token: number },
  { at }: Pick<Asker, "at">,
): Answer {
  const index = board.grants.findIndex((one) => one.token === token);
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

function serve(board: BoardState, at: number): void {
  for (let index = 0; index < board.queue.length; ) {
    const { names, by, ms, to } = board.queue[index] as Waiter;
    const ahead = board.queue.slice(0, index);
    const isBlocked = holdersOf(board, names).length > 0 || ahead.some((one) => overlap(one.names, names));
    if (isBlocked) index++;
    else {
      board.queue.splice(index, 1);
      board.outbox.push({ to, data: grant(board, { names: [...names], by, ms }, at) });
    }
  }
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

/**
 * The agents that somebody waits for who wants these names after those who are ahead. Somebody who waits twice does not wait
 * for itself, and somebody who wants what it has does.
 */
function blockersOf(
  board: BoardState,
  names: readonly string[],
  by: string,
  ahead: readonly Waiter[],
): readonly string[] {
  const waiting = ahead.filter((one) => overlap(one.names, names));
  const holders = holdersOf(board, names).map((one) => one.by);
  return [...holders, ...waiting.map((one) => (one.by === by ? "" : one.by))];
}

/** The circle that would be closed, from the agent back to itself; undefined if there would be none (L4). */
function findCircle(board: BoardState, names: readonly string[], by: string): string[] | undefined {
  const seen = new Set<string>();
  const search = (way: string[], next: readonly string[]): string[] | undefined => {
    for (const agent of next) {
      if (agent === by) return [...way, agent];
      if (agent === "" || seen.has(agent)) continue;
      seen.add(agent);
      const waits = board.queue.flatMap((waiter, index) =>
        waiter.by === agent ? blockersOf(board, waiter.names, agent, board.queue.slice(0, index)) : [],
      );
      const found = search([...way, agent], waits);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search([by], blockersOf(board, names, by, board.queue));
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
