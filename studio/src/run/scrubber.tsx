/** The tide line: every checkpoint of the run from left to right, with a handle to move through time, and marks where something is. */
import { useMemo } from "react";
import type { JournalEntry } from "../data/contract.ts";
import { useEntries } from "../data/journal.ts";
import { Icon } from "../design/icon.tsx";
import { count } from "../design/words.ts";
import { useKeys } from "../shell/keys.ts";
import { wordsOf } from "./event-words.ts";
import { useHandle } from "./handle.ts";
import type { Moment } from "./moment.ts";
import "./scrubber.css";

interface Mark {
  readonly seq: number;
  readonly kind: "bad" | "person" | "travel" | "fork";
  readonly what: string;
}

function markOf({ seq, event, outcome }: JournalEntry): Mark | undefined {
  const { isBad, text } = wordsOf(event.type, event.kind);
  if (isBad || outcome === "refused") return { seq, kind: "bad", what: text };
  if (event.kind === "platform" && /^(rollback|fork|migrate)$/.test(event.type))
    return { seq, kind: "travel", what: text };
  if (/^(decide|approve|reject)$/.test(event.type)) return { seq, kind: "person", what: text };
  return undefined;
}

interface ScrubberProps {
  readonly moment: Moment;
  readonly forks: readonly { readonly run: string; readonly seq: number }[];
}

export function Scrubber({ moment, forks }: ScrubberProps) {
  const { run, first, last, isLive } = moment;
  const handle = useHandle(moment);
  const { at } = handle;
  useKeys([
    { key: "ArrowLeft", does: "One step back", run: () => handle.step(-1) },
    { key: "ArrowRight", does: "One step on", run: () => handle.step(1) },
    { key: "Home", does: "To the first step", run: () => handle.pull(first) },
    { key: "End", does: "To now", run: () => handle.pull(last) },
  ]);
  // Marks are known of the newest steps, and of those around the moment.
  const around = moment.isQuick ? 0 : 50;
  const newest = useEntries(run, [last - 199, last], last);
  const near = useEntries(run, [moment.at - around, moment.at + around], last);
  const marks = useMemo(() => {
    const all = new Map<number, Mark>();
    for (const entries of [newest, near])
      for (const entry of entries.values()) {
        const mark = markOf(entry);
        if (mark !== undefined) all.set(mark.seq, mark);
      }
    for (const { seq, run: fork } of forks) all.set(seq, { seq, kind: "fork", what: `forked to ${fork}` });
    return [...all.values()];
  }, [newest, near, forks]);
  const span = Math.max(1, last - first);
  return (
    <div className="scrubber">
      <Move label="One step back" icon="left" onMove={() => handle.step(-1)} isOff={at <= first} />
      <div className="scrubber-line">
        <div className="scrubber-marks" aria-hidden="true">
          {marks.map(({ seq, kind, what }) => (
            <i
              key={seq}
              data-kind={kind}
              title={`${seq}: ${what}`}
              style={{ left: `${((seq - first) / span) * 100}%` }}
            />
          ))}
        </div>
        <input
          type="range"
          min={first}
          max={Math.max(first, last)}
          value={at}
          // There is nowhere to pull it to before it is known how long the run is.
          disabled={last === 0}
          style={{ "--share": (at - first) / span } as React.CSSProperties}
          onChange={({ target }) => handle.pull(Number(target.value))}
          aria-label="Checkpoint"
          aria-valuetext={`Step ${at} of ${last}`}
        />
      </div>
      <Move label="One step on" icon="right" onMove={() => handle.step(1)} isOff={at >= last} />
      <output className="scrubber-at numbers">
        <b>{count(at)}</b> of {count(last)}
      </output>
      <button
        type="button"
        className="button"
        data-size="small"
        aria-pressed={isLive}
        onClick={() => handle.pull(last)}
      >
        {isLive ? "Now" : "Back to now"}
      </button>
    </div>
  );
}

interface MoveProps {
  readonly label: string;
  readonly icon: "left" | "right";
  readonly onMove: () => void;
  readonly isOff: boolean;
}

const Move = ({ label, icon, onMove, isOff }: MoveProps) => (
  <button
    type="button"
    className="button"
    data-look="plain"
    data-size="small"
    aria-label={label}
    disabled={isOff}
    onClick={onMove}
  >
    <Icon name={icon} />
  </button>
);
