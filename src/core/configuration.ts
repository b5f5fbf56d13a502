/**
 * Configurations: legal sets of active states, each made once per chart and remembered. What can be known of one
 * without a context is kept with it: the candidates for each event (`select.ts`) and the plans of its transitions
 * (`plan.ts`). This is where a step's cost goes from "compute sets" to "look up".
 */
import { limits } from "../limits.ts";
import { type Chart, type Configuration, isDescendant, isLeaf, type StateNode } from "./chart.ts";

/** The configuration whose leaves have these paths; undefined if they are not one of this chart. */
export function configurationOf(chart: Chart, paths: readonly string[]): Configuration | undefined {
  const cache = chart.cache;
  const known = cache.byPaths.get(paths) ?? cache.byKey.get(paths.join("\n"));
  if (known !== undefined) return known;
  const leaves: StateNode[] = [];
  for (const path of paths) {
    const node = chart.byPath.get(path);
    if (node === undefined || !isLeaf(node)) return undefined;
    leaves.push(node);
  }
  return isLegal(chart.root, leaves) ? intern(chart, leaves) : undefined;
}

/** Whether leaves in document order are exactly one way to be in a state. */
export function isLegal(within: StateNode, leaves: readonly StateNode[]): boolean {
  let next = 0;
  const covers = (node: StateNode): boolean => {
    if (isLeaf(node)) return leaves[next++] === node;
    if (node.kind === "parallel") return node.children.every(covers);
    const leaf = leaves[next];
    const child = node.children.find(
      (one) => leaf !== undefined && (one === leaf || isDescendant(leaf, one)),
    );
    return child !== undefined && covers(child);
  };
  return covers(within) && next === leaves.length;
}

/** The one configuration with these leaves. */
export function intern(chart: Chart, leaves: readonly StateNode[]): Configuration {
  const cache = chart.cache;
  const paths = leaves.map((leaf) => leaf.path);
  const key = paths.join("\n");
  let configuration = cache.byKey.get(key);
  if (configuration === undefined) {
    // Regions multiply: a chart with many of them has more configurations than are worth remembering.
    if (cache.byKey.size >= limits.cachedMax) cache.byKey.clear();
    configuration = newConfiguration(chart, leaves, Object.freeze(paths));
    cache.byKey.set(key, configuration);
    cache.byPaths.set(configuration.paths, configuration);
  }
  return configuration;
}

export function newConfiguration(
  chart: Chart,
  leaves: readonly StateNode[],
  paths: readonly string[],
): Configuration {
  const active = new Set<StateNode>();
  for (const leaf of leaves) {
    for (let node: StateNode | undefined = leaf; node?.parent !== undefined; node = node.parent)
      active.add(node);
  }
  const states = [...active].sort((one, other) => one.index - other.index);
  const withRoot = [chart.root, ...states];
  return {
    leaves,
    paths,
    states,
    active,
    final: leaves.length > 0 && isFinal(chart.root, active),
    invariants: withRoot.flatMap((state) => state.invariants.map((contract) => ({ state, contract }))),
    eventless: withRoot.some((state) => state.eventless.length > 0),
    candidates: new Map(),
    plans: new Map(),
  };
}

function isFinal(node: StateNode, active: ReadonlySet<StateNode>): boolean {
  if (node.kind === "parallel") return node.children.every((region) => isFinal(region, active));
  return node.children.some((child) => child.kind === "final" && active.has(child));
}

/** A state and its ancestors, innermost first, the root included. */
export function upwards(node: StateNode): StateNode[] {
  const chain: StateNode[] = [];
  for (let up: StateNode | undefined = node; up !== undefined; up = up.parent) chain.push(up);
  return chain;
}
