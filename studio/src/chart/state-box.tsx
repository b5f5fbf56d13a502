/** A state as a box: its name, what runs while it is active, and what it takes without leaving. */
import { Handle, type NodeProps, Position } from "@xyflow/react";
import { memo } from "react";
import { Icon } from "../design/icon.tsx";
import type { BoxNode } from "./drawn.ts";

/** The picture's arrows know their ways; React Flow only asks that there be places to begin and end. */
const Ends = () => (
  <>
    <Handle type="target" position={Position.Top} className="box-end" />
    <Handle type="source" position={Position.Bottom} className="box-end" />
  </>
);

export const StateBox = memo(function StateBox({ data }: NodeProps<BoxNode>) {
  const { box, isLit, isChosen } = data;
  if (box.kind === "dot")
    return (
      <div className="box-dot">
        <Ends />
      </div>
    );
  const { state, stays } = box;
  return (
    <div
      className="box"
      data-type={state.type}
      data-root={state.parent === null}
      data-lit={isLit}
      data-chosen={isChosen}
      data-person={state.tags.includes("approval")}
      data-state={state.path}
      title={state.description ?? state.path}
    >
      <Ends />
      <span className="box-name">
        <span>{state.type === "history" ? (state.history === "deep" ? "H*" : "H") : state.key}</span>
        {state.tags.includes("approval") ? <Icon name="person" size={13} /> : null}
      </span>
      {state.invokes.map(({ kind, source, id }) => (
        <span className="box-line" key={id ?? source}>
          <Icon name={kind === "activity" ? "activity" : "child"} size={12} />
          <span>{source}</span>
        </span>
      ))}
      {stays.map((label) => (
        <span className="box-line" key={label}>
          <Icon name="event" size={12} />
          <span>{label}</span>
        </span>
      ))}
    </div>
  );
});
