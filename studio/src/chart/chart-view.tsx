/** A machine's chart, drawn: states within states, what is active lit, the last transition moving. It pans and zooms. */
import {
  Background,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  type Rect,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Chart } from "../data/contract.ts";
import { boxId } from "./arrange.ts";
import { type ArrowEdge, type BoxNode, draw } from "./drawn.ts";
import { type Pane, type Picture, usePicture } from "./layout.ts";
import type { Lit } from "./lit.ts";
import { StateBox } from "./state-box.tsx";
import { TransitionArrow } from "./transition-arrow.tsx";
import "./chart.css";

interface ChartProps {
  readonly chart: Chart | undefined;
  readonly hash: string | undefined;
  readonly lit: Lit;
  readonly pulse?: number;
  /** Whether steps pass too quickly for anything to move. */
  readonly isQuick?: boolean;
  readonly chosen?: string | undefined;
  readonly onChoose?: (path: string | undefined) => void;
}

/** Smaller than this, and names can no longer be read. */
const readable = 0.68;
const nodeTypes = { box: StateBox };
const edgeTypes = { arrow: TransitionArrow };

/** The part of the picture that is lit most closely: the leaves among the active states. */
function litArea(picture: Picture, lit: Lit): Rect | undefined {
  const leaves = [...lit.active].filter((path) => ![...lit.active].some((one) => one.startsWith(`${path}.`)));
  const areas = leaves.flatMap((path) => picture.places.get(boxId(path)) ?? []);
  if (areas.length === 0) return undefined;
  const x = Math.min(...areas.map((area) => area.x));
  const y = Math.min(...areas.map((area) => area.y));
  const right = Math.max(...areas.map((area) => area.x + area.width));
  const bottom = Math.max(...areas.map((area) => area.y + area.height));
  return { x, y, width: right - x, height: bottom - y };
}

const isStill = (): boolean => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Shows the whole picture if it can be read so, else what is lit, as long as nobody moves it by hand. */
function useFollowing(picture: Picture, lit: Lit, isQuick: boolean) {
  const flow = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const [follows, setFollows] = useState(true);
  const isDrawn = useRef(false);
  const { width: wide = 1, height: high = 1 } = picture.placed;
  const isWhole = Math.min(width / wide, height / high) >= readable || lit.active.size === 0;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the whole is shown anew when its pane is of another size.
  useEffect(() => {
    if (follows && width > 0 && isWhole) void flow.fitView({ padding: 0.04, maxZoom: 1.1 });
  }, [flow, picture, follows, isWhole, width, height]);
  useEffect(() => {
    const area = litArea(picture, lit);
    if (!follows || width === 0 || height === 0 || isWhole || area === undefined) return;
    // Who moves through time quickly is not to look at a chart that is always on its way.
    const duration = isDrawn.current && !isQuick && !isStill() ? 450 : 0;
    isDrawn.current = true;
    void flow.setCenter(area.x + area.width / 2, area.y + area.height / 2, { zoom: 0.82, duration });
  }, [flow, picture, lit, isQuick, follows, isWhole, width, height]);
  return { flow, follows, setFollows };
}

function Drawing(props: ChartProps & { readonly picture: Picture }) {
  const { picture, lit, pulse = 0, isQuick = false, chosen, onChoose } = props;
  const { flow, follows, setFollows } = useFollowing(picture, lit, isQuick);
  const drawn = useMemo(() => draw(picture), [picture]);
  const nodes = useMemo(() => drawn.boxes(lit, chosen), [drawn, lit, chosen]);
  const edges = useMemo(() => drawn.arrows(lit, pulse), [drawn, lit, pulse]);
  const zoom = (way: "zoomIn" | "zoomOut") => {
    setFollows(false);
    void flow[way]({ duration: 150 });
  };
  return (
    <ReactFlow<BoxNode, ArrowEdge>
      nodes={nodes}
      edges={edges}
      nodeTypes={nodeTypes}
      edgeTypes={edgeTypes}
      minZoom={0.15}
      maxZoom={2}
      nodesFocusable={false}
      edgesFocusable={false}
      nodesConnectable={false}
      elementsSelectable={false}
      disableKeyboardA11y
      proOptions={{ hideAttribution: true }}
      onNodeClick={(_, { data }) =>
        onChoose?.(
          data.box.kind === "state" && data.box.state.path !== chosen ? data.box.state.path : undefined,
        )
      }
      onPaneClick={() => onChoose?.(undefined)}
      onMoveStart={(event) => event !== null && setFollows(false)}
    >
      <Background gap={22} size={1} color="var(--line)" />
      <Panel position="bottom-left" className="chart-controls">
        <button type="button" onClick={() => zoom("zoomIn")} aria-label="Zoom in">
          +
        </button>
        <button type="button" onClick={() => zoom("zoomOut")} aria-label="Zoom out">
          −
        </button>
        <button
          type="button"
          onClick={() => {
            setFollows(false);
            void flow.fitView({ padding: 0.04, duration: 200 });
          }}
        >
          All of it
        </button>
        {lit.active.size === 0 ? null : (
          <button type="button" aria-pressed={follows} onClick={() => setFollows(!follows)}>
            Follow
          </button>
        )}
      </Panel>
    </ReactFlow>
  );
}

export function ChartView(props: ChartProps) {
  const [pane, setPane] = useState<Pane | undefined>(undefined);
  const measure = useCallback((box: HTMLElement | null) => {
    if (box !== null) setPane(box.clientWidth > box.clientHeight * 1.3 ? "wide" : "tall");
  }, []);
  const picture = usePicture(props, pane);
  const active = [...props.lit.active].join(", ");
  return (
    <section className="chart" aria-label="Statechart" data-quick={props.isQuick === true} ref={measure}>
      <p className="unseen" aria-live="polite">
        {active === "" ? "No state is active." : `Active: ${active}`}
      </p>
      {picture === undefined ? (
        <p className="chart-wait quiet">Drawing…</p>
      ) : (
        <ReactFlowProvider key={`${props.hash} ${pane}`}>
          <Drawing {...props} picture={picture} />
        </ReactFlowProvider>
      )}
    </section>
  );
}
