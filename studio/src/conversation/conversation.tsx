/** A conversation with an agent at the moment: what was said and done, beside its plan and what its model saw. */
import { useAt } from "../data/at.ts";
import { client } from "../data/client.ts";
import type { RunDetail } from "../data/contract.ts";
import { Failure } from "../design/failure.tsx";
import type { Moment } from "../run/moment.ts";
import { messagesPerPage } from "./earlier.ts";
import { Messages } from "./messages.tsx";
import { PlanView } from "./plan-view.tsx";
import { SayForm } from "./say-form.tsx";
import { Speaking } from "./speaking.tsx";
import { WindowView } from "./window-view.tsx";
import "./conversation.css";

export function Conversation({ detail, moment }: { readonly detail: RunDetail; readonly moment: Moment }) {
  const { run } = detail;
  const { data, error } = useAt("conversation", moment, (at, signal) =>
    client.runs.conversation({ run, at, limit: messagesPerPage }, { signal }),
  );
  if (data === undefined)
    return error === null ? <p className="quiet">Reading…</p> : <Failure error={error} />;
  return (
    <div className="talk">
      <section className="panel talk-main" aria-label="Conversation">
        <Messages report={data} isLive={moment.isLive}>
          {moment.isLive ? <Speaking detail={detail} seq={data.seq} /> : null}
        </Messages>
        {moment.isLive ? <SayForm detail={detail} phase={data.phase} /> : null}
      </section>
      <aside className="talk-side" aria-label="What is known of it">
        <section className="panel talk-part">
          <h2>Turn {data.turn.number}</h2>
          <dl className="facts">
            <dt>Phase</dt>
            <dd>{data.phase}</dd>
            <dt>Thoughts</dt>
            <dd className="numbers">{data.used.thoughts}</dd>
            <dt>Tokens</dt>
            <dd className="numbers">
              {data.used.input} in, {data.used.output} out
            </dd>
          </dl>
        </section>
        {data.plan === null ? null : <PlanView plan={data.plan} />}
        {data.window === null ? null : <WindowView window={data.window} summaries={data.thread.summaries} />}
      </aside>
    </div>
  );
}
