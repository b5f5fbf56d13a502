/** What a run waits for now: a row for each, growing or counting down. Attempts of one activity are one row. */
import type { RunDetail, Wait } from "../../data/contract.ts";
import { Icon, type IconName } from "../../design/icon.tsx";
import { useNow } from "../../design/tick.ts";
import { duration } from "../../design/words.ts";
import { wordsOf } from "../event-words.ts";
import { shareOf, type WaitKind } from "./wait-of.ts";

interface OpenWait {
  readonly key: string;
  readonly kind: WaitKind;
  readonly icon: IconName;
  readonly text: string;
  readonly ms: number;
  readonly length: string;
}

/** An activity that is tried again is one row, whatever the attempt. */
function openActivity(wait: Extract<Wait, { for: "activity" }>, now: number, ms: number): OpenWait {
  const { key, activity: text, attempt, attemptsMax, nextAt, status } = wait;
  const of = attemptsMax === undefined ? "" : ` of ${attemptsMax}`;
  const attempts = attempt > 1 ? ` · attempt ${attempt}${of}` : "";
  const next = nextAt !== undefined && nextAt > now ? ` · again in ${duration(nextAt - now)}` : "";
  const kind = status === "waiting" ? "queue" : "activity";
  return { key, kind, icon: "activity", text, ms, length: `${duration(ms)}${attempts}${next}` };
}

function openTimer({ key, due, event }: Extract<Wait, { for: "timer" }>, now: number): OpenWait {
  const left = due - now;
  const length = left > 0 ? `in ${duration(left)}` : `due ${duration(-left)} ago`;
  const { text } = wordsOf(event, "platform");
  return { key, kind: "timer", icon: "clock", text, ms: Math.max(0, left), length };
}

function openWait(wait: Wait, now: number, since: number): OpenWait | undefined {
  const begun = "since" in wait ? wait.since : since;
  const ms = Math.max(0, now - begun);
  const rest = { ms, length: duration(ms) };
  switch (wait.for) {
    case "timer":
      return openTimer(wait, now);
    case "activity":
      return openActivity(wait, now, ms);
    case "person":
      return { key: wait.decision, kind: "person", icon: "person", text: wait.asked, ...rest };
    case "child":
      return { key: wait.run, kind: "child", icon: "child", text: `${wait.machine} ${wait.run}`, ...rest };
    case "event":
      return { key: "event", kind: "event", icon: "event", text: wait.events.join(", "), ...rest };
    case "operator":
      return { key: "operator", kind: "parked", icon: "pause", text: "parked", ...rest };
    case "worker":
      return { key: "worker", kind: "queue", icon: "clock", text: "a worker", ...rest };
    default:
      return undefined;
  }
}

export function NowRows({ detail }: { readonly detail: RunDetail }) {
  const now = useNow();
  const waits = detail.waiting.for.flatMap((wait) => openWait(wait, now, detail.updatedAt) ?? []);
  if (waits.length === 0) return null;
  return (
    <ol className="now" aria-label="Waits now">
      {waits.map(({ key, kind, icon, text, ms, length }) => (
        <li key={key} className="step-button now-row">
          <span className="step-seq">now</span>
          <span className="step-what">
            <Icon name={icon} size={14} />
            <span className="step-type">{text}</span>
          </span>
          <span className="step-wait">
            <i
              className="bar"
              data-kind={kind}
              data-open="true"
              style={{ width: `${Math.max(2, shareOf(ms) * 70)}%` }}
            />
            <span className="step-length numbers">{length}</span>
          </span>
        </li>
      ))}
    </ol>
  );
}
