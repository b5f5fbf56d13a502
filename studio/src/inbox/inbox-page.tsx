/**
 * The inbox: what waits for a person, one after the other, decided by keyboard. Every decision has its link, and the one that
 * is shown is the one that the link names: what comes or goes meanwhile never takes its place under somebody's fingers.
 */
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect } from "react";
import type { Decision, Verdict } from "../data/contract.ts";
import { useDecisionsOf, useInbox } from "../data/inbox.ts";
import { Empty } from "../design/empty.tsx";
import { Icon } from "../design/icon.tsx";
import { useNow } from "../design/tick.ts";
import { ago, duration } from "../design/words.ts";
import { CopyMenu } from "../shell/copy-menu.tsx";
import { useKeys } from "../shell/keys.ts";
import { Problem } from "../shell/problem.tsx";
import { DecisionCard, verdicts } from "./decision-card.tsx";
import "./inbox.css";

const isSame = (one: Decision, run: string | undefined, decision: string | undefined): boolean =>
  one.run === run && (decision === undefined || one.decision === decision);

export function InboxPage() {
  const { decisions, hasMore, readOn, error } = useInbox();
  const search = useSearch({ from: "/inbox" });
  const navigate = useNavigate({ from: "/inbox" });
  const ofRun = useDecisionsOf(search.run);
  const list = decisions ?? [];
  const isNamed = (one: Decision) => isSame(one, search.run, search.decision);
  const index = list.findIndex(isNamed);
  const shown = list[index] ?? ofRun.data?.find(isNamed);
  const go = (to: Decision | undefined) =>
    void navigate({ search: to === undefined ? {} : { run: to.run, decision: to.decision }, replace: true });
  // A link that names none, or a run only, names from now on what is shown by it.
  const named = search.run === undefined ? list[0] : search.decision === undefined ? shown : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: it goes where it is not yet, once.
  useEffect(() => {
    if (named !== undefined) go(named);
  }, [named?.run, named?.decision]);
  const at = search.run === undefined ? 0 : index;
  useEffect(() => {
    if (hasMore && at >= list.length - 20) readOn();
  }, [hasMore, at, list.length, readOn]);
  useKeys([
    { key: "j", does: "Next decision", run: () => go(list[Math.min(list.length - 1, at + 1)]) },
    { key: "k", does: "Decision before", run: () => go(list[Math.max(0, at - 1)]) },
  ]);
  const isGone =
    search.run !== undefined && shown === undefined && decisions !== undefined && ofRun.data !== undefined;
  return (
    <div className="page inbox">
      <InboxHead count={decisions?.length} hasMore={hasMore} allowed={shown?.allowed ?? []} />
      {isGone ? (
        <p className="inbox-gone" role="status">
          The decision of <code>{search.run}</code> is no longer open.
        </p>
      ) : null}
      {error !== null && decisions === undefined ? (
        <Problem error={error} />
      ) : decisions === undefined ? (
        <p className="quiet">Reading…</p>
      ) : list.length === 0 && shown === undefined ? (
        <Empty title="Nothing waits for you" command="holdfast inbox list --watch">
          Decisions that runs ask for show up here by themselves.
        </Empty>
      ) : (
        <div className="inbox-panes">
          <DecisionList list={list} at={index} onGo={go} onMore={hasMore ? readOn : undefined} />
          {shown === undefined ? null : (
            <DecisionCard
              key={`${shown.run} ${shown.decision}`}
              decision={shown}
              onDecided={() => go(list[at + 1] ?? list[at - 1])}
            />
          )}
        </div>
      )}
    </div>
  );
}

interface InboxHeadProps {
  readonly count: number | undefined;
  readonly hasMore: boolean;
  /** What the keys would decide. */
  readonly allowed: readonly Verdict[];
}

const InboxHead = ({ count, hasMore, allowed }: InboxHeadProps) => (
  <header className="page-head">
    <h1>Inbox</h1>
    <span className="quiet">
      {count === undefined ? "" : `${count} ${hasMore ? "and more " : ""}waiting`}
    </span>
    <span className="push quiet small inbox-keys">
      <kbd>j</kbd> <kbd>k</kbd> move{" "}
      {verdicts
        .filter(({ verdict }) => allowed.includes(verdict))
        .map(({ verdict, key }) => (
          <span key={verdict}>
            <kbd>{key}</kbd> {verdict}{" "}
          </span>
        ))}
    </span>
    <CopyMenu call={{ path: "/v1/inbox" }} commands={[{ parts: ["inbox", "list"] }]} />
  </header>
);

interface DecisionListProps {
  readonly list: readonly Decision[];
  readonly at: number;
  readonly onGo: (decision: Decision) => void;
  /** Reads on, where there is more. */
  readonly onMore: (() => void) | undefined;
}

function DecisionList({ list, at, onGo, onMore }: DecisionListProps) {
  const now = useNow();
  return (
    <ul className="panel inbox-list" aria-label="Decisions">
      {list.map((decision, index) => (
        <li key={`${decision.run} ${decision.decision}`}>
          <button
            type="button"
            className="inbox-row"
            aria-current={index === at}
            onClick={() => onGo(decision)}
          >
            <Icon name={decision.kind === "tool" ? "tool" : "person"} />
            <span className="inbox-asked">{decision.asked}</span>
            <span className="inbox-from">
              {decision.machine} · {ago(decision.since, now)}
            </span>
            {decision.due === undefined ? null : (
              <span className="tag">
                {decision.due > now ? `${duration(decision.due - now)} left` : "too late"}
              </span>
            )}
          </button>
        </li>
      ))}
      {onMore === undefined ? null : (
        <li>
          <button type="button" className="inbox-row" onClick={onMore}>
            <span className="inbox-asked">Read on</span>
          </button>
        </li>
      )}
    </ul>
  );
}
