/** How it goes: what is done and how fast, what waits and for how long, what fails, who works. */
import { Link } from "@tanstack/react-router";
import type { Overview } from "../data/contract.ts";
import { bytes, count, duration, rate } from "../design/words.ts";
import { CopyMenu } from "../shell/copy-menu.tsx";
import { Problem } from "../shell/problem.tsx";
import { Failures } from "./failures.tsx";
import { Plots } from "./plots.tsx";
import { secondsOf, useOverview } from "./samples.ts";
import { Workers } from "./workers.tsx";
import "../design/table.css";
import "./dashboard.css";

export function DashboardPage() {
  const { overview, samples, error } = useOverview();
  if (overview === undefined)
    return error === null ? <p className="page quiet">Reading…</p> : <Problem error={error} />;
  return (
    <div className="page">
      <header className="page-head">
        <h1>Dashboard</h1>
        <span className="quiet small">
          counted by this process for {duration(overview.at - overview.since)}
        </span>
        <span className="push" />
        <CopyMenu call={{ path: "/v1/overview" }} />
      </header>
      <Figures overview={overview} />
      <Plots overview={overview} samples={samples} />
      <Failures failures={overview.failures} />
      {overview.server === undefined ? null : <Workers workers={overview.server.workers} />}
    </div>
  );
}

function Figures({ overview }: { readonly overview: Overview }) {
  const { throughput, queue, timerLagMs, runs, server } = overview;
  const recent = throughput.buckets.slice(-6);
  const steps = recent.reduce((sum, bucket) => sum + bucket.steps, 0);
  const seconds = recent.reduce((sum, bucket) => sum + secondsOf(bucket, overview), 0);
  const more = runs.isMore ? "+" : "";
  return (
    <div className="figures-box">
      <dl className={server === undefined ? "figures" : "figures with-server"}>
        <Figure name="Steps a second" value={rate(steps / Math.max(1, seconds))} more="in the last minute" />
        <Figure
          name="Runs that are due"
          value={`${count(queue.due)}${queue.isMore ? "+" : ""}`}
          more={queue.oldestMs === 0 ? "none waits" : `oldest ${duration(queue.oldestMs)}`}
        />
        <Figure name="Timer lag" value={duration(timerLagMs)} more="worst of 5 minutes" />
        <Figure
          name="Wait for a person"
          value={`${count(runs.needPerson)}${more}`}
          more={
            <Link to="/inbox" search={{}}>
              Inbox
            </Link>
          }
        />
        <Figure
          name="Parked"
          value={`${count(runs.parked)}${more}`}
          more={
            <Link to="/runs" search={{ status: "parked" }}>
              Show
            </Link>
          }
        />
        <Figure name="Dead letters" value={count(runs.deadLetters)} more="events nobody took" />
        {server === undefined ? null : (
          <>
            <Figure
              name={`Store: ${server.store.kind}`}
              value={server.store.bytes === undefined ? "–" : bytes(server.store.bytes)}
              more={server.store.bytes === undefined ? "size not known" : "on disk, with its log"}
            />
            <Figure name="Streams" value={count(server.streams)} more="open now" />
          </>
        )}
      </dl>
    </div>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly more: React.ReactNode;
}

const Figure = ({ name, value, more }: FigureProps) => (
  <div className="panel figure">
    <dt>{name}</dt>
    <dd className="figure-value numbers">{value}</dd>
    <dd className="quiet small">{more}</dd>
  </div>
);
