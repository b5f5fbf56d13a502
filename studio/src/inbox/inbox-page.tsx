/** The inbox: what waits for a person, one after the other, decided by keyboard. Every decision has its link. */
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Decision } from "../data/contract.ts";
import { useInbox } from "../data/inbox.ts";
import { Empty } from "../design/empty.tsx";
import { Icon } from "../design/icon.tsx";
import { useNow } from "../design/tick.ts";
import { ago, duration } from "../design/words.ts";
import { useKeys } from "../shell/keys.ts";
import { Problem } from "../shell/problem.tsx";
import { DecisionCard } from "./decision-card.tsx";
import "./inbox.css";

const isSame = (one: Decision, run: string | undefined, decision: string | undefined): boolean =>
  one.run === run && (decision === undefined || one.decision === decision);

export function InboxPage() {
  const { data: decisions, error } = useInbox();
  const search = useSearch({ from: "/inbox" });
  const navigate = useNavigate({ from: "/inbox" });
  const list = decisions ?? [];
  const index = list.findIndex((one) => isSame(one, search.run, search.decision));
  const at = Math.max(0, index);
  const go = (to: Decision | undefined) =>
    void navigate({ search: to === undefined ? {} : { run: to.run, decision: to.decision }, replace: true });
  useKeys([
    { key: "j", does: "Next decision", run: () => go(list[Math.min(list.length - 1, at + 1)]) },
    { key: "k", does: "Decision before", run: () => go(list[Math.max(0, at - 1)]) },
  ]);
  const shown = list[at];
  const isGone = search.run !== undefined && index < 0 && decisions !== undefined;
  return (
    <div className="page inbox">
      <header className="page-head">
        <h1>Inbox</h1>
        <span className="quiet">{decisions === undefined ? "" : `${list.length} waiting`}</span>
        <span className="push quiet small inbox-keys">
          <kbd>j</kbd> <kbd>k</kbd> move <kbd>a</kbd> approve <kbd>e</kbd> edit <kbd>r</kbd> reject{" "}
          <kbd>w</kbd> respond
        </span>
      </header>
      {isGone ? (
        <p className="inbox-gone" role="status">
          The decision of <code>{search.run}</code> is no longer open.
        </p>
      ) : null}
      {error !== null && decisions === undefined ? (
        <Problem error={error} />
      ) : decisions === undefined ? (
        <p className="quiet">Reading…</p>
      ) : shown === undefined ? (
        <Empty title="Nothing waits for you" command="holdfast inbox list --watch">
          Decisions that runs ask for show up here by themselves.
        </Empty>
      ) : (
        <div className="inbox-panes">
          <DecisionList list={list} at={at} onGo={go} />
          <DecisionCard
            key={`${shown.run} ${shown.decision}`}
            decision={shown}
            onDecided={() => go(list[at + 1] ?? list[at - 1])}
          />
        </div>
      )}
    </div>
  );
}

interface DecisionListProps {
  readonly list: readonly Decision[];
  readonly at: number;
  readonly onGo: (decision: Decision) => void;
}

function DecisionList({ list, at, onGo }: DecisionListProps) {
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
    </ul>
  );
}
