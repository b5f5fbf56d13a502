/** Where random transitions, initials and histories lead. */
import type { Random } from "./random.ts";
import { ancestors, areOrthogonal, descendants, isInside, type Place, type Tree } from "./tree.ts";

/**
 * The targets of a transition: none, the source itself, one state, or one in each of several regions. Only where a chart
 * roams do transitions cross from one region of a parallel state into another.
 */
export function drawTargets(random: Random, source: Place, tree: Tree, roams: boolean): string[] {
  for (let attempt = 0; attempt < 5; attempt++) {
    const targets = drawAnyTargets(random, source, tree);
    if (roams || !crossesRegions(source, targets)) return keysOf(targets);
  }
  return [];
}

function drawAnyTargets(random: Random, source: Place, tree: Tree): Place[] {
  const roll = random.next();
  if (roll < 0.12) return [];
  if (roll < 0.2 && source.parent !== undefined) return [source];
  if (roll < 0.34) {
    const several = drawSeveral(random, [...tree.values()], tree);
    if (several.length > 0) return several;
  }
  return [drawOne(random, source, tree)];
}

/** Whether what contains the source and all targets is a parallel state, or a history may make it so. */
export function crossesRegions(source: Place, targets: readonly Place[]): boolean {
  if (targets.length === 0) return false;
  const leadsBack = ({ state, parent }: Place): boolean =>
    state.kind === "history" && isInside(source, parent!);
  const around = ancestors(source).find((above) => targets.every((target) => isInside(target, above)));
  return targets.some(leadsBack) || around?.state.kind === "parallel";
}

/** One state other than the root: often a neighbour, so that charts move in small steps too. */
function drawOne(random: Random, source: Place, tree: Tree): Place {
  const anywhere = [...tree.values()].filter(({ parent }) => parent !== undefined);
  const siblings = anywhere.filter(({ parent }) => parent === source.parent);
  const inside = anywhere.filter((place) => isInside(place, source));
  const finals = siblings.filter(({ state }) => state.kind === "final");
  const histories = anywhere.filter(({ state }) => state.kind === "history");
  const pools = [anywhere, siblings, inside, finals, histories].filter((pool) => pool.length > 0);
  return random.pick(random.pick(pools));
}

/** The targets of an initial: below its state, at any depth and in any number of regions. */
export function drawInitial(random: Random, owner: Place, tree: Tree): string[] {
  const children = descendants(tree, owner).filter(({ parent }) => parent === owner);
  const below = descendants(tree, owner);
  if (random.chance(0.15)) {
    const several = drawSeveral(random, below, tree);
    if (several.length > 0) return keysOf(several);
  }
  const pool = random.chance(0.6) ? children : below;
  const early = random.chance(0.15);
  const states = pool.filter(({ state }) => state.kind !== "history" && (early || state.kind !== "final"));
  const histories = children.filter(({ state }) => state.kind === "history");
  if (histories.length > 0 && random.chance(0.2)) return keysOf([random.pick(histories)]);
  return keysOf([random.pick(states.length > 0 ? states : pool.filter(isState))]);
}

/** The default of a history state: children of its parent if it is shallow, whatever lies below if it is deep. */
export function drawFallback(random: Random, history: Place, tree: Tree): string[] {
  const parent = history.parent!;
  const pool = descendants(tree, parent).filter(
    (place) => isState(place) && (history.state.deep === true || place.parent === parent),
  );
  if (random.chance(0.4)) {
    const several = drawSeveral(random, pool, tree);
    if (several.length > 0) return keysOf(several);
  }
  return keysOf([random.pick(pool)]);
}

/** Two or three states of the pool that can all be active at once, in different regions; none if chance fails. */
function drawSeveral(random: Random, pool: readonly Place[], tree: Tree): Place[] {
  const parallels = [...tree.values()].filter(({ state }) => state.kind === "parallel");
  if (parallels.length === 0) return [];
  const parallel = random.pick(parallels);
  const inside = pool.filter((place) => isState(place) && isInside(place, parallel));
  const chosen: Place[] = [];
  for (let attempt = 0; attempt < 6 && inside.length > 0; attempt++) {
    const place = random.pick(inside);
    if (chosen.every((other) => areOrthogonal(place, other))) chosen.push(place);
  }
  return chosen.length > 1 ? chosen : [];
}

const isState = ({ state }: Place): boolean => state.kind !== "history";
const keysOf = (places: readonly Place[]): string[] => places.map(({ state }) => state.key);
