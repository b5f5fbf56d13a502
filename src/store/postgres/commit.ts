/** Commits as the parameters of one call of the database's `commit`, and its answer as outcomes. */
import { sourceOf } from "../commit.ts";
import { isSameRun, type KnownRun, type KnownRuns } from "../known.ts";
import { type ActivityRow, type EntryRow, type InboxRow, isFinal, type RunHead } from "../records.ts";
import { aboutOf } from "../rows.ts";
import type { Commit, CommitOutcome } from "../store.ts";
import type { Appended } from "./append.ts";
import { placeOf } from "./find.ts";
import { Pieces } from "./pieces.ts";

/** What the database answers. Items and roots are numbered from one. */
export interface CommitAnswer {
  readonly refused: readonly Refusal[] | null;
  /** The numbers of all items' runs, if one of them was not known before. */
  readonly ids: readonly number[] | null;
}

interface Refusal {
  readonly root: number;
  readonly outcome: "fenced" | "conflict" | "duplicate";
  readonly item: number;
  readonly seq: number | null;
  readonly key: string | null;
  readonly epoch: number;
}

/** One commit of a call, or one that begins with it. */
interface Item {
  readonly commit: Commit;
  readonly root: number;
  readonly epoch: number;
  /** What is known of the run at the checkpoint the commit was made from. */
  readonly known: KnownRun | undefined;
}

export class Batch {
  readonly #items: Item[] = [];
  readonly #known: KnownRuns;
  readonly #roots: number[] = [];

  constructor(commits: readonly Commit[], known: KnownRuns) {
    this.#known = known;
    for (const commit of commits) {
      const root = this.#items.length + 1;
      this.#roots.push(root);
      this.#add(commit, root, commit.epoch);
    }
  }

  /** A commit and all that begins with it, however deep. */
  #add(commit: Commit, root: number, epoch: number): void {
    const found = this.#known.read(commit.head);
    const known = found !== undefined && found.seq === commit.expect ? found : undefined;
    this.#items.push({ commit, root, epoch, known });
    for (const start of commit.starts) this.#add(start, root, epoch);
  }

  /** The entries, if they are all there is to write and the runs are known. */
  appended(): Appended | undefined {
    const [{ epoch }] = this.#items as [Item, ...Item[]];
    const runs: KnownRun[] = [];
    const ids: number[] = [];
    const entries: EntryRow[] = [];
    for (const item of this.#items) {
      if (item.epoch !== epoch || !isPlain(item)) return undefined;
      runs.push(item.known);
      for (const entry of item.commit.entries) {
        ids.push(item.known.id);
        entries.push(entry);
      }
    }
    return { epoch, runs, ids, entries };
  }

  /** The parameters after the first, in the order of the function. */
  parameters(): unknown[] {
    const pieces = new Pieces();
    const items = this.#items;
    const entries = items.flatMap(({ commit }, index) =>
      commit.entries.map((entry) => ({ ...entry, item: index + 1, piece: pieces.add(entry.bytes) })),
    );
    const beside = besideOf(items, pieces);
    return [
      items.map(({ root }) => root),
      items.map(({ known }) => known?.id ?? 0),
      items.map(({ commit }) => commit.expect),
      items.map(({ epoch }) => epoch),
      entries.map(({ item }) => item),
      entries.map(({ seq }) => seq),
      entries.map(({ at }) => at),
      entries.map(({ digest }) => digest),
      entries.map(({ piece }) => piece.offset),
      entries.map(({ piece }) => piece.size),
      beside === undefined ? null : JSON.stringify(beside),
      pieces.all(),
    ];
  }

  /** The outcomes of the commits, in their order; what was committed is remembered. */
  outcomes({ refused, ids }: CommitAnswer): CommitOutcome[] {
    const refusals = refused === null ? undefined : new Map(refused.map((one) => [one.root, one]));
    for (let index = 0; index < this.#items.length; index++) {
      const { commit, root, known } = this.#items[index] as Item;
      const { head } = commit;
      if (refusals?.has(root)) {
        if (known !== undefined) this.#known.drop(head);
        continue;
      }
      if (known !== undefined && isSameRun(known.head, head)) known.seq = head.seq;
      else this.#known.keep(known?.id ?? (ids?.[index] as number), head);
    }
    return this.#roots.map((root) => this.#outcomeOf(refusals?.get(root)));
  }

  #outcomeOf(refusal: Refusal | undefined): CommitOutcome {
    if (refusal === undefined) return { outcome: "committed" };
    const { outcome, epoch, item, seq, key } = refusal;
    if (outcome === "fenced") return { outcome, epoch };
    if (outcome === "duplicate") return { outcome, key: key as string };
    return { outcome, run: (this.#items[item - 1] as Item).commit.head.run, seq: seq ?? 0 };
  }
}

