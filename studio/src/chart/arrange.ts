/**
 * From a machine's chart to a picture's parts: boxes in boxes, and arrows with their labels. It says how large each is;
 * where it goes is for the layout to find.
 */
import type { ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api";
import type { Chart, ChartState, ChartTransition } from "../data/contract.ts";

/** Transitions between the same two states, drawn as one arrow. */
export interface Arrow {
  readonly id: string;
  readonly source: string;
  readonly target: string;
  readonly lines: readonly string[];
  readonly transitions: readonly ChartTransition[];
}

/** A box: a state, or the dot where one begins. */
export type Box =
  | {
      readonly kind: "state";
      readonly id: string;
      readonly state: ChartState;
      readonly stays: readonly string[];
    }
  | { readonly kind: "dot"; readonly id: string };

export interface Arrangement {
  readonly graph: ElkNode;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly arrows: ReadonlyMap<string, Arrow>;
}

const linesMax = 4;
/** How wide a text is, near enough: what is drawn is cut off at its box. */
const widthOf = (text: string, letter: number): number => Math.ceil(text.length * letter);

/** A state's id in the picture: its path, which is empty for the root. */
export const boxId = (path: string): string => `state:${path}`;

/** An end is named after whose it is, of which the last part of a path says enough. */
export function labelOf({ label, guard, trigger }: ChartTransition): string {
  const isEnd = trigger === "done" || trigger === "error" || trigger === "unknown";
  const words = label === "" ? "always" : isEnd ? label.replace(/(?:[^\s.]+\.)+([^\s.]+)$/, "$1") : label;
  const full = guard === undefined ? words : `${words} [${guard}]`;
  return full.length > 42 ? `${full.slice(0, 40)}…` : full;
}

function arrowsOf(transitions: readonly ChartTransition[]): Map<string, Arrow> {
  const arrows = new Map<string, Arrow>();
  for (const transition of transitions)
    for (const target of transition.targets) {
      const id = `${transition.source}→${target}`;
      const before = arrows.get(id);
      arrows.set(id, {
        ...{ id, source: transition.source, target },
        lines: [...(before?.lines ?? []), labelOf(transition)],
        transitions: [...(before?.transitions ?? []), transition],
      });
    }
  return arrows;
}

const compound = {
  "elk.padding": "[top=42,left=18,bottom=18,right=18]",
};
const whole = {
  ...compound,
  "elk.algorithm": "layered",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.json.edgeCoords": "ROOT",
  "elk.json.shapeCoords": "PARENT",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.spacing.nodeNode": "26",
  "elk.spacing.edgeNode": "12",
  "elk.spacing.edgeEdge": "14",
  "elk.spacing.edgeLabel": "4",
  "elk.layered.spacing.nodeNodeBetweenLayers": "24",
  "elk.layered.spacing.edgeNodeBetweenLayers": "12",
  "elk.layered.considerModelOrder.strategy": "NODES_AND_EDGES",
  "elk.layered.nodePlacement.strategy": "NETWORK_SIMPLEX",
  "elk.layered.feedbackEdges": "true",
};

function sizeOf(state: ChartState, stays: readonly string[]): { width: number; height: number } {
  if (state.type === "history") return { width: 30, height: 30 };
  const under = [...state.invokes.map(({ source }) => `  ${source}`), ...stays.map((text) => `  ${text}`)];
  const width = Math.max(
    widthOf(state.key, 8) + (state.tags.includes("approval") ? 52 : 30),
    ...under.map((text) => widthOf(text, 6.8) + 30),
    84,
  );
  return { width: Math.min(width, 280), height: 38 + under.length * 19 };
}

function edgesOf(arrows: ReadonlyMap<string, Arrow>): ElkExtendedEdge[] {
  return [...arrows.values()].map(({ id, source, target, lines }) => {
    const shown = lines.slice(0, linesMax);
    return {
      id,
      sources: [boxId(source)],
      targets: [boxId(target)],
      labels: [
        {
          text: shown.join("\n"),
          width: Math.max(...shown.map((line) => widthOf(line, 6.7) + 12)),
          height: shown.length * 17 + 2,
        },
      ],
    };
  });
}

/** Workers of a map are alike, and drawn as one line of the state that has them. */
const isCrew = (children: readonly ChartState[]): boolean =>
  children.length > 0 && children.every(({ key }) => /^worker\d+$/.test(key));

/** The chart without the insides of maps; the states that had them tell what their workers run. */
function folded({ states, transitions }: Chart): Chart {
  const childrenOf = Map.groupBy(states, ({ parent }) => parent);
  const crews = states.filter(({ path, type }) => type === "parallel" && isCrew(childrenOf.get(path) ?? []));
  if (crews.length === 0) return { states, transitions };
  const isInside = (path: string) => crews.some((crew) => path.startsWith(`${crew.path}.`));
  const fold = (state: ChartState): ChartState => {
    if (!crews.includes(state)) return state;
    const workers = childrenOf.get(state.path) ?? [];
    const inside = states.filter(({ path }) => path.startsWith(`${workers[0]?.path}.`));
    const invokes = inside.flatMap((one) => one.invokes);
    return {
      ...{ ...state, type: "atomic", initial: [] },
      invokes: invokes.map((one) => ({ ...one, source: `${one.source} × ${workers.length}` })),
    };
  };
  return {
    states: states.filter(({ path }) => !isInside(path)).map(fold),
    transitions: transitions.filter(({ source }) => !isInside(source)),
  };
}

export type Direction = "DOWN" | "RIGHT";

/** The parts of a chart's picture. */
export function arrange(given: Chart, direction: Direction): Arrangement {
  const chart = folded(given);
  const arrows = arrowsOf(chart.transitions);
  const boxes = new Map<string, Box>();
  const starts: ElkExtendedEdge[] = [];
  const childrenOf = Map.groupBy(chart.states, ({ parent }) => parent);
  const nodeOf = (state: ChartState): ElkNode => {
    const id = boxId(state.path);
    const stays = chart.transitions
      .filter(({ source, targets }) => source === state.path && targets.length === 0)
      .map(labelOf);
    boxes.set(id, { kind: "state", id, state, stays });
    const inside = childrenOf.get(state.path) ?? [];
    if (inside.length === 0) return { id, ...sizeOf(state, stays) };
    const children = inside.map(nodeOf);
    const [first] = state.type === "compound" ? state.initial : [];
    if (first !== undefined) {
      const dot = `dot:${state.path}`;
      boxes.set(dot, { kind: "dot", id: dot });
      children.unshift({ id: dot, width: 10, height: 10 });
      starts.push({ id: `${dot}→`, sources: [dot], targets: [boxId(first)] });
    }
    const { width } = sizeOf(state, []);
    return {
      id,
      children,
      layoutOptions: {
        ...compound,
        "elk.nodeSize.constraints": "MINIMUM_SIZE",
        "elk.nodeSize.minimum": `(${width}, 60)`,
      },
    };
  };
  const root = nodeOf(chart.states[0] as ChartState);
  const graph = {
    ...root,
    layoutOptions: { ...whole, "elk.direction": direction },
    edges: [...starts, ...edgesOf(arrows)],
  };
  return { graph, boxes, arrows };
}
