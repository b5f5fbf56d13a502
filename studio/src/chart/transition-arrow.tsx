/** Transitions between two states as one arrow along the way that the layout found, with rounded corners. */
import { EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { memo } from "react";
import type { ArrowEdge } from "./drawn.ts";

interface Point {
  readonly x: number;
  readonly y: number;
}

const corner = 7;
const towards = (from: Point, to: Point, by: number): Point => {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  return { x: from.x + ((to.x - from.x) / length) * by, y: from.y + ((to.y - from.y) / length) * by };
};

function pathOf(points: readonly Point[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      const after = points[index + 1];
      if (before === undefined) return `M${point.x} ${point.y}`;
      if (after === undefined) return `L${point.x} ${point.y}`;
      const round = Math.min(
        corner,
        Math.hypot(point.x - before.x, point.y - before.y) / 2,
        Math.hypot(after.x - point.x, after.y - point.y) / 2,
      );
      const one = towards(point, before, round);
      const other = towards(point, after, round);
      return `L${one.x} ${one.y}Q${point.x} ${point.y} ${other.x} ${other.y}`;
    })
    .join("");
}

function headOf(points: readonly Point[]): string {
  const tip = points.at(-1);
  const before = points.at(-2);
  if (tip === undefined || before === undefined) return "";
  const angle = (Math.atan2(tip.y - before.y, tip.x - before.x) * 180) / Math.PI;
  return `translate(${tip.x} ${tip.y}) rotate(${angle})`;
}

export const TransitionArrow = memo(function TransitionArrow({ id, data }: EdgeProps<ArrowEdge>) {
  if (data === undefined || data.points.length < 2) return null;
  const { arrow, points, label, isLit, pulse } = data;
  const path = pathOf(points);
  const lines = arrow?.lines ?? [];
  return (
    <>
      <g className="arrow" data-lit={isLit} data-start={arrow === undefined} data-arrow={id}>
        <path className="arrow-line" d={path} />
        {isLit ? <path className="arrow-flow" d={path} key={pulse} /> : null}
        <path className="arrow-head" d="M0 0-9-4.500-9 4.500z" transform={headOf(points)} />
      </g>
      {label === undefined || lines.length === 0 ? null : (
        <EdgeLabelRenderer>
          <div
            className="arrow-label"
            data-lit={isLit}
            style={{ transform: `translate(${label.x}px, ${label.y}px)`, width: label.width }}
            title={lines.join("\n")}
          >
            {lines.slice(0, lines.length > 4 ? 3 : 4).map((line) => (
              <span key={line}>{line}</span>
            ))}
            {lines.length > 4 ? <span>and {lines.length - 3} more</span> : null}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
