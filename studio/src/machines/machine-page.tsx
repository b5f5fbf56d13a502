/** A machine in one of its versions: its diagram, what it takes, what it calls, and its definition. */
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { ChartView } from "../chart/chart-view.tsx";
import type { MachineDetail } from "../data/contract.ts";
import { useMachine, useMachines } from "../data/machines.ts";
import { CopyButton } from "../design/copy.tsx";
import { JsonTree } from "../design/json-tree.tsx";
import { time } from "../design/words.ts";
import { CopyMenu } from "../shell/copy-menu.tsx";
import { Problem } from "../shell/problem.tsx";
import { StartForm } from "./start-form.tsx";
import "./machines.css";

const nothingLit = { active: new Set<string>(), taken: new Set<string>() };

export function MachinePage() {
  const { machine } = useParams({ from: "/machines/$machine" });
  const { version } = useSearch({ from: "/machines/$machine" });
  const { data: detail, error } = useMachine(machine, version);
  if (detail === undefined)
    return error === null ? <p className="page quiet">Reading…</p> : <Problem error={error} />;
  return (
    <div className="page machine">
      <header className="page-head">
        <h1>{machine}</h1>
        <span className="tag">{detail.kind}</span>
        <Versions machine={machine} shown={detail.version} />
        <span className="push" />
        <Link className="button" to="/runs" search={{ machine }}>
          Its runs
        </Link>
        <CopyMenu
          id={machine}
          call={{ path: `/v1/machines/${encodeURIComponent(machine)}/versions/${detail.version}` }}
        />
      </header>
      {detail.description === undefined ? null : <p>{detail.description}</p>}
      <div className="machine-panes">
        <div className="panel machine-chart">
          <ChartView chart={detail.chart} hash={detail.hash} lit={nothingLit} />
        </div>
        <div className="stack">
          <StartForm detail={detail} />
          <About detail={detail} />
        </div>
      </div>
      <Definition detail={detail} />
    </div>
  );
}

function Versions({ machine, shown }: { readonly machine: string; readonly shown: number }) {
  const versions = useMachines().data?.find((one) => one.machine === machine)?.versions ?? [];
  return (
    <nav className="tabs" aria-label="Versions">
      {versions.map(({ version, status }) => (
        <Link
          key={version}
          to="/machines/$machine"
          params={{ machine }}
          search={{ version }}
          aria-current={version === shown ? "page" : undefined}
        >
          {version} <span className="small">{status}</span>
        </Link>
      ))}
    </nav>
  );
}

function About({ detail }: { readonly detail: MachineDetail }) {
  return (
    <section className="panel machine-about" aria-label="About it">
      <dl className="facts">
        <dt>Version</dt>
        <dd>
          {detail.version}, {detail.status}
        </dd>
        <dt>Known since</dt>
        <dd>{time(detail.since)}</dd>
        <dt>Hash</dt>
        <dd>
          <code>{detail.hash.slice(0, 16)}</code>
        </dd>
        <dt>States</dt>
        <dd className="numbers">{detail.chart.states.length - 1}</dd>
        <dt>Events</dt>
        <dd>
          {detail.events.map(({ type }) => (
            <code key={type} className="machine-word">
              {type}
            </code>
          ))}
        </dd>
        <dt>Activities</dt>
        <dd>
          {detail.activities.map(({ activity, bound }) => (
            <code
              key={activity}
              className="machine-word"
              data-bound={bound}
              title={bound ? "its code is here" : "its code is not here"}
            >
              {activity}
            </code>
          ))}
        </dd>
      </dl>
    </section>
  );
}

function Definition({ detail }: { readonly detail: MachineDetail }) {
  const [shown, setShown] = useState<"definition" | "mermaid">("definition");
  const text = shown === "mermaid" ? detail.mermaid : JSON.stringify(detail.definition, null, 2);
  return (
    <section className="panel machine-about" aria-label="Definition">
      <div className="row">
        <div className="tabs" role="tablist" aria-label="Definition">
          {(["definition", "mermaid"] as const).map((name) => (
            <button
              key={name}
              type="button"
              role="tab"
              aria-selected={shown === name}
              onClick={() => setShown(name)}
            >
              {name === "definition" ? "Definition" : "Mermaid"}
            </button>
          ))}
        </div>
        <CopyButton text={text} what={shown} />
      </div>
      {shown === "mermaid" ? (
        <pre className="small">{detail.mermaid}</pre>
      ) : (
        <JsonTree value={detail.definition} open={2} />
      )}
    </section>
  );
}
