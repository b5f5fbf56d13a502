/** Runs as pages read them. Keys begin with what was read and the run, so that news of a run find what they concern. */
import { queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { Standing } from "../design/status.tsx";
import type { ListSearch } from "../search.ts";
import { type Checkpoint, useAt } from "./at.ts";
import { client } from "./client.ts";
import type { RunSummary } from "./contract.ts";

const spans = { "15m": 15, "1h": 60, "1d": 1440, "7d": 10_080 } as const;
export const pageSize = 100;

/** `name=value` as an attribute: `true`, `false` and numbers are such, in double quotes they are text. */
function attributeOf(text: string): Record<string, string | number | boolean> {
  const [name = "", ...rest] = text.split("=");
  const value = rest.join("=");
  if (/^".*"$/.test(value)) return { [name]: value.slice(1, -1) };
  if (value === "true" || value === "false") return { [name]: value === "true" };
  return { [name]: value !== "" && Number.isFinite(Number(value)) ? Number(value) : value };
}

/** What the server is asked for, of what the page's query says. */
export function filterOf({ since, attribute, ...rest }: ListSearch) {
  // To the minute, which is as much as anybody means.
  const minute = Math.floor(Date.now() / 60_000);
  return {
    ...rest,
    ...(since === undefined ? {} : { createdFrom: (minute - spans[since]) * 60_000 }),
    ...(attribute === undefined || !attribute.includes("=") ? {} : { attributes: attributeOf(attribute) }),
  };
}

export function useRuns(search: ListSearch) {
  return useInfiniteQuery({
    // What the link says, not since when that is by the clock: a list is the same one a minute later.
    queryKey: ["runs", "list", search],
    queryFn: ({ pageParam, signal }) =>
      client.runs.list(
        { ...filterOf(search), limit: pageSize, ...(pageParam === "" ? {} : { cursor: pageParam }) },
        { signal },
      ),
    initialPageParam: "",
    getNextPageParam: ({ next }) => next,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export const useNewestRuns = () =>
  useQuery({
    queryKey: ["runs", "newest"],
    queryFn: async ({ signal }) => (await client.runs.list({ limit: 30 }, { signal })).runs,
    staleTime: 3_000,
  });

export const runOptions = (run: string) =>
  queryOptions({
    queryKey: ["run", run, "detail"],
    queryFn: ({ signal }) => client.runs.show({ run }, { signal }),
  });
export const useRun = (run: string) => useQuery(runOptions(run));

export const useState = (checkpoint: Checkpoint) =>
  useAt("state", checkpoint, (at, signal) => client.runs.state({ run: checkpoint.run, at }, { signal }));

/** How a run stands, for its shape and colour. */
export function standingOf({ status, needsPerson }: Pick<RunSummary, "status" | "needsPerson">): Standing {
  return status === "active" && needsPerson ? "person" : status;
}
