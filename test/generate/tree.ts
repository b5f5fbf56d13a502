/** A plan's states seen as a tree: who contains whom, in document order. */
import type { StatePlan } from "./plan.ts";

export interface Place {
  readonly state: StatePlan;
  readonly parent: Place | undefined;
  readonly depth: number;
  /** The keys from below the root down to this state, joined with dots; empty for the root. */
  readonly path: string;
}

export type Tree = ReadonlyMap<string, Place>;

/** Every state of a plan by its key, in document order. */
export function plant(root: StatePlan): Tree {
  const tree = new Map<string, Place>();
  const visit = (state: StatePlan, parent: Place | undefined): void => {
    const path = parent === undefined ? "" : parent.path === "" ? state.key : `${parent.path}.${state.key}`;
    const place: Place = { state, parent, depth: parent === undefined ? 0 : parent.depth + 1, path };
    tree.set(state.key, place);
    for (const child of state.states) visit(child, place);
  };
  visit(root, undefined);
  return tree;
}

/** The states around this one, nearest first. */
export function ancestors(place: Place): Place[] {
  const found: Place[] = [];
  for (let above = place.parent; above !== undefined; above = above.parent) found.push(above);
  return found;
}

export function isInside(place: Place, container: Place): boolean {
  for (let above = place.parent; above !== undefined; above = above.parent)
    if (above === container) return true;
  return false;
}

/** All states below this one, in document order. */
export function descendants(tree: Tree, place: Place): Place[] {
  return [...tree.values()].filter((other) => isInside(other, place));
}

/** Whether two states can be active at once without one containing the other. */
export function areOrthogonal(one: Place, other: Place): boolean {
  if (one === other || isInside(one, other) || isInside(other, one)) return false;
  const around = ancestors(other);
  return ancestors(one).find((above) => around.includes(above))?.state.kind === "parallel";
}

/** Whether a transition may go to all these states at once. A history state stands for the whole of its parent. */
export function isStateSpecification(places: readonly Place[]): boolean {
  const covered = places.map((place) => (place.state.kind === "history" ? place.parent! : place));
  return covered.every((one, index) => covered.slice(index + 1).every((other) => areOrthogonal(one, other)));
}

/** The name under which a state's done event is raised. */
export const doneName = (place: Place): string =>
  place.state.named === true ? stateId(place.state.key) : place.path;

export const stateId = (key: string): string => `id-${key}`;
