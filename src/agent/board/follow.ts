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

/** The steps that follow a state, those to come included. */
export async function* stepsAfter(
  run: Run<BoardState>,
  from: State<BoardState>,
  signal: AbortSignal | undefined,
): AsyncGenerator<BoardStep> {
  let state = from;
  // What is refused has an entry and is no step, so a step's entry comes no sooner than its number says.
  const first = (await run.head()).fork === undefined ? from.seq + 1 : 1;
  for await (const entry of run.follow(first, signal === undefined ? {} : { signal })) {
    const step = stepOf(entry);
    if (step === undefined || step <= state.seq) continue;
    if (step !== state.seq + 1) {
      const pruned = `What followed checkpoint ${state.seq} of the board ${JSON.stringify(run.id)} was pruned; read it anew`;
      throw new HoldfastError("JOURNAL_PRUNED", pruned, { details: { run: run.id, seq: state.seq + 1 } });
    }
    const next = apply(state as unknown as Json, entry.patches) as unknown as State<BoardState>;
    yield { before: state.context, after: next.context, entry };
    state = next;
  }
}

/** The number of the step that an entry made; undefined if it made none. */
function stepOf({ patches }: Entry): number | undefined {
  for (const patch of patches) {
    if (patch.op !== "set") continue;
    if (patch.path.length === 0) return (patch.value as unknown as State).seq;
    if (patch.path.length === 1 && patch.path[0] === "seq") return patch.value as number;
  }
  return undefined;
}

/** The changes after a version; after the newest one unless it is given. */
export async function* changesAfter(
  run: Run<BoardState>,
  version: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change> {
  const newest = await run.state();
  const after = version ?? newest.context.version;
  // Every change takes a step, and the first step makes none: so this checkpoint was there before the next change.
  const from = newest.context.version <= after ? newest : await run.at(after + 1);
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
