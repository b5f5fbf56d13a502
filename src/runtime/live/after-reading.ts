/** What follows from reading a run: whoever waits for it is told, and what it has under way is taken up. */
import type { Evolution } from "../evolution/evolution.ts";
import type { Parts } from "../fleet/stand.ts";
import { unknownRunError } from "../name.ts";
import type { Standing } from "../standing.ts";
import { hasEnded } from "./live-run.ts";
import type { RunsWorld } from "./runs.ts";

export interface ReadingWorld extends Omit<Parts, "runs"> {
  readonly standing: Pick<Standing, "adopt">;
  readonly evolution: Pick<Evolution, "upgrade">;
}

/** How a runtime follows what is read; its parts are asked for then, since runs are made before most of them. */
export function followReading(
  world: () => ReadingWorld,
): Pick<RunsWorld, "wasLoaded" | "wasRead" | "wasMissing" | "takeUp"> {
  return {
    wasLoaded({ head, activities: rows }) {
      world().activities.keepOnly(head, rows);
    },

    wasRead(run) {
      const { watchers, inboxes } = world();
      watchers.tell(run.name, run);
      if (hasEnded(run)) inboxes.ended(run.name);
    },

    // A run that was removed ended before that, perhaps by a step whose answer was lost: then nobody here was told of its end.
    wasMissing(name) {
      const { activities, inboxes } = world();
      activities.keepOnly(name, []);
      inboxes.ended(name, unknownRunError(name));
    },

    async takeUp(run, { activities: rows }, isWanted) {
      const { standing, activities, waker, evolution } = world();
      const adopted = rows.length === 0 ? [] : await standing.adopt(rows);
      const ours = rows.filter((_, index) => adopted[index]);
      const begun = await activities.read(ours, run);
      // What parked it meanwhile may have been the end of one of these. Whoever goes on with the run takes up what is left.
      if (!isWanted() || run.head.status !== "active") return activities.leaveAll(begun);
      activities.startAll(begun, run);
      waker.resume(run);
      evolution.upgrade(run);
    },
  };
}
