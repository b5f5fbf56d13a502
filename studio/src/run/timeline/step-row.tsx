/** One step: its number, what it took, what was waited for before it, and when it was. */
import { memo } from "react";
import type { JournalEntry } from "../../data/contract.ts";
import { Icon } from "../../design/icon.tsx";
import { duration, time } from "../../design/words.ts";
import { wordsOf } from "../event-words.ts";
import { shareOf, waitOf, waitWords } from "./wait-of.ts";

interface StepRowProps {
  readonly seq: number;
  readonly top: number;
  readonly entries: ReadonlyMap<number, JournalEntry>;
  readonly asking: ReadonlySet<string>;
  readonly isShown: boolean;
  readonly onGo: (seq: number) => void;
}

export const StepRow = memo(function StepRow({ seq, top, entries, asking, isShown, onGo }: StepRowProps) {
  const entry = entries.get(seq);
  return (
    <li style={{ transform: `translateY(${top}px)` }} className="step" data-seq={seq}>
      <button
        type="button"
        className="step-button"
        aria-current={isShown ? "step" : undefined}
        data-outcome={entry?.outcome}
        onClick={() => onGo(seq)}
      >
        <span className="step-seq numbers">{seq}</span>
        {entry === undefined ? (
          <span className="quiet">…</span>
        ) : (
          <>
            <What entry={entry} />
            <WaitBar entry={entry} entries={entries} asking={asking} />
            <time className="step-time numbers" dateTime={new Date(entry.at).toISOString()}>
              {time(entry.at)}
            </time>
          </>
        )}
      </button>
    </li>
  );
});

function What({ entry }: { readonly entry: JournalEntry }) {
  const { text, icon, isBad } = wordsOf(entry.event.type, entry.event.kind);
  return (
    <span className="step-what" data-bad={isBad || entry.outcome === "refused"}>
      <Icon name={icon} size={14} />
      <span className="step-type">{text}</span>
      {entry.event.by === undefined ? null : <span className="step-by">by {entry.event.by}</span>}
      {entry.outcome === "taken" ? null : <span className="tag">{entry.outcome}</span>}
      {entry.spent?.tokens === undefined ? null : <span className="tag">{entry.spent.tokens} tokens</span>}
    </span>
  );
}

function WaitBar({
  entry,
  entries,
  asking,
}: Omit<StepRowProps, "seq" | "top" | "isShown" | "onGo"> & { readonly entry: JournalEntry }) {
  const wait = waitOf(entry, entries, asking);
  if (wait === undefined) return <span />;
  const what = wait.what === undefined ? waitWords[wait.kind] : `${waitWords[wait.kind]} ${wait.what}`;
  const since = wait.from === undefined ? "" : `, since step ${wait.from}`;
  return (
    <span className="step-wait" title={`${what}: ${duration(wait.ms)}${since}`}>
      <i className="bar" data-kind={wait.kind} style={{ width: `${Math.max(2, shareOf(wait.ms) * 70)}%` }} />
      <span className="step-length numbers">
        {duration(wait.ms)}
        {wait.attempts === undefined ? "" : ` · ${wait.attempts} attempts`}
      </span>
    </span>
  );
}
