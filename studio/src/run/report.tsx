/** The frame of a run's second view: what a route reports of the moment, in a wide part with a side that goes under it. */
import type { ReactNode } from "react";
import { type Checkpoint, useAt } from "../data/at.ts";
import { Failure } from "../design/failure.tsx";
import { Scroll } from "../design/scroll.tsx";
import "../design/table.css";
import "./report.css";

interface ReportProps<Report> {
  readonly what: string;
  readonly label: string;
  readonly moment: Checkpoint;
  readonly read: (at: number, signal: AbortSignal) => Promise<Report>;
  readonly main: (report: Report) => ReactNode;
  readonly side: (report: Report) => ReactNode;
}

export function Report<Told>({ what, label, moment, read, main, side }: ReportProps<Told>) {
  const { data, error } = useAt(what, moment, read);
  if (data === undefined)
    return error === null ? <p className="quiet">Reading…</p> : <Failure error={error} />;
  return (
    <Scroll className="report" label={label}>
      {main(data)}
      <div className="report-side">{side(data)}</div>
    </Scroll>
  );
}
