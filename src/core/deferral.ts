/** Events that nothing takes now: what the policy says of them, and when a deferred one comes back. */
import { priorityOf, type TransitionNode } from "./chart.ts";
import type { UnhandledPolicy } from "./definition.ts";
import { descriptorMatches, type Event } from "./event.ts";
import { selectTransitions } from "./select.ts";
import type { Work } from "./work.ts";

/** What becomes of an event no active state takes. What the platform itself made is never rejected. */
export function unhandledPolicy(work: Work, event: Event): UnhandledPolicy {
  if (isDeferredHere(work, event)) return "defer";
  if (event.kind !== undefined || event.timer !== undefined) return "ignore";
  const { unhandled } = work.chart;
  const policy = isKnown(work, event.type) ? unhandled.known : unhandled.unknown;
  return policy === "reject" && isServed(work, event) ? "ignore" : policy;
}

/** Whether somebody had the event already: the finalize of the invocation it comes from, or a child it was passed on to. */
function isServed(work: Work, event: Event): boolean {
  return event.invocation !== undefined || work.children.some(({ autoforward }) => autoforward);
}

/** Whether the machine has a use for such an event in any state. */
export function isKnown({ chart }: Pick<Work, "chart">, type: string): boolean {
  return chart.descriptors.some((descriptor) => descriptorMatches(descriptor, type, chart.matching));
}

function isDeferredHere(work: Work, event: Event): boolean {
  const { matching } = work.chart;
  const deferring = ({ defer }: { readonly defer: readonly string[] }) =>
    defer.some((descriptor) => descriptorMatches(descriptor, event.type, matching));
  return deferring(work.chart.root) || work.configuration.states.some(deferring);
}

/** Whether a deferred event may go on waiting. */
export function defers(work: Work, event: Event): boolean {
  return unhandledPolicy(work, event) === "defer";
}

/** The most urgent deferred event that something takes now, with the transitions that take it. */
export function nextDeferred(
  work: Work,
): { readonly event: Event; readonly transitions: readonly TransitionNode[] } | undefined {
  const { chart, deferred } = work;
  const waiting = chart.priorities.length === 0 ? deferred : byPriority(work, deferred);
  const { event: current } = work;
  for (const event of waiting) {
    const transitions = selectTransitions(work, event);
    if (transitions.length > 0) return { event, transitions };
  }
  // Those that were only asked about leave no trace: invariants still see the event that led here.
  work.event = current;
  return undefined;
}

/** Events in the order to take them: by priority, and in order of arrival where that is equal. */
export function byPriority({ chart }: Pick<Work, "chart">, events: readonly Event[]): readonly Event[] {
  const matches = (descriptor: string, type: string) => descriptorMatches(descriptor, type, chart.matching);
  return events.toSorted(
    (one, other) => priorityOf(chart, other.type, matches) - priorityOf(chart, one.type, matches),
  );
}
