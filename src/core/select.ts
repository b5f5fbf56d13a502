/** Selection: which transitions an event enables. https://www.w3.org/TR/scxml/#selectTransitions */
import { limits } from "../limits.ts";
import {
  type Candidates,
  type Chart,
  type Configuration,
  isDescendant,
  type StateNode,
  type TransitionNode,
} from "./chart.ts";
import { upwards } from "./configuration.ts";
import { descriptorMatches, type Event } from "./event.ts";
import { domainOf, type History } from "./history.ts";
import type { Work } from "./work.ts";

const none: readonly TransitionNode[] = Object.freeze([]);
/** Stands for "no event" among event types; no event can have it as its type. */
const eventless = { type: "" } as const;

/** The transitions that take an event, conflicts removed; the event becomes the one handlers see. */
export function selectTransitions(work: Work, event: Event): readonly TransitionNode[] {
  work.event = event;
  return selectFrom(work, candidatesFor(work.chart, work.configuration, event));
}

/** The eventless transitions that are enabled. */
export function selectEventless(work: Work): readonly TransitionNode[] {
  if (!work.configuration.eventless) return none;
  return selectFrom(work, candidatesFor(work.chart, work.configuration, eventless));
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

/** The transitions each leaf would take for an event of this type, innermost first, guards aside. */
function candidatesFor(
  { matching }: Chart,
  configuration: Configuration,
  event: Pick<Event, "type" | "kind">,
): Candidates {
  const { type } = event;
  const announced = event.kind === "platform";
  const key = announced ? `${type}\n` : type;
  const known = configuration.candidates.get(key);
  if (known !== undefined) return known;
  const matches = ({ descriptors, platform }: TransitionNode) =>
    platform
      ? announced && descriptors[0] === type
      : descriptors.some((descriptor) => descriptorMatches(descriptor, type, matching));
  const listeners = (node: StateNode) =>
    type === eventless.type ? node.eventless : node.transitions.filter(matches);
  const perLeaf = configuration.leaves.map((leaf) => upwards(leaf).flatMap(listeners));
  const candidates: Candidates = { perLeaf, certain: certainOf(perLeaf) };
  // Types come from outside, so what is remembered must be bounded.
  if (configuration.candidates.size >= limits.cachedMax) configuration.candidates.clear();
  configuration.candidates.set(key, candidates);
  return candidates;
}

function certainOf(perLeaf: readonly (readonly TransitionNode[])[]): readonly TransitionNode[] | undefined {
  const enabled = new Set<TransitionNode>();
  for (const [first] of perLeaf) {
    if (first === undefined) continue;
    if (first.guard !== undefined || first.historic) return undefined;
    enabled.add(first);
  }
  return removeConflicts([...enabled], {});
}

/**
 * Of transitions that leave a common state, the one with the inner source stays, else the earlier one.
 * https://www.w3.org/TR/scxml/#removeConflictingTransitions
 */
function removeConflicts(enabled: readonly TransitionNode[], history: History): readonly TransitionNode[] {
  if (enabled.length < 2) return enabled;
  let kept: TransitionNode[] = [];
  for (const transition of enabled) {
    const rivals = kept.filter((other) => conflict(transition, other, history));
    if (rivals.every((other) => isDescendant(transition.source, other.source))) {
      kept = kept.filter((other) => !rivals.includes(other));
      kept.push(transition);
    }
  }
  return kept;
}

/** Two exit sets meet exactly if one domain contains the other: each holds at least its own source's active child. */
function conflict(one: TransitionNode, other: TransitionNode, history: History): boolean {
  const inner = domainOf(one, history);
  const outer = domainOf(other, history);
  if (inner === undefined || outer === undefined) return false;
  return inner === outer || isDescendant(inner, outer) || isDescendant(outer, inner);
}
