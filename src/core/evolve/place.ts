/** Where a run will be: its configuration and what its histories remember, in the states of the new chart. */
import { type Chart, type Configuration, isDescendant, isLeaf, type StateNode } from "../chart.ts";
import { intern, isLegal } from "../configuration.ts";
import type { History } from "../history.ts";
import { freeze } from "../json.ts";
import { Nearest } from "../nearest.ts";
import { inside, show, someOf } from "../problem.ts";
import { isMemory } from "../restore.ts";
import { placesOf } from "./mapping.ts";
import type { Move } from "./move.ts";

/** The configuration the run will be in; undefined, with the problems told, if there is none. */
export function moveConfiguration(move: Move): Configuration | undefined {
  const { chart, state, mapping } = move;
  const leaves = new Set<StateNode>();
  let complete = true;
  state.configuration.forEach((path, index) => {
    const places = placesOf(mapping, chart, path);
    if (places.length !== 1 || places[0] !== path) move.moved.push({ from: path, to: places });
    for (const place of places) {
      const node = leafAt(move, place, path, inside("configuration", index));
      if (node === undefined) complete = false;
      else leaves.add(node);
    }
  });
  const inOrder = [...leaves].sort((one, other) => one.index - other.index);
  move.arrive(inOrder);
  if (!complete) return undefined;
  if (isLegal(chart.root, inOrder)) return intern(chart, inOrder);
  contradictions(move, chart.root, inOrder);
  return undefined;
}

function leafAt(move: Move, place: string, path: string, at: string): StateNode | undefined {
  const { chart } = move;
  const node = chart.byPath.get(place);
  if (node !== undefined && isLeaf(node)) return node;
  const is = place === path ? `is ${show(path)}` : `is ${show(path)}, mapped to ${show(place)}`;
  const key = `map it in \`states\`: { ${JSON.stringify(path)}: … }`;
  if (node === undefined) {
    const others = chart.nodes.filter(isLeaf).map((leaf) => leaf.path);
    const fix = () => new Nearest().fix(place, others, `${key}; there are ${someOf(others)}`);
    move.problem(at, `${is}, which version ${move.to.version} does not have`, fix);
  } else {
    const within = leavesIn(chart, node);
    const what = node.kind === "history" ? "is a history" : "has states inside";
    move.problem(at, `${is}, which ${what} in version ${move.to.version}`, `${key}, to ${someOf(within)}`);
  }
  return undefined;
}

function leavesIn(chart: Chart, node: StateNode): readonly string[] {
  return chart.nodes.filter((one) => isLeaf(one) && isDescendant(one, node)).map(({ path }) => path);
}

/** Says which states exclude each other, and which regions would be empty. */
function contradictions(move: Move, node: StateNode, leaves: readonly StateNode[]): void {
  const isIn = (child: StateNode) => leaves.some((leaf) => leaf === child || isDescendant(leaf, child));
  const entered = node.children.filter(isIn);
  const empty = node.kind === "parallel" ? node.children.filter((child) => !isIn(child)) : [];
  if (node.kind !== "parallel" && entered.length > 1)
    move.problem(
      "configuration",
      `would have ${entered.map(({ path }) => show(path)).join(" and ")} at once, which exclude each other`,
      "map them to states that can be active together",
    );
  for (const region of empty)
    move.problem(
      "configuration",
      `would have no state in the region ${show(region.path)}`,
      `map a state to a list that has one of ${someOf([region.path, ...leavesIn(move.chart, region)].slice(isLeaf(region) ? 0 : 1))}`,
    );
  for (const child of entered) contradictions(move, child, leaves);
}

/** What histories remember; a memory of what is no longer possible is let go. */
export function moveHistory(move: Move): History {
  const { chart, state, mapping } = move;
  const history: Record<string, readonly string[]> = {};
  let same = true;
  for (const [path, paths] of Object.entries(state.history)) {
    const before = { kind: "history", name: path } as const;
    const node = move
      .places(path)
      .find(({ kind, path: place }) => kind === "history" && !Object.hasOwn(history, place));
    const memory = inDocumentOrder(
      chart,
      paths.flatMap((one) => placesOf(mapping, chart, one)),
    );
    if (node === undefined || memory === undefined || !isMemory(chart, node, memory)) {
      move.letGo(before);
      same = false;
      continue;
    }
    const isSame = node.path === path && memory.join("\n") === paths.join("\n");
    const now = isSame ? paths : freeze(memory);
    if (!isSame) same = false;
    history[node.path] = move.keep(before, paths, now, { kind: "history", name: node.path });
  }
  return same ? state.history : freeze(history);
}

/** The paths, each once, as a chart has them; undefined if it does not have one of them. */
function inDocumentOrder(chart: Chart, paths: readonly string[]): readonly string[] | undefined {
  const nodes = [...new Set(paths)].map((path) => chart.byPath.get(path));
  if (nodes.includes(undefined)) return undefined;
  return (nodes as StateNode[]).sort((one, other) => one.index - other.index).map(({ path }) => path);
}
