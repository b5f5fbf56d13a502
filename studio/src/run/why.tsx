/** One line that answers why the run is where it is; or, of the past, which moment is shown. */
import { Link } from "@tanstack/react-router";
import type { RunDetail, Wait } from "../data/contract.ts";
import { Icon, type IconName } from "../design/icon.tsx";
import { useNow } from "../design/tick.ts";
import { duration, fullTime } from "../design/words.ts";
import type { Moment } from "./moment.ts";
import "./why.css";

const icons: Readonly<Record<Wait["for"], IconName>> = {
  timer: "clock",
  event: "event",
  person: "person",
  activity: "activity",
  child: "child",
  operator: "pause",
  worker: "clock",
  nothing: "check",
};

/** What can be done about it, as a link. */
function Way({ wait, run }: { readonly wait: Wait; readonly run: string }) {
  if (wait.for === "person")
    return (
      <Link
        className="button"
        data-look="main"
        data-size="small"
        to="/inbox"
        search={{ run, decision: wait.decision }}
      >
        Decide
      </Link>
    );
  if (wait.for === "child")
    return (
      <Link className="button" data-size="small" to="/runs/$run" params={{ run: wait.run }} search={{}}>
        Open the child
      </Link>
    );
  return null;
}

function Countdown({ wait }: { readonly wait: Wait }) {
  const now = useNow();
  if (wait.for !== "timer" || wait.due <= now) return null;
  return <span className="why-more numbers">in {duration(wait.due - now)}</span>;
}

export function Why({ detail, moment }: { readonly detail: RunDetail; readonly moment: Moment }) {
  const { isLive, entry, at, last, goTo } = moment;
  if (!isLive)
    return (
      <p className="why" data-for="past" role="status">
        <Icon name="back" />
        <span>
          As it was at step {at} of {last}
          {entry === undefined ? "" : `, ${fullTime(entry.at)}`}
        </span>
        <button type="button" className="button push" data-size="small" onClick={() => goTo(undefined)}>
          Back to now
        </button>
      </p>
    );
  const [wait] = detail.waiting.for;
  return (
    <p className="why" data-for={wait?.for ?? "nothing"} data-status={detail.status} role="status">
      <Icon name={icons[wait?.for ?? "nothing"]} />
      <span className="why-line">{detail.waiting.line}</span>
      {wait === undefined ? null : (
        <>
          <Countdown wait={wait} />
          <span className="push" />
          <Way wait={wait} run={detail.run} />
        </>
      )}
    </p>
  );
}
