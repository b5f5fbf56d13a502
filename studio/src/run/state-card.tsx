/** A state of the chart that was clicked: what it is, what it does, and whether the run is to stop there. */

import { labelOf } from "../chart/arrange.ts";
import type { Chart, RunDetail } from "../data/contract.ts";
import { Icon } from "../design/icon.tsx";
import { useBreakpoints } from "./actions.ts";

interface StateCardProps {
  readonly path: string;
  readonly chart: Chart;
  readonly detail: RunDetail;
  readonly onClose: () => void;
}

export function StateCard({ path, chart, detail, onClose }: StateCardProps) {
  const set = useBreakpoints(detail.run);
  const state = chart.states.find((one) => one.path === path);
  if (state === undefined || path === "") return null;
  const isSet = detail.breakpoints.some((one) => "state" in one && one.state === path);
  const others = detail.breakpoints.filter((one) => !("state" in one && one.state === path));
  const leaving = chart.transitions.filter(({ source }) => source === path);
  const isOver = detail.status !== "active" && detail.status !== "parked";
  return (
    <aside className="state-card" aria-label={`State ${path}`}>
      <p className="row">
        <b className="code">{path}</b>
        <button
          type="button"
          className="button push"
          data-look="plain"
          data-size="small"
          onClick={onClose}
          aria-label="Close"
        >
          <Icon name="cross" size={12} />
        </button>
      </p>
      {state.description === undefined ? null : <p>{state.description}</p>}
      <p className="row">
        <span className="tag">{state.type}</span>
        {state.tags.map((tag) => (
          <span className="tag" key={tag}>
            {tag}
          </span>
        ))}
      </p>
      <ul>
        {leaving.map((transition) => (
          <li key={transition.id}>
            {labelOf(transition)} <span className="quiet">→ {transition.targets.join(", ") || "stays"}</span>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="button"
        data-size="small"
        disabled={isOver || set.isPending}
        onClick={() => set.mutate(isSet ? others : [...others, { state: path }])}
      >
        <Icon name="pause" size={12} /> {isSet ? "Do not stop here" : "Stop when it comes here"}
      </button>
    </aside>
  );
}
