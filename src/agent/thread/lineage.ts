/**
 * Which messages of a thread come before which, remembered beside it: a thread keeps messages and nothing that can be told
 * from them, so that a step costs what it adds.
 *
 * L1. A thread only grows: the message at a position is the same object for as long as the thread is in memory. So one
 *     lineage serves all states of a thread, and is brought up to date by what differs: what a new state added, or what
 *     a step that was refused had added.
 * L2. Nothing here is state: a thread that was just read has its lineage made once, in one pass.
 * L3. What a branch has before a message is found in steps that grow with the logarithm of its length.
 */
import { peek } from "../../core/draft.ts";
import { countOf, itemAt, type Pages } from "../pages.ts";
import type { Entry, Thread } from "./entry.ts";

/** What is known of the message at one position. */
interface Place {
  /** Messages before it on its branch. */
  readonly depth: number;
  /** A position further back, so chosen that any is reached in few jumps; the first message's own. */
  readonly jump: number;
  /** The nearest message of the user at or before it. */
  readonly user: number | null;
  /** The nearest system message at or before it. */
  readonly system: number | null;
  /** The nearest message at or before it that is marked as more important than others. */
  readonly marked: number | null;
}

export interface Lineage {
  /** The messages it was made from, in the order of their positions. */
  readonly entries: Entry[];
  readonly places: Place[];
  /** Where each message stands, by its id. */
  readonly byId: Map<string, number>;
  /** Where each call was made, by its id. */
  readonly byCall: Map<string, number>;
  /** Positions that follow a position (-1 for those that follow nothing). */
  readonly followers: Map<number, number[]>;
  /** Positions that nothing follows. */
  readonly ends: Set<number>;
}

/** By the first message: it is the one object that all states of a thread have in common. */
const lineages = new WeakMap<Entry, Lineage>();

const emptyLineage = (): Lineage => ({
  entries: [],
  places: [],
  byId: new Map(),
  byCall: new Map(),
  followers: new Map(),
  ends: new Set(),
});

/** The lineage of a thread as it is now; for reading, and until the thread changes. */
export function lineageOf(thread: Thread): Lineage {
  const { pages } = peek(thread);
  const first = itemAt(pages, 0);
  if (first === undefined) return emptyLineage();
  let lineage = lineages.get(first);
  if (lineage === undefined) {
    lineage = emptyLineage();
    lineages.set(first, lineage);
  }
  const shared = sharedLength(lineage.entries, pages);
  while (lineage.entries.length > shared) remove(lineage);
  const length = countOf(pages);
  for (let position = shared; position < length; position++) add(lineage, itemAt(pages, position) as Entry);
  return lineage;
}

/** Whether `metadata.importance` says that a message is worth more than any other, which is worth 1. */
const isMarked = ({ metadata }: Entry): boolean =>
  typeof metadata?.importance === "number" && metadata.importance > 1;

/** How many messages two states of a thread have in common: they agree up to some position, and nowhere after it. */
function sharedLength(known: readonly Entry[], now: Pages<Entry>): number {
  let low = 0;
  let high = Math.min(known.length, countOf(now));
  if (high > 0 && known[high - 1] === itemAt(now, high - 1)) return high;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (known[middle - 1] === itemAt(now, middle - 1)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function add(lineage: Lineage, entry: Entry): void {
  const { entries, places, byId, byCall, followers, ends } = lineage;
  const position = entries.length;
  const before = entry.after === null ? undefined : places[entry.after];
  entries.push(entry);
  places.push({
    depth: before === undefined ? 0 : before.depth + 1,
    jump: entry.after === null ? position : jumpFrom(places, entry.after),
    user: entry.role === "user" ? position : (before?.user ?? null),
    system: entry.role === "system" ? position : (before?.system ?? null),
    marked: isMarked(entry) ? position : (before?.marked ?? null),
  });
  byId.set(entry.id, position);
  for (const part of entry.parts) if (part.type === "call") byCall.set(part.id, position);
  const siblings = followers.get(entry.after ?? -1);
  if (siblings === undefined) followers.set(entry.after ?? -1, [position]);
  else siblings.push(position);
  if (entry.after !== null) ends.delete(entry.after);
  ends.add(position);
}

function remove({ entries, places, byId, byCall, followers, ends }: Lineage): void {
  const entry = entries.pop() as Entry;
  places.pop();
  byId.delete(entry.id);
  for (const part of entry.parts) if (part.type === "call") byCall.delete(part.id);
  const siblings = followers.get(entry.after ?? -1) as number[];
  ends.delete(entries.length);
  if (siblings.length > 1) siblings.pop();
  else {
    followers.delete(entry.after ?? -1);
    if (entry.after !== null) ends.add(entry.after);
  }
}

/** Twice as far as the two jumps before it if those are equally long, else one step: a skew-binary number in pointers. */
function jumpFrom(places: readonly Place[], after: number): number {
  const parent = places[after] as Place;
  const over = places[parent.jump] as Place;
  const further = places[over.jump] as Place;
  return parent.depth - over.depth === over.depth - further.depth ? over.jump : after;
}

/** The position on the branch up to `position` that has `depth` messages before it. */
export function ancestorAt(lineage: Lineage, position: number, depth: number): number {
  let at = position;
  let place = lineage.places[at] as Place;
  while (place.depth > depth) {
    const isTooFar = (lineage.places[place.jump] as Place).depth < depth;
    at = isTooFar ? ((lineage.entries[at] as Entry).after as number) : place.jump;
    place = lineage.places[at] as Place;
  }
  return at;
}

/** Whether a position is on the branch that ends at another, its end included. */
export function isOnBranch(lineage: Lineage, position: number, end: number | null): boolean {
  if (end === null) return false;
  const depth = lineage.places[position]?.depth;
  return (
    depth !== undefined &&
    depth <= (lineage.places[end] as Place).depth &&
    ancestorAt(lineage, end, depth) === position
  );
}
