/** What a run keeps besides: compensations of what it has done, and the lists its workers are going through. */
import { freeze } from "../json.ts";
import { inside, show } from "../problem.ts";
import type { Compensation, MapProgress, State } from "../state.ts";
import { placesOf, renamed } from "./mapping.ts";
import type { Move } from "./move.ts";
import { pendingCompensation } from "./report.ts";
import { listed, mapWorkersAt } from "./written.ts";

/** The compensations that go along: those whose activity the new definition has, if it undoes anything at all. */
export function moveCompensations(move: Move): readonly Compensation[] | undefined {
  const { state, to, mapping } = move;
  const known = listed(to.definition, "activities");
  const kept = (state.compensations ?? []).flatMap((one, index) => {
    const pending = pendingCompensation(one);
    const at = inside("compensations", index);
    const activity = renamed(mapping.activities, one.activity);
    const or = `or let go of it with \`activities\`: { ${JSON.stringify(one.activity)}: null }`;
    if (activity === null) move.letGo(pending);
    else if (!to.chart.compensates)
      move.refuse(
        pending,
        at,
        "could not be carried out: the new definition has no compensation",
        or.slice(3),
      );
    else if (known !== undefined && !known.includes(activity))
      move.refuse(
        pending,
        at,
        `needs the activity ${show(activity)}, which is not declared any more`,
        `rename it, ${or}`,
      );
    else {
      const now = activity === one.activity ? one : freeze({ ...one, activity });
      return [move.keep(pending, one, now, pendingCompensation(now))];
    }
    return [];
  });
  if (kept.length === 0) return undefined;
  return kept.length === state.compensations?.length &&
    kept.every((one, index) => one === state.compensations?.[index])
    ? state.compensations
    : freeze(kept);
}

/** The maps that go along: those whose workers are still there for every item that is under way. */
export function moveMaps(move: Move): State["maps"] {
  const { state, chart, mapping } = move;
  const kept: Record<string, MapProgress> = {};
  for (const [name, progress] of Object.entries(state.maps ?? {})) {
    const before = { kind: "map", name } as const;
    // The shorthand calls a map after its state.
    const place = placesOf(mapping, chart, name).find((now) => workersOf(move, now).has(0));
    const workers = place === undefined ? new Set<number>() : workersOf(move, place);
    if (place === undefined || !Object.keys(progress.taken).every((worker) => workers.has(Number(worker)))) {
      const problem =
        place === undefined
          ? "has no state any more that goes through it"
          : "has fewer workers than items under way";
      move.refuse(before, inside("maps", name), problem, "map its states, or drop what cannot survive");
    } else {
      const after = { kind: "map", name: place } as const;
      // Only its name may change; what is in it never does here.
      move.keep<object>(before, place === name ? after : before, after, after);
      kept[place] = progress;
    }
  }
  if (Object.keys(kept).length === 0) return undefined;
  const isSame = Object.keys(kept).join("\n") === Object.keys(state.maps as object).join("\n");
  return isSame ? state.maps : freeze(kept);
}

/** The workers of a map that active states speak of, and 0 if they speak of the map itself. */
function workersOf({ active, to }: Move, map: string): ReadonlySet<number> {
  return new Set(active.flatMap(({ path }) => [...mapWorkersAt(to.definition, path, map)]));
}
