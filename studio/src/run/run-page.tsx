/** A run: why it is where it is, its chart, its timeline and what it knows, all at one moment. */
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { BoardView } from "../board/board-view.tsx";
import { ChartView } from "../chart/chart-view.tsx";
import { Conversation } from "../conversation/conversation.tsx";
import type { RunDetail } from "../data/contract.ts";
import { useMachine } from "../data/machines.ts";
import { useRun } from "../data/runs.ts";
import { Empty } from "../design/empty.tsx";
import { PlannerView } from "../plan/planner-view.tsx";
import type { RunView } from "../search.ts";
import { useKeys } from "../shell/keys.ts";
import { Problem } from "../shell/problem.tsx";
import { Inspector } from "./inspector/inspector.tsx";
import { type Moment, useLit, useMoment } from "./moment.ts";
import { RunHead, viewOf } from "./run-head.tsx";
import { Scrubber } from "./scrubber.tsx";
import { StateCard } from "./state-card.tsx";
import { Timeline } from "./timeline/timeline.tsx";
import { type Journey, TravelDialog } from "./travel/travel-dialog.tsx";
import { Why } from "./why.tsx";
import "./run.css";

export function RunPage() {
  const { run } = useParams({ from: "/runs/$run" });
  const { data: detail, error } = useRun(run);
  if (error !== null && detail === undefined)
    return (error as { readonly code?: string }).code === "RUN_UNKNOWN" ? (
      <Empty title={`There is no run “${run}”`} command="holdfast runs list">
        It may have been pruned, or belong to somebody else. <Link to="/runs">All runs</Link>
      </Empty>
    ) : (
      <Problem error={error} />
    );
  if (detail === undefined) return <p className="page quiet">Reading…</p>;
  return <Shown detail={detail} key={run} />;
}

function Shown({ detail }: { readonly detail: RunDetail }) {
  const moment = useMoment(detail.run);
  const { view } = useSearch({ from: "/runs/$run" });
  const [journey, setJourney] = useState<Journey | undefined>(undefined);
  useKeys([
    { key: "f", does: "Fork from this step", run: () => setJourney("fork") },
    { key: "b", does: "Roll back to this step", run: () => setJourney("rollback") },
  ]);
  return (
    <div className="run">
      <RunHead detail={detail} moment={moment} onTravel={setJourney} />
      <Why detail={detail} moment={moment} />
      <Scrubber moment={moment} forks={detail.forks} />
      <View
        view={view !== undefined && view === viewOf[detail.kind] ? view : undefined}
        {...{ detail, moment }}
      />
      {journey === undefined ? null : (
        <TravelDialog
          journey={journey}
          detail={detail}
          moment={moment}
          onClose={() => setJourney(undefined)}
        />
      )}
    </div>
  );
}

interface ViewProps {
  readonly view: RunView | undefined;
  readonly detail: RunDetail;
  readonly moment: Moment;
}

function View({ view, detail, moment }: ViewProps) {
  switch (view) {
    case "conversation":
      return <Conversation detail={detail} moment={moment} />;
    case "board":
      return <BoardView moment={moment} />;
    case "plan":
      return <PlannerView moment={moment} />;
    default:
      return <Panes detail={detail} moment={moment} />;
  }
}

function Panes({ detail, moment }: { readonly detail: RunDetail; readonly moment: Moment }) {
  const machine = useMachine(detail.machine, detail.version).data;
  const lit = useLit(machine?.chart, moment, detail.configuration);
  const [chosen, setChosen] = useState<string | undefined>(undefined);
  const navigate = useNavigate({ from: "/runs/$run" });
  useKeys([
    {
      key: "s",
      does: "Show the state",
      run: () => void navigate({ search: (now) => ({ ...now, tab: "state" }), replace: true }),
    },
    {
      key: "e",
      does: "Show the effects",
      run: () => void navigate({ search: (now) => ({ ...now, tab: "effects" }), replace: true }),
    },
    {
      key: "d",
      does: "Show the difference",
      run: () => void navigate({ search: (now) => ({ ...now, tab: "diff" }), replace: true }),
    },
  ]);
  return (
    <div className="run-panes">
      <div className="panel run-chart">
        {machine === undefined && !detail.loaded ? (
          <Empty title="This process does not have the code of this machine">
            Its journal and state are here all the same.
          </Empty>
        ) : (
          <ChartView
            chart={machine?.chart}
            hash={machine?.hash}
            lit={lit}
            pulse={moment.at}
            isQuick={moment.isQuick}
            chosen={chosen}
            onChoose={setChosen}
          />
        )}
        {chosen === undefined || machine === undefined ? null : (
          <StateCard
            path={chosen}
            chart={machine.chart}
            detail={detail}
            onClose={() => setChosen(undefined)}
          />
        )}
      </div>
      <div className="panel run-timeline">
        <Timeline moment={moment} chart={machine?.chart} detail={detail} />
      </div>
      <div className="panel run-inspector">
        <Inspector moment={moment} detail={detail} />
      </div>
    </div>
  );
}
