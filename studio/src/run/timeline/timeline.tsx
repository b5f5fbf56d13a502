/** The steps of a run in order, drawn as far as they are in sight: what happened, what it waited for before, and when. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type RefObject, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Chart, RunDetail } from "../../data/contract.ts";
import { useEntries } from "../../data/journal.ts";
import { Scroll } from "../../design/scroll.tsx";
import { plural } from "../../design/words.ts";
import type { Moment } from "../moment.ts";
import { NowRows } from "./now-rows.tsx";
import { StepRow } from "./step-row.tsx";
import { type WaitKind, waitWords } from "./wait-of.ts";
import "./timeline.css";

const rowHeight = 34;
const legend: readonly WaitKind[] = ["queue", "activity", "timer", "person", "event", "parked"];

interface TimelineProps {
  readonly moment: Moment;
  readonly chart: Chart | undefined;
  readonly detail: RunDetail | undefined;
}

/**
 * Where the pane is to be scrolled to, so that a row is in sight and the first in sight is a whole one; nowhere if it is.
 * Reckoned from what was measured before, since asking the page makes it lay itself out, at every step of a drag.
 */
function topFor(row: number, offset: number, height: number): number | undefined {
  if (row < offset) return row;
  const least = row + rowHeight - height;
  return least > offset ? Math.ceil(least / rowHeight) * rowHeight : undefined;
}

/** Paths of states that wait for a person. */
const askingOf = (chart: Chart | undefined): ReadonlySet<string> =>
  new Set(chart?.states.filter(({ tags }) => tags.includes("approval")).map(({ path }) => path));

/** How high a pane is, as it changes. */
function useHeight(box: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    if (box.current === null) return undefined;
    const sizes = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 0));
    sizes.observe(box.current);
    return () => sizes.disconnect();
  }, [box]);
  return height;
}

function useRows({ run, first, last, at, isLive, isQuick }: Moment) {
  const box = useRef<HTMLElement>(null);
  const count = last === 0 ? 0 : last - first + 1;
  const rows = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 8,
    initialOffset: Math.max(0, count * rowHeight),
  });
  const items = rows.getVirtualItems();
  const from = first + (items[0]?.index ?? 0);
  const to = first + (items.at(-1)?.index ?? 0);
  // More than what is in sight, to know where long waits began.
  const entries = useEntries(run, [isQuick ? from : from - 60, to], last);
  const height = useHeight(box);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it scrolls when the moment moves, not when rows are drawn.
  useLayoutEffect(() => {
    if (count === 0 || height === 0 || box.current === null) return;
    // The rows of what is under way come after the last step.
    const top = isLive
      ? Math.floor((box.current.scrollHeight - height) / rowHeight) * rowHeight
      : topFor((at - first) * rowHeight, rows.scrollOffset ?? 0, height);
    if (top !== undefined) box.current.scrollTop = top;
  }, [at, first, count > 0, isLive, height]);
  // With what is left of the pane below the last row, the first in sight is a whole one at the end too.
  return { box, rows, items, entries, under: Math.ceil(height % rowHeight) };
}

export function Timeline({ moment, chart, detail }: TimelineProps) {
  const { box, rows, items, entries, under } = useRows(moment);
  const asking = useMemo(() => askingOf(chart), [chart]);
  return (
    <section className="timeline" aria-label="Timeline">
      <header className="timeline-head">
        <h2>Timeline</h2>
        <span className="quiet small numbers">{plural(moment.last, "step")}</span>
        <ul className="timeline-legend push" aria-label="How waits are drawn">
          {legend.map((kind) => (
            <li key={kind}>
              <i className="bar" data-kind={kind} />
              {waitWords[kind]}
            </li>
          ))}
        </ul>
      </header>
      <Scroll ref={box} className="timeline-box" label="Steps">
        <ol style={{ height: rows.getTotalSize() }} className="timeline-rows">
          {items.map(({ index, start }) => (
            <StepRow
              key={index}
              seq={moment.first + index}
              top={start}
              entries={entries}
              asking={asking}
              isShown={moment.at === moment.first + index}
              onGo={moment.goTo}
            />
          ))}
        </ol>
        {detail === undefined || !moment.isLive ? null : <NowRows detail={detail} />}
        <div style={{ height: under }} />
      </Scroll>
    </section>
  );
}
