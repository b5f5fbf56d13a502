/** Changes of a board, read from its journal: from any version that is kept there, and as they are made, in any process. */
import type { Json } from "../../core/json.ts";
import { apply } from "../../core/patch.ts";
import type { State } from "../../core/state.ts";
import { HoldfastError } from "../../errors.ts";
import type { Run } from "../../runtime/run.ts";
import type { Entry } from "../../store/journal.ts";
import type { BoardState } from "./state.ts";

/** One change of one key. */
export interface Change {
  readonly key: string;
  /** What stands there now; undefined if it was removed. */
  readonly value: Json | undefined;
  readonly version: number;
  readonly by: string;
  readonly at: number;
}

/** A step of a board: before, after, and what made it. */
interface BoardStep {
  readonly before: BoardState;
  readonly after: BoardState;
  readonly entry: Entry;
}

/** A board at a checkpoint. Its number is not the state's own: a step that was refused or ignored has one too, and changes no state. */
interface Position {
  readonly seq: number;
  readonly state: State<BoardState>;
}

/** The board at its newest checkpoint, or at another. */
export async function positionOf(run: Run<BoardState>, seq?: number): Promise<Position> {
  const at = seq ?? (await run.head()).seq;
  return { seq: at, state: await run.at(at) };
}

/** The steps that follow a checkpoint, those to come included. */
export async function* stepsAfter(
  run: Run<BoardState>,
  from: Position,
  signal: AbortSignal | undefined,
): AsyncGenerator<BoardStep> {
  let { seq, state } = from;
  for await (const entry of run.follow(seq + 1, signal === undefined ? {} : { signal })) {
    if (entry.seq !== ++seq) {
      const pruned = `Step ${seq} of the board ${JSON.stringify(run.id)} was pruned; read it anew, and go on from there`;
      throw new HoldfastError("JOURNAL_PRUNED", pruned, { details: { run: run.id, seq } });
    }
    const next = apply(state as unknown as Json, entry.patches) as unknown as State<BoardState>;
    yield { before: state.context, after: next.context, entry };
    state = next;
  }
}

/** The changes after a version; after the newest one unless it is given. */
export async function* changesAfter(
  run: Run<BoardState>,
  version: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change> {
  const newest = await positionOf(run);
  const now = newest.state.context.version;
  const after = version ?? now;
  // Every change takes a step, and the first step makes none: so this checkpoint was there before the next change.
  const from = now <= after ? newest : await positionOf(run, after + 1);
  for await (const step of stepsAfter(run, from, signal))
    for (const change of changesOf(step)) if (change.version > after) yield change;
}

function changesOf({ before, after, entry }: BoardStep): Change[] {
  if (before.entries === after.entries) return [];
  const names = new Set([...Object.keys(before.entries), ...Object.keys(after.entries)]);
  return [...names].flatMap((key): Change[] => {
    const standing = after.entries[key];
    if (standing === before.entries[key]) return [];
    if (standing !== undefined) return [{ key, ...standing }];
    const { by = "" } = (entry.event.data ?? {}) as { readonly by?: string };
    return [{ key, value: undefined, version: after.version, by, at: entry.at }];
  });
}
