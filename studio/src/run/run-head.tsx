/** Who the run is, how it stands, whom it belongs to, and what can be done with it. */
import { Link } from "@tanstack/react-router";
import type { RunDetail } from "../data/contract.ts";
import { standingOf } from "../data/runs.ts";
import { Status } from "../design/status.tsx";
import { count } from "../design/words.ts";
import type { RunView } from "../search.ts";
import { Deeds } from "./deeds.tsx";
import type { Moment } from "./moment.ts";
import type { Journey } from "./travel/travel-dialog.tsx";

/** How a run can be looked at besides its chart, by what its machine is. */
export const viewOf: Readonly<Record<RunDetail["kind"], RunView | undefined>> = {
  machine: undefined,
  agent: "conversation",
  board: "board",
  planner: "plan",
};
const viewNames: Readonly<Record<RunView, string>> = {
  conversation: "Conversation",
  board: "Board",
  plan: "Plan",
};

interface RunHeadProps {
  readonly detail: RunDetail;
  readonly moment: Moment;
  readonly onTravel: (journey: Journey) => void;
}

export function RunHead({ detail, moment, onTravel }: RunHeadProps) {
  const { run, machine, version } = detail;
  const view = viewOf[detail.kind];
  return (
    <header className="run-head">
      <h1>{run}</h1>
      <Status standing={standingOf(detail)} />
      <span className="run-kin">
        <Link to="/machines/$machine" params={{ machine }} search={{ version }}>
          {machine} {version}
        </Link>
        {detail.newerVersion === undefined ? null : (
          <span className="tag">version {detail.newerVersion} exists</span>
        )}
        <Kin detail={detail} />
        {detail.spent?.tokens === undefined ? null : (
          <span className="numbers">{count(detail.spent.tokens)} tokens</span>
        )}
      </span>
      {view === undefined ? null : <Views run={run} view={view} />}
      <span className="push" />
      <Deeds detail={detail} moment={moment} onTravel={onTravel} />
    </header>
  );
}

/** Runs it is related to. */
function Kin({ detail: { parent, fork, children } }: { readonly detail: RunDetail }) {
  return (
    <>
      {parent === undefined ? null : (
        <span>
          child of{" "}
          <Link to="/runs/$run" params={{ run: parent.run }} search={{}}>
            {parent.run}
          </Link>
        </span>
      )}
      {fork === undefined ? null : (
        <span>
          fork of{" "}
          <Link to="/runs/$run" params={{ run: fork.run }} search={{ at: fork.seq }}>
            {fork.run} at {fork.seq}
          </Link>
        </span>
      )}
      {children.slice(0, 4).map((child) => (
        <Link key={child.run} to="/runs/$run" params={{ run: child.run }} search={{}}>
          {child.id}
        </Link>
      ))}
    </>
  );
}

function Views({ run, view }: { readonly run: string; readonly view: RunView }) {
  const shared = { to: "/runs/$run", params: { run }, replace: true } as const;
  const exact = { includeSearch: true, exact: false };
  return (
    <nav className="tabs" aria-label="Views">
      <Link {...shared} search={({ view: _, ...rest }) => rest} activeOptions={{ ...exact, exact: true }}>
        Chart
      </Link>
      <Link {...shared} search={(before) => ({ ...before, view })} activeOptions={exact}>
        {viewNames[view]}
      </Link>
    </nav>
  );
}
