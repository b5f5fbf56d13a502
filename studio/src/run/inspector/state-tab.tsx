/** The state at the moment: where it is, what it knows, what is pending. A name that is clicked tells who changed it last. */
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { client } from "../../data/client.ts";
import { useState } from "../../data/runs.ts";
import { CopyButton } from "../../design/copy.tsx";
import { Icon } from "../../design/icon.tsx";
import { JsonTree, pathText } from "../../design/json-tree.tsx";
import { time } from "../../design/words.ts";
import { wordsOf } from "../event-words.ts";
import type { Moment } from "../moment.ts";
import type { TabProps } from "./tab.ts";

/** Paths of the context that a step changed. */
function useChanged({ entry }: Moment): ReadonlySet<string> {
  return useMemo(
    () =>
      new Set(
        entry?.patches.flatMap(({ path }) => (path[0] === "context" ? [pathText(path.slice(1))] : [])) ?? [],
      ),
    [entry],
  );
}

export function StateTab({ moment }: TabProps) {
  const { path } = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const { data } = useState(moment);
  const changed = useChanged(moment);
  if (data === undefined) return <p className="quiet">Reading…</p>;
  const { state } = data;
  const pending = {
    Timers: state.timers,
    Activities: state.activities,
    "Child runs": state.children,
    "Deferred events": state.deferred,
  };
  const open = Object.entries(pending).filter(([, list]) => list.length > 0);
  const choose = (chosen: string | undefined) =>
    void navigate({
      search: ({ path: _, ...rest }) => (chosen === undefined ? rest : { ...rest, path: chosen }),
      replace: true,
    });
  return (
    <>
      {path === undefined ? null : (
        <WhoChanged path={path} moment={moment} onClose={() => choose(undefined)} />
      )}
      <div className="part">
        <h3>Configuration</h3>
        <p className="leaves">
          {state.configuration.map((leaf) => (
            <span key={leaf} className="leaf">
              {leaf}
            </span>
          ))}
        </p>
      </div>
      {state.output === undefined ? null : (
        <div className="part">
          <h3>Output</h3>
          <JsonTree value={state.output} />
        </div>
      )}
      <div className="part">
        <h3>
          Context <CopyButton text={JSON.stringify(state.context, null, 2)} what="context" />
        </h3>
        <JsonTree value={state.context} changed={changed} onChoose={choose} chosen={path} />
      </div>
      {open.map(([name, list]) => (
        <div className="part" key={name}>
          <h3>{name}</h3>
          <JsonTree value={list} open={0} />
        </div>
      ))}
    </>
  );
}

interface WhoProps {
  readonly path: string;
  readonly moment: Moment;
  readonly onClose: () => void;
}

function WhoChanged({ path, moment, onClose }: WhoProps) {
  const { data, error } = useQuery({
    queryKey: ["changed", moment.run, path, moment.last],
    queryFn: ({ signal }) => client.runs.changed({ run: moment.run, path }, { signal }),
  });
  const change = data?.change;
  return (
    <aside className="who" aria-label="Who last changed it">
      <p>
        Who last changed <code>{path}</code>?
      </p>
      {error !== null ? <p>{error.message}</p> : null}
      {data === undefined ? (
        error === null && <p className="quiet">Looking…</p>
      ) : change === undefined ? (
        <p>No step did: it is as it began.</p>
      ) : (
        <p>
          Step <b className="numbers">{change.entry.seq}</b>,{" "}
          {wordsOf(change.entry.event.type, change.entry.event.kind).text}, at {time(change.entry.at)}
          {change.run === moment.run ? "" : ` in ${change.run}`}
        </p>
      )}
      <p className="row">
        {change?.run === moment.run ? (
          <button
            type="button"
            className="button"
            data-size="small"
            onClick={() => moment.goTo(change.entry.seq)}
          >
            <Icon name="right" size={12} /> Go there
          </button>
        ) : null}
        <button type="button" className="button" data-look="plain" data-size="small" onClick={onClose}>
          Close
        </button>
      </p>
    </aside>
  );
}
