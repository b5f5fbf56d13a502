/** Targets: how a name in a definition finds its state. */
import type { StateNode } from "./chart.ts";

/**
 * The state a target names, seen from `source`: `#id`, `.child` below the source, or a key among the source's siblings
 * and then its ancestors' siblings. Each may go on with a path of keys.
 */
export function resolveTarget(
  target: string,
  source: StateNode,
  byId: ReadonlyMap<string, StateNode>,
): StateNode | undefined {
  if (target.startsWith("#")) return resolveId(target.slice(1), byId);
  if (target.startsWith(".")) return descend(source, target.slice(1));
  for (
    let scope: StateNode | undefined = source.parent ?? source;
    scope !== undefined;
    scope = scope.parent
  ) {
    if (child(scope, firstKey(target)) !== undefined) return descend(scope, target);
  }
  return undefined;
}

/** The state that a path of keys names below `from`. */
export function descend(from: StateNode, path: string): StateNode | undefined {
  let node: StateNode | undefined = from;
  for (const key of path.split(".")) node = node && child(node, key);
  return node;
}

/** An id may contain dots itself, so the longest id that fits comes first; the rest is a path below it. */
function resolveId(name: string, byId: ReadonlyMap<string, StateNode>): StateNode | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    const node = byId.get(name.slice(0, end));
    if (node !== undefined) return end === name.length ? node : descend(node, name.slice(end + 1));
  }
  return undefined;
}

function child(node: StateNode, key: string): StateNode | undefined {
  return node.children.find((one) => one.key === key) ?? node.histories.find((one) => one.key === key);
}

function firstKey(path: string): string {
  const dot = path.indexOf(".");
  return dot < 0 ? path : path.slice(0, dot);
}
