/** One run of the list. */
import { Link } from "@tanstack/react-router";
import type { RunSummary } from "../data/contract.ts";
import { standingOf } from "../data/runs.ts";
import { Icon } from "../design/icon.tsx";
import { Status } from "../design/status.tsx";
import { ago, count, duration, fullTime } from "../design/words.ts";

interface RunRowProps {
  readonly run: RunSummary;
  readonly top: number;
  readonly now: number;
  readonly isAt: boolean;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}

const whys = { parked: "parked", overdue: "overdue", retrying: "keeps failing" } as const;

export function RunRow({ run, top, now, isAt, isPicked, onPick }: RunRowProps) {
  return (
    <li className="run-row" style={{ transform: `translateY(${top}px)` }} data-at={isAt} data-run={run.run}>
      <input type="checkbox" checked={isPicked} onChange={onPick} aria-label={`Pick ${run.run}`} />
      <Status standing={standingOf(run)} />
      <span className="run-name">
        <Link to="/runs/$run" params={{ run: run.run }} search={{}} className="run-link">
          {run.run}
        </Link>
        {run.stuck === undefined ? null : (
          <span className="tag run-stuck" title={`since ${fullTime(run.stuck.since)}`}>
            <Icon name="clock" size={12} />
            stuck: {whys[run.stuck.why]}, {duration(Math.max(0, now - run.stuck.since))}
          </span>
        )}
        {run.fork === undefined ? null : (
          <span className="tag">
            <Icon name="fork" size={12} /> fork
          </span>
        )}
      </span>
      <span className="run-machine">
        {run.machine} <span className="quiet">{run.version}</span>
      </span>
      <span className="run-subject quiet">{run.subject === run.run ? "" : run.subject}</span>
      <span className="run-number numbers">{count(run.seq)}</span>
      <time
        className="run-number numbers quiet"
        dateTime={new Date(run.updatedAt).toISOString()}
        title={fullTime(run.updatedAt)}
      >
        {ago(run.updatedAt, now)}
      </time>
    </li>
  );
}
