/** What differs between two checkpoints: the moment, and one that is chosen; the one before unless chosen. */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { client } from "../../data/client.ts";
import { DifferenceTree } from "../../design/difference-tree.tsx";
import { Failure } from "../../design/failure.tsx";
import type { TabProps } from "./tab.ts";

export function DiffTab({ moment }: TabProps) {
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const { run, first, last, at } = moment;
  const from = Math.max(first, Math.min(search.from ?? at - 1, last));
  const { data, error } = useQuery({
    queryKey: ["diff", run, from, at],
    queryFn: ({ signal }) => client.runs.diff({ run, from, to: at }, { signal }),
    enabled: last > 0,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
    placeholderData: keepPreviousData,
  });
  const choose = (seq: number | undefined) =>
    void navigate({
      search: ({ from: _, ...rest }) => (seq === undefined ? rest : { ...rest, from: seq }),
      replace: true,
    });
  return (
    <>
      <div className="row small">
        <label className="row">
          From step
          <input
            className="field difference-from"
            type="number"
            min={first}
            max={last}
            value={from}
            onChange={({ target }) => choose(Number(target.value))}
          />
        </label>
        <span>to step {at}</span>
      </div>
      <div className="row">
        <button type="button" className="button" data-size="small" onClick={() => choose(at)}>
          Hold this one
        </button>
        <button
          type="button"
          className="button"
          data-size="small"
          data-look="plain"
          onClick={() => choose(undefined)}
        >
          The step before
        </button>
      </div>
      <Failure error={error} />
      {data === undefined ? (
        <p className="quiet">Comparing…</p>
      ) : (
        <>
          <p className="quiet small">
            {data.patches.length === 0 ? "They are alike." : `${data.patches.length} differences`}
          </p>
          <DifferenceTree before={data.before} after={data.after} />
        </>
      )}
    </>
  );
}