/** Whether a commit only adds entries to a run that is known and has not ended. */
function isPlain(item: Item): item is Item & { readonly known: KnownRun } {
  const { known, commit } = item;
  const { head, snapshot, contents, consumed, keys, begun, ended, sends } = commit;
  return (
    known !== undefined &&
    snapshot === undefined &&
    contents.length + consumed.length + keys.length + begun.length + ended.length + sends.length === 0 &&
    !isFinal(head) &&
    isSameRun(known.head, head)
  );
}

/** The rows of a batch by kind, each with the number of its item; kinds that have none are left out. */
function besideOf(items: readonly Item[], pieces: Pieces): object | undefined {
  const rows: Record<string, object[]> = {};
  const add = (kind: string, row: object): void => {
    rows[kind] ??= [];
    rows[kind].push(row);
  };
  for (const [index, { commit, known }] of items.entries()) {
    const item = index + 1;
    const { head, snapshot, contents, consumed, keys, begun, ended, sends } = commit;
    const { tenant, subject } = head;
    if (known === undefined || !isSameRun(known.head, head)) add("heads", { item, ...headRow(head) });
    if (snapshot !== undefined) {
      const { seq, kept, bytes } = snapshot;
      add("snapshots", { item, seq, kept, ...pieces.add(bytes) });
    }
    const source = sourceOf(commit);
    if (source !== undefined) add("forks", { item, ...source });
    for (const { digest, bytes } of contents)
      add("contents", { item, tenant, subject, digest, ...pieces.add(bytes) });
    for (const taken of consumed) add("consumed", { item, ...taken });
    for (const key of keys) add("keys", { item, ...key });
    for (const row of begun)
      add("begun", { item, open: head.status === "active", ...activityRow(row, pieces) });
    for (const key of ended) add("ended", { item, key });
    for (const row of sends) add("sends", { item, ...eventRow(row, pieces) });
  }
  return Object.keys(rows).length === 0 ? undefined : rows;
}

function headRow(head: RunHead): object {
  const { tenant, run, subject, machine, status, createdAt, wakeAt, snapshotSeq } = head;
  return {
    ...{ tenant, run, subject, machine, status },
    ...{ created_at: createdAt, wake_at: wakeAt ?? null, snapshot_seq: snapshotSeq, about: aboutOf(head) },
    places: Object.entries(head.attributes).map(([name, value]) => placeOf(tenant, name, value)),
  };
}

/** An event as the database's `deliver` takes it. */
export function eventRow(row: InboxRow, pieces: Pieces): object {
  const { tenant, run, id, subject, key, expendable = false, priority, at, bytes } = row;
  return { tenant, run, id, subject, key, expendable, priority, at, ...pieces.add(bytes) };
}

/** An activity's row, its bytes and its report apart. */
export function activityRow(row: ActivityRow, pieces: Pieces): object {
  const { tenant, run, key, activity, attempt, status, dueAt, bytes, report } = row;
  const place = report === undefined ? undefined : pieces.add(report);
  return {
    ...{ tenant, run, key, activity, attempt, status, due_at: dueAt, ...pieces.add(bytes) },
    ...(place === undefined ? {} : { report_offset: place.offset, report_size: place.size }),
  };
}
