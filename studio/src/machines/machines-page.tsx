/** All machines: what there is to run, in which versions. */
import { Link } from "@tanstack/react-router";
import type { MachineSummary } from "../data/contract.ts";
import { useMachines } from "../data/machines.ts";
import { Empty } from "../design/empty.tsx";
import { Icon, type IconName } from "../design/icon.tsx";
import { CopyMenu } from "../shell/copy-menu.tsx";
import { Problem } from "../shell/problem.tsx";
import "./machines.css";

const icons: Readonly<Record<MachineSummary["kind"], IconName>> = {
  machine: "machines",
  agent: "chat",
  planner: "check",
  board: "dashboard",
};

export function MachinesPage() {
  const { data: machines, error } = useMachines();
  return (
    <div className="page">
      <header className="page-head">
        <h1>Machines</h1>
        <span className="push" />
        <CopyMenu call={{ path: "/v1/machines" }} commands={[{ parts: ["machines", "list"] }]} />
      </header>
      {machines === undefined ? (
        error === null ? (
          <p className="quiet">Reading…</p>
        ) : (
          <Problem error={error} />
        )
      ) : machines.length === 0 ? (
        <Empty title="No machines" command="holdfast init">
          A server has the machines of the module it was given.
        </Empty>
      ) : (
        <ul className="machine-cards">
          {machines.map((machine) => (
            <MachineCard key={machine.machine} summary={machine} />
          ))}
        </ul>
      )}
    </div>
  );
}

function MachineCard({
  summary: { machine, kind, newest, versions, description },
}: {
  readonly summary: MachineSummary;
}) {
  return (
    <li className="panel machine-card">
      <Icon name={icons[kind]} size={20} />
      <h2>
        <Link to="/machines/$machine" params={{ machine }} search={{}}>
          {machine}
        </Link>
      </h2>
      {description === undefined ? null : <p className="small">{description}</p>}
      <p className="row">
        <span className="tag">{kind}</span>
        <span className="tag">version {newest}</span>
        {versions.length > 1 ? <span className="tag">{versions.length} versions</span> : null}
        {versions.every(({ loaded }) => !loaded) ? <span className="tag">code is elsewhere</span> : null}
      </p>
      <Link className="small" to="/runs" search={{ machine }}>
        Its runs
      </Link>
    </li>
  );
}
