/** All runs, the newest first. What is chosen stands in the link; what is new waits to be asked for, so that nothing jumps. */
import { useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { atMostEvery, useNews } from "../data/live.ts";
import { useMachines } from "../data/machines.ts";
import { lookAgain } from "../data/query-client.ts";
import { useRuns } from "../data/runs.ts";
import { Empty } from "../design/empty.tsx";
import { Icon } from "../design/icon.tsx";
import { plural } from "../design/words.ts";
import { CopyMenu } from "../shell/copy-menu.tsx";
import { Problem } from "../shell/problem.tsx";
import { BulkDialog, type BulkWish } from "./bulk-dialog.tsx";
import { Filters } from "./filters.tsx";
import { useFreshRuns } from "./fresh-runs.ts";
import { listCommands, listPath } from "./list-commands.ts";
import { RunList } from "./run-list.tsx";
import "./runs.css";

export function RunsPage() {
  const search = useSearch({ from: "/runs" });
  const list = useRuns(search);
  const runs = list.data?.pages.flatMap((page) => page.runs) ?? [];
  const fresh = useFreshRuns(search, runs);
  useFirstRuns(list.data !== undefined && runs.length === 0);
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [wish, setWish] = useState<BulkWish | undefined>(undefined);
  const showNew = async () => {
    fresh.forget();
    await list.refetch();
  };
  return (
    <div className="page runs">
      <header className="page-head">
        <h1>Runs</h1>
        {fresh.count > 0 && runs.length > 0 ? (
          <button type="button" className="runs-new" onClick={() => void showNew()}>
            {fresh.count} new
          </button>
        ) : null}
        <span className="push" />
        <BulkButtons picked={picked} onWish={setWish} />
        <CopyMenu call={{ path: listPath(search) }} commands={listCommands(search)} />
      </header>
      <Filters />
      {list.error !== null && runs.length === 0 ? (
        <Problem error={list.error} />
      ) : list.isPending ? (
        <p className="quiet">Reading…</p>
      ) : runs.length === 0 ? (
        <NoRuns isFiltered={Object.keys(search).length > 0} />
      ) : (
        <RunList
          runs={runs}
          latest={fresh.latest}
          hasMore={list.hasNextPage}
          onMore={() => void (list.isFetchingNextPage || list.fetchNextPage())}
          picked={picked}
          onPick={setPicked}
        />
      )}
      {wish === undefined ? null : (
        <BulkDialog
          wish={wish}
          search={search}
          onClose={(isDone) => {
            setWish(undefined);
            if (!isDone) return;
            setPicked(new Set());
            void list.refetch();
          }}
        />
      )}
    </div>
  );
}

/** Where nothing is shown nothing can jump: an empty list is read again with any news, and shows what it finds. */
function useFirstRuns(isEmpty: boolean): void {
  const readAgain = useMemo(
    () => atMostEvery(1_000, () => void lookAgain({ queryKey: ["runs", "list"] })),
    [],
  );
  useNews(() => {
    if (isEmpty) readAgain();
  });
}

function BulkButtons({
  picked,
  onWish,
}: {
  readonly picked: ReadonlySet<string>;
  readonly onWish: (wish: BulkWish) => void;
}) {
  const runs = picked.size === 0 ? undefined : [...picked];
  const what = runs === undefined ? "all that match" : plural(runs.length, "run");
  return (
    <>
      <button type="button" className="button" onClick={() => onWish({ action: "retry", runs })}>
        <Icon name="retry" /> Retry {what}
      </button>
      <button
        type="button"
        className="button"
        data-look="stern"
        onClick={() => onWish({ action: "cancel", runs })}
      >
        <Icon name="cancel" /> Cancel {what}
      </button>
    </>
  );
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  const machine = useMachines().data?.[0]?.machine ?? "MACHINE";
  return isFiltered ? (
    <Empty title="No run matches">Take a filter away, or wait: what matches shows up here by itself.</Empty>
  ) : (
    <Empty title="No runs yet" command={`holdfast runs start ${machine}`}>
      The first one shows up here by itself.
    </Empty>
  );
}
