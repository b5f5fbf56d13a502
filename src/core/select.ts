/** Selection: which transitions an event enables. https://www.w3.org/TR/scxml/#selectTransitions */
import type { TransitionNode } from "./chart.ts";
import { type Candidates, candidatesFor, removeConflicts } from "./configuration.ts";
import type { Event } from "./event.ts";
import type { Work } from "./work.ts";

const none: readonly TransitionNode[] = Object.freeze([]);

/** The transitions that take an event, conflicts removed; the event becomes the one handlers see. */
export function selectTransitions(work: Work, event: Event): readonly TransitionNode[] {
  work.event = event;
  return selectFrom(work, candidatesFor(work.chart, work.configuration, event.type));
}

/** The eventless transitions that are enabled. */
export function selectEventless(work: Work): readonly TransitionNode[] {
  const { eventless } = work.configuration;
  return eventless === undefined ? none : selectFrom(work, eventless);
}

function selectFrom(work: Work, candidates: Candidates): readonly TransitionNode[] {
  if (candidates.certain !== undefined && work.tracer === undefined) return candidates.certain;
  const { perLeaf } = candidates;
  if (perLeaf.length === 1) {
    const transition = firstEnabled(work, perLeaf[0] as readonly TransitionNode[], undefined);
    return transition === undefined ? none : [transition];
  }
  // Leaves share ancestors: each guard is asked once, so that it cannot answer differently or fail twice.
  const asked = new Map<TransitionNode, boolean>();
  const enabled = new Set<TransitionNode>();
  for (const leaf of perLeaf) {
    const transition = firstEnabled(work, leaf, asked);
    if (transition !== undefined) enabled.add(transition);
  }
  return removeConflicts([...enabled], work.history);
}

function firstEnabled(
  work: Work,
  transitions: readonly TransitionNode[],
  asked: Map<TransitionNode, boolean> | undefined,
): TransitionNode | undefined {
  for (const transition of transitions) {
    const { guard } = transition;
    if (guard === undefined) return transition;
    let holds = asked?.get(transition);
    if (holds === undefined) {
      holds = guard(work);
      asked?.set(transition, holds);
      work.tracer?.guard(transition, holds);
    }
    if (holds) return transition;
  }
  return undefined;
}
