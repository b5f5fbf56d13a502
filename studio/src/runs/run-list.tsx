/** The list itself: only rows in sight are drawn, and the next page is asked for before its end is seen. */
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import type { RunSummary, StepNews } from "../data/contract.ts";
import { Scroll } from "../design/scroll.tsx";
import { useNow } from "../design/tick.ts";
import { plural } from "../design/words.ts";
import { useKeys } from "../shell/keys.ts";
import { RunRow } from "./run-row.tsx";

interface RunListProps {
  readonly runs: readonly RunSummary[];
  readonly latest: ReadonlyMap<string, StepNews>;
  readonly hasMore: boolean;
  readonly onMore: () => void;
  readonly picked: ReadonlySet<string>;
  readonly onPick: (picked: ReadonlySet<string>) => void;
}

/** A row with what news say of it. */
function withNews(run: RunSummary, news: StepNews | undefined): RunSummary {
  if (news === undefined || news.seq < run.seq) return run;
  const { status, seq, at, needsPerson } = news;
  const isStill = status === "active" || status === "parked";
  const { stuck, ...rest } = run;
  return {
    ...rest,
    status,
    seq,
    updatedAt: at,
    needsPerson,
    ...(isStill && stuck?.why === "parked" && status === "parked" ? { stuck } : {}),
  };
}

const toggled = (picked: ReadonlySet<string>, run: string): ReadonlySet<string> => {
  const next = new Set(picked);
  if (!next.delete(run)) next.add(run);
  return next;
};

export function RunList({ runs, latest, hasMore, onMore, picked, onPick }: RunListProps) {
  const box = useRef<HTMLElement>(null);
  const [at, setAt] = useState(0);
  const navigate = useNavigate();
  const now = useNow();
  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => box.current,
    estimateSize: () => 46,
    overscan: 10,
  });
  const items = rows.getVirtualItems();
  const end = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && end >= runs.length - 30) onMore();
  }, [end, runs.length, hasMore, onMore]);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(runs.length - 1, at + by));
    setAt(next);
    rows.scrollToIndex(next);
  };
  const chosen = runs[at]?.run;
  useKeys([
    { key: "j", does: "Next run", run: () => move(1) },
    { key: "k", does: "Run before", run: () => move(-1) },
    {
      key: "x",
      does: "Pick or leave the run",
      run: () => chosen !== undefined && onPick(toggled(picked, chosen)),
    },
    {
      key: "Enter",
      does: "Open the run",
      run: () =>
        chosen !== undefined && void navigate({ to: "/runs/$run", params: { run: chosen }, search: {} }),
    },
  ]);
  return (
    <section className="panel run-list" aria-label="Runs">
      <Columns />
      <Scroll ref={box} className="run-list-box" label="List of runs">
        <ul style={{ height: rows.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const run = withNews(runs[index] as RunSummary, latest.get((runs[index] as RunSummary).run));
            return (
              <RunRow
                key={run.run}
                run={run}
                top={start}
                now={now}
                isAt={index === at}
                isPicked={picked.has(run.run)}
                onPick={() => onPick(toggled(picked, run.run))}
              />
            );
          })}
        </ul>
      </Scroll>
      <footer className="run-list-foot quiet small numbers">
        {plural(runs.length, "run")} read{hasMore ? ", and there are more" : ""}
      </footer>
    </section>
  );
}

const Columns = () => (
  <div className="run-list-head" aria-hidden="true">
    <span />
    <span>Status</span>
    <span>Run</span>
    <span>Machine</span>
    <span>Subject</span>
    <span className="run-number">Step</span>
    <span className="run-number">Last step</span>
  </div>
);
