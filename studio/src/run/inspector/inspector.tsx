/** The inspector: what is known at the moment that is shown, from four sides. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Scroll } from "../../design/scroll.tsx";
import type { RunTab } from "../../search.ts";
import { DiffTab } from "./diff-tab.tsx";
import { EffectsTab } from "./effects-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { StateTab } from "./state-tab.tsx";
import { StepTab } from "./step-tab.tsx";
import type { TabProps } from "./tab.ts";
import "./inspector.css";

const names: Readonly<Record<RunTab, string>> = {
  state: "State",
  step: "Step",
  effects: "Effects",
  diff: "Difference",
  events: "Send",
};

const tabs: Readonly<Record<RunTab, (props: TabProps) => React.ReactNode>> = {
  state: StateTab,
  step: StepTab,
  effects: EffectsTab,
  diff: DiffTab,
  events: EventsTab,
};

export function Inspector(props: TabProps) {
  const { tab = "state" } = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const Tab = tabs[tab];
  return (
    <section className="inspector" aria-label="Inspector">
      <div className="tabs inspector-tabs" role="tablist" aria-label="Inspector">
        {(Object.keys(names) as RunTab[]).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === tab}
            aria-controls="inspector-panel"
            onClick={() => void navigate({ search: (before) => ({ ...before, tab: name }), replace: true })}
          >
            {names[name]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="inspector-panel" aria-labelledby={`tab-${tab}`} className="inspector-panel">
        <Scroll className="inspector-body" label={names[tab]}>
          <Tab {...props} />
        </Scroll>
      </div>
    </section>
  );
}
