/** Targets: how a name in a definition finds its state, and which name was meant if it finds none. */
import { limits } from "../limits.ts";
import { areOrthogonal, type Chart, isDescendant, type StateNode } from "./chart.ts";
import { type Compiler, listOf } from "./compiler.ts";
import { itemsAt, show, someOf } from "./problem.ts";
import type { Tree } from "./tree.ts";

/** The states of a machine, by their paths and by the names that authors gave them. */
type States = Pick<Chart, "byPath" | "byId">;

/**
 * The state a target names, seen from `source`: `#id`, `.child` below the source, or a key among the source's siblings
 * and then its ancestors' siblings. Each may go on with a path of keys.
 */
export function resolveTarget(target: string, source: StateNode, tree: States): StateNode | undefined {
  if (target.startsWith("#")) return resolveId(target.slice(1), tree);
  if (target.startsWith(".")) return descend(source, target.slice(1), tree);
  const first = firstKey(target);
  for (
    let scope: StateNode | undefined = source.parent ?? source;
    scope !== undefined;
    scope = scope.parent
  ) {
    if (descend(scope, first, tree) !== undefined) return descend(scope, target, tree);
  }
  return undefined;
}

/** The state that a path of keys names below `from`. */
function descend(from: StateNode, path: string, tree: States): StateNode | undefined {
  return path === "" ? undefined : tree.byPath.get(from.path === "" ? path : `${from.path}.${path}`);
}

/** An id may contain dots itself, so the longest id that fits comes first; the rest is a path below it. */
function resolveId(name: string, tree: States): StateNode | undefined {
  for (let end = name.length; end > 0; end = name.lastIndexOf(".", end - 1)) {
    const node = tree.byId.get(name.slice(0, end));
    if (node !== undefined) return end === name.length ? node : descend(node, name.slice(end + 1), tree);
  }
  return undefined;
}

function firstKey(path: string): string {
  const dot = path.indexOf(".");
  return dot < 0 ? path : path.slice(0, dot);
}

/** The targets of a transition or a history, each with a problem if it names no state. */
export function targetsOf(
  compiler: Compiler,
  tree: Tree,
  source: StateNode,
  given: unknown,
  place: string,
): StateNode[] {
  const targets = itemsAt(given, place).flatMap(([name, at]) => {
    const found = typeof name === "string" ? resolveTarget(name, source, tree) : undefined;
    if (found !== undefined) return [found];
    compiler.problem(at, `names no state: ${show(name)}`, () => targetFix(compiler, tree, source, name));
    return [];
  });
  return together(compiler, targets, place);
}

function targetFix(compiler: Compiler, tree: Tree, source: StateNode, name: unknown): string {
  const advice = `from here there are ${someOf(tree.keysIn(source.parent ?? source))}, .child and #id`;
  if (typeof name !== "string") return advice;
  const elsewhere = tree.byKey.get(name);
  if (elsewhere !== undefined) return `the state of that key is ${show(elsewhere.path)}; ${advice}`;
  return compiler.nearest.fix(name, candidates(source, tree, name), advice);
}

/** Names a target could have had, written as it is written. */
function candidates(source: StateNode, tree: Tree, name: string): readonly string[] {
  if (name.startsWith("#")) return [...tree.byId.keys()].map((id) => `#${id}`);
  if (name.startsWith(".")) return tree.keysIn(source).map((key) => `.${key}`);
  if (name.includes(".")) return [...tree.byPath.keys()];
  const names: (readonly string[])[] = [];
  for (let scope: StateNode | undefined = source.parent ?? source; scope !== undefined; scope = scope.parent)
    names.push(tree.keysIn(scope));
  return names.flat();
}

/** Where a compound state begins; each target must lie inside it. */
export function initialsOf(
  compiler: Compiler,
  tree: Tree,
  node: StateNode,
  given: unknown,
  place: string,
): StateNode[] {
  const targets = itemsAt(given, place).flatMap(([name, at]) => {
    const found =
      typeof name !== "string"
        ? undefined
        : name.startsWith("#")
          ? resolveTarget(name, node, tree)
          : descend(node, name.replace(/^\./, ""), tree);
    if (found !== undefined && isDescendant(found, node)) return [found];
    compiler.problem(at, `names no state inside: ${show(name)}`, () => {
      const known = node.children.map(({ key }) => key);
      return compiler.nearest.fix(name, known, `there are ${someOf(known)}`);
    });
    return [];
  });
  return together(compiler, targets, place);
}

/** Several targets must be able to be active together: each pair in different regions of one parallel state. */
function together(compiler: Compiler, targets: StateNode[], place: string): StateNode[] {
  if (targets.length > limits.targetsMax) {
    compiler.problem(place, `has ${targets.length} targets`, `there are at most ${limits.targetsMax}`);
    return [];
  }
  targets.forEach((later, index) => {
    for (const earlier of targets.slice(0, index)) {
      if (!areOrthogonal(earlier, later))
        compiler.problem(place, `cannot lead to ${show(earlier.path)} and ${show(later.path)} at once`);
    }
  });
  return targets;
}

/** Whether a target is given at all: neither left out nor an empty list. */
export function isGiven(target: unknown): boolean {
  return listOf(target).length > 0;
}
