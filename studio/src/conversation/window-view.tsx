/** What the model saw when it was asked last, as a strip of all messages, and what was left out. */
import type { ConversationReport, WindowReport } from "../data/contract.ts";
import { count, plural } from "../design/words.ts";

interface WindowViewProps {
  readonly window: WindowReport;
  readonly summaries: ConversationReport["thread"]["summaries"];
}

const words = { shown: "shown", summarised: "as a summary", left: "left out" } as const;

export function WindowView({ window, summaries }: WindowViewProps) {
  const { tokens, budget, stretches, left, system } = window;
  const used = summaries.filter(({ id }) => stretches.some(({ summary }) => summary === id));
  return (
    <section className="panel talk-part" aria-label="What the model saw">
      <h2>What the model saw</h2>
      <p className="small numbers">
        {count(Math.round(tokens))} of {count(budget)} tokens
      </p>
      <progress className="plan-progress" max={budget} value={tokens} aria-label="Share of the window" />
      <div className="window-strip" aria-hidden="true">
        {stretches.map(({ how, from, messages }) => (
          <i key={from} data-how={how} style={{ flexGrow: messages }} title={`${messages} ${words[how]}`} />
        ))}
      </div>
      <ul className="small">
        {stretches.map(({ how, from, to, messages }) => (
          <li key={from} className="row">
            <i className="window-key" data-how={how} />
            {plural(messages, "message")} {words[how]}{" "}
            <span className="quiet numbers">
              {from}–{to}
            </span>
          </li>
        ))}
      </ul>
      {left.dropped + left.summarised + left.cleared.length + left.cut.length === 0 ? (
        <p className="small quiet">Nothing was left out.</p>
      ) : (
        <p className="small">
          Left out: {left.dropped} dropped, {left.summarised} summarised, {left.cleared.length} results
          cleared, {left.cut.length} cut.
        </p>
      )}
      {system === "" ? null : (
        <details className="small">
          <summary>Instructions</summary>
          <p className="window-text">{system}</p>
        </details>
      )}
      {used.map(({ id, text, from, to }) => (
        <details className="small" key={id}>
          <summary>
            Summary of {from}–{to}
          </summary>
          <p className="window-text">{text}</p>
        </details>
      ))}
    </section>
  );
}
