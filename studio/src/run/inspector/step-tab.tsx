/** The step that led to the moment: what it took, what came of it, and what it changed. */
import type { Patch } from "../../data/contract.ts";
import { Failure } from "../../design/failure.tsx";
import { JsonTree, pathText } from "../../design/json-tree.tsx";
import { fullTime } from "../../design/words.ts";
import { wordsOf } from "../event-words.ts";
import type { TabProps } from "./tab.ts";

const signs: Readonly<Record<Patch["op"], string>> = { set: "=", delete: "−", append: "+", splice: "~" };

function written(patch: Patch): unknown {
  if (patch.op === "set" || patch.op === "append") return patch.value;
  return patch.op === "splice" ? patch.insert : undefined;
}

/** What changed, as paths that begin at the state. */
export function Patches({ patches }: { readonly patches: readonly Patch[] }) {
  if (patches.length === 0) return <p className="quiet">Nothing changed.</p>;
  return (
    <ul className="patches">
      {patches.slice(0, 200).map((patch) => {
        const text = JSON.stringify(written(patch));
        return (
          <li key={`${patch.op} ${pathText(patch.path)} ${text?.length}`} data-op={patch.op}>
            <b>{signs[patch.op]}</b>
            <span>
              {pathText(patch.path)}{" "}
              {text === undefined ? "" : text.length > 300 ? `${text.slice(0, 280)}…` : text}
            </span>
          </li>
        );
      })}
      {patches.length > 200 ? <li>… and {patches.length - 200} more</li> : null}
    </ul>
  );
}

export function StepTab({ moment: { entry } }: TabProps) {
  if (entry === undefined) return <p className="quiet">Reading…</p>;
  const { event, outcome, error, spent, hash, at, seq, dropped, patches } = entry;
  return (
    <>
      <dl className="facts">
        <dt>Step</dt>
        <dd className="numbers">{seq}</dd>
        <dt>Event</dt>
        <dd>
          <code>{event.type}</code> <span className="quiet">{wordsOf(event.type, event.kind).text}</span>
        </dd>
        {event.by === undefined ? null : (
          <>
            <dt>By</dt>
            <dd>{event.by}</dd>
          </>
        )}
        <dt>Outcome</dt>
        <dd>{outcome}</dd>
        <dt>When</dt>
        <dd>{fullTime(at)}</dd>
        {spent?.tokens === undefined ? null : (
          <>
            <dt>Tokens</dt>
            <dd className="numbers">{spent.tokens}</dd>
          </>
        )}
        {spent?.cost === undefined ? null : (
          <>
            <dt>Cost</dt>
            <dd className="numbers">{spent.cost}</dd>
          </>
        )}
        <dt>Definition</dt>
        <dd>
          <code>{hash.slice(0, 12)}</code>
        </dd>
      </dl>
      <Failure error={error} />
      <div className="part">
        <h3>Data of the event</h3>
        {event.data === undefined ? <p className="quiet">None.</p> : <JsonTree value={event.data} open={2} />}
      </div>
      <div className="part">
        <h3>What changed</h3>
        <Patches patches={patches} />
      </div>
      {dropped === undefined ? null : (
        <div className="part">
          <h3>Events that will never be taken</h3>
          <JsonTree value={dropped} />
        </div>
      )}
    </>
  );
}
