/** Comparing: what differs between two checkpoints, and where the stories of two runs part. */
import { isDeepStrictEqual } from "node:util";
import type { Json } from "../../core/json.ts";
import { apply, diff, type Patch } from "../../core/patch.ts";
import type { Entry } from "../../store/journal.ts";
import type { RunHead } from "../../store/records.ts";
import type { Past } from "../live/past.ts";
import { lineageOf, type Part, type Told, tell } from "./lineage.ts";

/** What two runs have in common, and what not. */
export interface Difference {
  /** How many steps they have in common, counted from the beginning of the older one's story. */
  readonly common: number;
  /** The first step in which they are not alike, on each side; undefined where a run has none after what they share. */
  readonly first: readonly [Told | undefined, Told | undefined];
  /** What turns the newest state of the one into that of the other. */
  readonly patches: readonly Patch[];
}

/** The patches that turn a run at one checkpoint into what it is at another. */
export async function compareCheckpoints(
  past: Past,
  head: RunHead,
  from: number,
  to: number,
): Promise<readonly Patch[]> {
  return diff((await past.at(head, from)).state, (await past.at(head, to)).state);
}

/**
 * Compares two runs, step by step from where they have one story. Steps are alike that took the same event with the same
 * outcome and changed the same; times and names of what was begun do not count.
 */
export async function compareRuns(past: Past, one: RunHead, other: RunHead): Promise<Difference> {
  const stories = [await lineageOf(past, one), await lineageOf(past, other)] as const;
  const shared = sharedPart(...stories);
  const sides = stories.map((parts) => tell(past, parts.slice(shared.parts), shared.last + 1));
  let common = shared.steps;
  for (;;) {
    const [mine, theirs] = await Promise.all(sides.map((side) => nextStep(side)));
    if (mine === undefined || theirs === undefined || !isAlike(mine.entry, theirs.entry)) {
      for (const side of sides) await side.return(undefined);
      const states = [(await past.at(one, one.seq)).state, (await past.at(other, other.seq)).state] as const;
      return { common, first: [mine, theirs], patches: diff(...states) };
    }
    common++;
  }
}

/** The next step of a story; that a fork begins is none, unless it changes what runs can see. */
async function nextStep(side: AsyncGenerator<Told>): Promise<Told | undefined> {
  for (;;) {
    const { done, value } = await side.next();
    if (done) return undefined;
    const { event, patches } = value.entry;
    if (event.type !== "fork" || event.kind !== "platform" || visible(patches).length > 0) return value;
  }
}

/** How much of two stories is the very same: whole parts before, and entries of the part after them. */
function sharedPart(
  one: readonly Part[],
  other: readonly Part[],
): { readonly parts: number; readonly last: number; readonly steps: number } {
  let steps = 0;
  for (let parts = 0; ; parts++) {
    const [mine, theirs] = [one[parts], other[parts]];
    if (mine === undefined || theirs === undefined || mine.head.run !== theirs.head.run)
      return { parts, last: 0, steps };
    const last = Math.min(mine.last, theirs.last);
    steps += last;
    if (mine.last !== theirs.last) return { parts, last, steps };
  }
}

function isAlike(one: Entry, other: Entry): boolean {
  return (
    one.event.type === other.event.type &&
    one.outcome === other.outcome &&
    isDeepStrictEqual(one.event.data, other.event.data) &&
    isDeepStrictEqual(visible(one.patches), visible(other.patches))
  );
}

/** The fields of a state that its machine's author knows of. */
const seen: ReadonlySet<unknown> = new Set(["status", "configuration", "context", "output", "reason"]);

/** Of what changed, that which can be seen of a run. */
function visible(patches: readonly Patch[]): readonly Patch[] {
  return patches.flatMap((patch): Patch[] => {
    const [field] = patch.path;
    if (field !== undefined) return seen.has(field) ? [patch] : [];
    // The first entry sets the whole state.
    const whole = apply(null, [patch]) as Readonly<Record<string, Json>>;
    const value = Object.fromEntries(Object.entries(whole).filter(([name]) => seen.has(name)));
    return [{ op: "set", path: [], value }];
  });
}
