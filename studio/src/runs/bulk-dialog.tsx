/** Many runs at once: first what it would come to, then doing that, to those runs and no others. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../data/client.ts";
import { filterOf } from "../data/runs.ts";
import { Dialog } from "../design/dialog.tsx";
import { Failure } from "../design/failure.tsx";
import { plural } from "../design/words.ts";
import type { ListSearch } from "../search.ts";

export interface BulkWish {
  readonly action: "cancel" | "retry";
  /** Those picked; all that match the filters without. */
  readonly runs: readonly string[] | undefined;
}

interface BulkDialogProps {
  readonly wish: BulkWish;
  readonly search: ListSearch;
  readonly onClose: (isDone: boolean) => void;
}

export function BulkDialog({ wish: { action, runs }, search, onClose }: BulkDialogProps) {
  // As it was asked for: "since an hour ago" means another hour a minute later.
  const [which] = useState(() => (runs === undefined ? { filter: filterOf(search) } : { runs: [...runs] }));
  const preview = useQuery({
    queryKey: ["bulk", action, which],
    queryFn: ({ signal }) => client.runs.bulk({ action, ...which, dryRun: true }, { signal }),
    staleTime: 0,
    gcTime: 0,
  });
  const would = preview.data?.runs.filter(({ outcome }) => outcome === "would") ?? [];
  const deed = useMutation({
    mutationFn: (previewed: readonly string[]) => client.runs.bulk({ action, runs: [...previewed] }),
  });
  const verb = action === "cancel" ? "Cancel" : "Retry";
  return (
    <Dialog
      title={`${verb} runs`}
      onClose={() => onClose(deed.isSuccess)}
      foot={
        deed.isSuccess ? (
          <button type="button" className="button" onClick={() => onClose(true)}>
            Close
          </button>
        ) : (
          <>
            <button type="button" className="button" onClick={() => onClose(false)}>
              Leave them
            </button>
            <button
              type="button"
              className="button"
              data-look={action === "cancel" ? "stern" : "main"}
              disabled={would.length === 0 || deed.isPending}
              onClick={() => deed.mutate(would.map(({ run }) => run))}
            >
              {verb} {plural(would.length, "run")}
            </button>
          </>
        )
      }
    >
      <Failure error={preview.error ?? deed.error} />
      {deed.data !== undefined ? (
        <p role="status">
          {plural(deed.data.done, "run")} {action === "cancel" ? "cancelled" : "brought back"},{" "}
          {deed.data.skipped} had nothing to do, {deed.data.failed} failed.
        </p>
      ) : preview.data === undefined ? (
        <p className="quiet">Counting…</p>
      ) : (
        <div className="stack">
          <p>
            {plural(preview.data.matched, "run")} {preview.data.matched === 1 ? "matches" : "match"}
            {preview.data.isMore ? " at least" : ""}; {plural(would.length, "run")} would be{" "}
            {action === "cancel" ? "cancelled" : "brought back"}, {preview.data.skipped} have nothing to do.
          </p>
          <ul className="bulk-runs code small">
            {would.slice(0, 50).map(({ run }) => (
              <li key={run}>{run}</li>
            ))}
            {would.length > 50 ? <li>… and {would.length - 50} more</li> : null}
          </ul>
        </div>
      )}
    </Dialog>
  );
}
