/** Where an imported machine will behave differently, as far as its configuration tells. */
import { descriptorMatches } from "../../event.ts";
import type { Notes } from "../note.ts";
import { commonAncestor, isBelow, joined, type Place, type PlacedTransition, type Places } from "./place.ts";
import { isParts, listOf } from "./source.ts";
import type { Topic } from "./topic.ts";

/** Notes every transition and state whose meaning is another one here. */
export function noteBehaviours(places: Places, notes: Notes<Topic>): void {
  const transitions = places.transitions();
  for (const transition of transitions) {
    const { at, source, parts } = transition;
    const targets = targetsOf(transition, places);
    if (leavesParallel(source, targets, parts.reenter === true)) notes.add(at, "parallel-domain");
    if (isShadowed(transition, transitions)) notes.add(at, "ancestor-too");
    if (source.parent === undefined && parts.reenter === true && targets.length > 0)
      notes.add(at, "root-reenter");
    if (at.startsWith(joined(source.at, "always")) && targets.every((target) => target === source))
      notes.add(at, "still-always");
  }
  for (const place of places.all) noteState(place, notes);
  if (places.root.config.output !== undefined && places.all.some(({ config }) => config.exit !== undefined))
    notes.add("output", "output-last");
}

function noteState(place: Place, notes: Notes<Topic>): void {
  const { config, at, parent } = place;
  if (parent !== undefined && isParts(config.initial) && listOf(config.initial.actions).length > 0)
    notes.add(joined(at, "initial"), "initial-actions");
  const nested = place.kind === "parallel" && place.children.some(({ kind }) => kind === "parallel");
  if (nested && parent !== undefined) notes.add(at, "done-upwards");
}

function targetsOf({ parts, source }: PlacedTransition, places: Places): Place[] {
  return listOf(parts.target).flatMap((name) => {
    const found = typeof name === "string" ? places.find(name, source) : undefined;
    return found === undefined ? [] : [found];
  });
}

/** Whether a transition's domain is a parallel state in XState, and leaving that one as well makes a difference. */
function leavesParallel(source: Place, targets: readonly Place[], reenter: boolean): boolean {
  if (targets.length === 0) return false;
  if (!reenter && targets.every((target) => target === source || isBelow(target, source))) return false;
  const domain = commonAncestor([...targets, source]);
  for (let up = domain; up?.kind === "parallel" && up.parent !== undefined; up = up.parent)
    if (up !== domain || isMarked(up)) return true;
  return false;
}

/** Whether it shows when a state is left and entered again. */
function isMarked({ config, children }: Place): boolean {
  const { entry, exit, after, invoke } = config;
  return (entry ?? exit ?? after ?? invoke) !== undefined || children.some(({ kind }) => kind === "history");
}

/** Whether a handler stands around regions that take the same event, and both can happen. */
function isShadowed(outer: PlacedTransition, all: readonly PlacedTransition[]): boolean {
  const { key, source } = outer;
  if (key === undefined) return false;
  return all.some((inner) => {
    if (inner.key === undefined || !isBelow(inner.source, source) || !overlap(key, inner.key)) return false;
    const free = (one: PlacedTransition) => listOf(one.parts.target).length === 0;
    return (free(outer) || free(inner)) && besides(inner.source, source);
  });
}

/** Whether there is another region beside the way from one state up to another. */
function besides(inner: Place, outer: Place): boolean {
  for (let up: Place | undefined = inner.parent; up !== undefined; up = up.parent) {
    if (up.kind === "parallel" && up.children.filter(({ kind }) => kind !== "history").length > 1)
      return true;
    if (up === outer) return false;
  }
  return false;
}

function overlap(one: string, other: string): boolean {
  return descriptorMatches(one, other, "exact") || descriptorMatches(other, one, "exact");
}
