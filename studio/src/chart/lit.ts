/** Which parts of a chart a step lights: the states it is in, and the transitions it came by. */
import type { Chart, ChartTransition, JournalEntry } from "../data/contract.ts";

export interface Lit {
  /** Paths of all active states, those around the leaves included. */
  readonly active: ReadonlySet<string>;
  /** Ids of transitions. */
  readonly taken: ReadonlySet<string>;
}

/** A path and those around it, but for the root. */
export function withAncestors(configuration: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const path of configuration) {
    const parts = path.split(".");
    for (let length = 1; length <= parts.length; length++) all.add(parts.slice(0, length).join("."));
  }
  return all;
}

const matches = (descriptor: string, type: string): boolean =>
  descriptor === "*" ||
  descriptor === type ||
  (descriptor.endsWith(".*") && `${type}.`.startsWith(descriptor.slice(0, -1)));

const lies = (path: string, active: ReadonlySet<string>): boolean => path === "" || active.has(path);

/**
 * The journal tells where a step began and ended, not by which way it went. What fits is lit: a transition of the event from
 * where it was, and those without an event that lead on to where it is.
 */
function takenBy(entry: JournalEntry, before: ReadonlySet<string>, chart: Chart): Set<string> {
  const taken = new Set<string>();
  if (entry.outcome !== "taken") return taken;
  const after = withAncestors(entry.configuration);
  const isOfEvent = ({ events }: ChartTransition) =>
    events.some((descriptor) => matches(descriptor, entry.event.type));
  const first = chart.transitions.filter(
    (transition) => isOfEvent(transition) && lies(transition.source, before),
  );
  // Of several guards, those that lead where it is now; if it went on from there, whichever can lead on.
  const arrived = first.filter(({ targets }) => targets.some((target) => after.has(target)));
  const ways = arrived.length > 0 ? arrived : first;
  for (const { id } of ways) taken.add(id);
  const passed = new Set(ways.flatMap(({ targets }) => targets.filter((target) => !after.has(target))));
  for (let round = 0; round < 8 && passed.size > 0; round++) {
    const on = chart.transitions.filter(
      ({ source, trigger, id }) =>
        !taken.has(id) &&
        (trigger === "always" || trigger === "done") &&
        [...passed].some(
          (path) =>
            path === source ||
            source.startsWith(`${path}.`) ||
            (trigger === "done" && path.startsWith(`${source}.`)),
        ),
    );
    const leading = on.filter(({ targets }) => targets.some((target) => after.has(target)));
    passed.clear();
    for (const { id, targets } of leading.length > 0 ? leading : on) {
      taken.add(id);
      for (const target of targets) if (!after.has(target)) passed.add(target);
    }
  }
  return taken;
}

/** What a step lights, given the configuration before it. */
export function litBy(
  chart: Chart | undefined,
  entry: JournalEntry | undefined,
  before: readonly string[] | undefined,
  now: readonly string[],
): Lit {
  const active = withAncestors(now);
  if (chart === undefined || entry === undefined || before === undefined) return { active, taken: new Set() };
  return { active, taken: takenBy(entry, withAncestors(before), chart) };
}
