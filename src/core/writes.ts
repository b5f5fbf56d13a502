/**
 * Writes of parallel regions. Two regions that give one place different values within one microstep contradict each
 * other: whichever came last would silently win. The parallel state's policy decides instead.
 *
 * Regions act one after the other, and each sees what the earlier ones wrote. Adding to a list or a text is no
 * contradiction to adding, nor to a change of what it held before: nothing is lost. Anything else that leaves one
 * place with two values is.
 */
import { HoldfastError } from "../errors.ts";
import { areOrthogonal, isDescendant, leastCommonAncestor, type StateNode } from "./chart.ts";
import type { Json, JsonObject, Path } from "./json.ts";
import { showPath } from "./json.ts";
import { apply, diff, type Patch } from "./patch.ts";

export interface Write {
  readonly node: StateNode;
  readonly before: JsonObject;
  readonly after: JsonObject;
}

/** The context once contradictions are settled; throws WRITES_CONTRADICT where the policy is to reject. */
export function settleWrites(writes: readonly Write[], context: JsonObject): JsonObject {
  // Usually one region wrote, be it several times. To find what it changed would take as long as the step itself.
  const isContested = writes.some(({ node }, index) =>
    writes.slice(0, index).some((earlier) => areOrthogonal(earlier.node, node)),
  );
  if (!isContested) return context;
  const changes = writes.map((write) => ({ ...write, patches: diff(write.before, write.after) }));
  /** Whose value stands at each place that was fought over. */
  const standing = new Map<
    string,
    { readonly path: Path; readonly change: Change; readonly rival: Change }
  >();
  changes.forEach((later, index) => {
    for (const earlier of changes.slice(0, index)) {
      if (!areOrthogonal(earlier.node, later.node)) continue;
      const parallel = leastCommonAncestor(earlier.node, later.node);
      for (const path of contradictions(earlier, later)) {
        const policy = parallel.writes(path.join("."));
        if (policy === "reject") throw contradiction(parallel, earlier, later, path);
        const key = JSON.stringify(path);
        // The last write stands already, unless somebody outside this fight wrote once more; that stands then.
        if (policy === "last") standing.delete(key);
        else {
          const change = standing.get(key)?.change ?? lastWord(changes, parallel, earlier, path);
          standing.set(key, { path, change, rival: later });
        }
      }
    }
  });
  // Outer places first: what lies inside one of them comes with it.
  const places = [...standing.values()].sort((one, other) => one.path.length - other.path.length);
  return places.reduce((settled, { path, change, rival }, index) => {
    const comesAlong = places.slice(0, index).some((outer) => overlap(outer.path, path) === outer.path);
    // Somebody outside the fight may have written once more; that stands.
    const isLatest = isSame(valueAt(context, path), valueAt(rival.after, path));
    return comesAlong || !isLatest ? settled : put(settled, path, valueAt(change.after, path));
  }, context);
}

/** What a region wrote to a place in the end: it may well have changed its mind. */
function lastWord(changes: readonly Change[], parallel: StateNode, one: Change, path: Path): Change {
  const isIn = (region: StateNode, { node }: Change) => node === region || isDescendant(node, region);
  const region = parallel.children.find((child) => isIn(child, one)) as StateNode;
  const wrote = (change: Change) =>
    isIn(region, change) && change.patches.some((patch) => overlap(patch.path, path) !== undefined);
  return changes.findLast(wrote) as Change;
}

interface Change extends Write {
  readonly patches: readonly Patch[];
}

/** The places both wrote, where what the later one left is not what the earlier one wrote. */
function contradictions(earlier: Change, later: Change): Path[] {
  const paths: Path[] = [];
  for (const one of earlier.patches) {
    for (const other of later.patches) {
      const shared = overlap(one.path, other.path);
      if (shared === undefined || isAddition(earlier, one, other)) continue;
      if (!isSame(valueAt(earlier.after, shared), valueAt(later.after, shared))) {
        // Items of a list have no names, and another write may have moved them: the list is what is fought over.
        const item = shared.findIndex((key) => typeof key === "number");
        paths.push(item < 0 ? shared : shared.slice(0, item));
      }
    }
  }
  return paths;
}

/** Whether one of two writes only adds to what the other one changed, or both add to the same. */
function isAddition(earlier: Change, one: Patch, other: Patch): boolean {
  if (other.op === "append") return one.op === "append" || one.path.length > other.path.length;
  if (one.op !== "append" || other.path.length <= one.path.length) return false;
  const list = valueAt(earlier.before, one.path) as readonly Json[];
  return (other.path[one.path.length] as number) < list.length;
}

/** The shorter path, if it leads to or into the place of the longer one. */
function overlap(one: Path, other: Path): Path | undefined {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return short.every((key, index) => key === long[index]) ? short : undefined;
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function valueAt(value: Json, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) {
    found =
      typeof found === "object" && found !== null && Object.hasOwn(found, key)
        ? (found as Record<string | number, Json>)[key]
        : undefined;
  }
  return found;
}

function put(context: JsonObject, path: Path, value: Json | undefined): JsonObject {
  const patch: Patch = value === undefined ? { op: "delete", path } : { op: "set", path, value };
  return apply(context, [patch]) as JsonObject;
}

function contradiction(parallel: StateNode, earlier: Change, later: Change, path: Path): HoldfastError {
  const place = showPath(path, "context");
  const [was, is] = [valueAt(earlier.after, path), valueAt(later.after, path)].map((value) =>
    JSON.stringify(value),
  );
  return new HoldfastError(
    "WRITES_CONTRADICT",
    `Regions ${JSON.stringify(earlier.node.path)} and ${JSON.stringify(later.node.path)} of ${JSON.stringify(parallel.path)} ` +
      `both wrote ${place} in one step: ${was}, then ${is}. Let one of them write it, or declare \`writes\` on the parallel state`,
    { details: { path: place, regions: [earlier.node.path, later.node.path], values: [was, is] } },
  );
}
