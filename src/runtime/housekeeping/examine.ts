/**
 * All that is stored of one run, looked at together: its journal folded again, and everything beside it compared with
 * what that leads to.
 */
import type { Json } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import { decode } from "../../store/codec.ts";
import { contentsOf, unpack } from "../../store/content.ts";
import { foldEntry, genesis, openEntry, readPatches } from "../../store/journal.ts";
import type { ActivityRow, InboxRow, RunHead, RunName, RunStatus } from "../../store/records.ts";
import type { RowKind, Stored, StoredHead } from "../../store/upkeep.ts";
import { endOfTime } from "../budget.ts";
import { fetchContents } from "../live/contents.ts";
import type { Owner } from "../seal.ts";
import { type Finding, listOf, type Premises, reasonOf, rowsOf } from "./finding.ts";
import { type Folded, fold, type Good, nothing } from "./fold.ts";
import { type Known, type OpenedSnapshot, openSnapshot, openSnapshots } from "./snapshots.ts";

/** A run as it was found. */
export interface Examined {
  readonly place: string;
  readonly name: RunName;
  readonly stored: StoredHead;
  /** Up to where its journal was pruned, as the journal tells. */
  readonly pruned: number;
  readonly problems: readonly Finding[];
  readonly folded: Folded;
  readonly snapshots: readonly OpenedSnapshot[];
  /** What can be read of what is beside the journal; the rest is among the problems, with its place. */
  readonly activities: readonly Stored<"activity">[];
  readonly inbox: readonly Stored<"inbox">[];
  readonly keys: readonly Stored<"key">[];
  /** The attributes it is listed under, for a row that cannot tell any more. */
  readonly attributes: RunHead["attributes"];
  /** The keys of activities that settle with an event that waits. */
  readonly settling: ReadonlySet<string>;
  /** What its row should say, as far as the newest good checkpoint tells. */
  readonly head: RunHead | undefined;
}

export async function examine(premises: Premises, { place, row, problem }: Stored<"run">): Promise<Examined> {
  const stored = row as StoredHead;
  const { tenant, run } = stored;
  const name = { tenant, run };
  const snapshots = await openSnapshots(premises, place, stored);
  const { snapshotSeq } = stored;
  const pruned = await prunedTo(premises, place, stored.pruned, snapshots);
  const base = await baseOf(premises, { ...stored, pruned }, snapshots);
  const journal = { run: place, owner: stored, pruned, snapshotSeq, base, snapshots };
  const folded = await fold(premises, journal);
  const beside = new Beside(premises, place, stored, folded.good);
  const [activities, inbox, keys] = await beside.look();
  const head = folded.good && headAt(stored, folded.good, snapshots);
  const problems: Omit<Finding, keyof RunName>[] = [
    ...(problem === undefined ? [] : [{ kind: "run" as const, place, problem }]),
    ...(pruned === stored.pruned
      ? []
      : [{ kind: "run" as const, place, problem: "its journal begins elsewhere" }]),
    ...(folded.last === 0 ? [{ kind: "run" as const, place, problem: "it has no entries" }] : []),
    ...snapshots.flatMap(({ stored: { place: at, row: snapshot }, problem: wrong }) =>
      wrong === undefined
        ? []
        : [{ kind: "snapshot" as const, place: at, ...(snapshot && { seq: snapshot.seq }), problem: wrong }],
    ),
    ...folded.problems,
    ...(head === undefined ? [] : differences(place, stored, head)),
    ...beside.problems,
  ];
  const listed = problem === undefined ? [] : await listOf(premises.store, "attribute", place);
  const attributes = Object.fromEntries(
    listed.flatMap(({ row: one }) => (one ? [[one.name, one.value]] : [])),
  );
  return {
    ...{ place, name, stored, pruned, folded, snapshots, activities, inbox, keys, attributes, head },
    problems: problems.map((one) => ({ ...name, ...one })),
    settling: beside.settling,
  };
}

/** Where a journal begins. If its first entry stands on nothing, or on a snapshot, the entry is believed and not the row. */
async function prunedTo(
  { store }: Premises,
  run: string,
  told: number,
  snapshots: readonly OpenedSnapshot[],
): Promise<number> {
  for await (const { row } of rowsOf(store, "entry", run)) {
    if (row === undefined || row.seq < 1) continue;
    const before = row.seq - 1;
    return before === 0 || snapshots.some(({ known }) => known?.seq === before) ? before : told;
  }
  return told;
}

/** What a run's first entry stands on: nothing, the snapshot it was pruned to, or the run it was forked from. */
async function baseOf(
  premises: Premises,
  { tenant, pruned, fork }: StoredHead,
  snapshots: readonly OpenedSnapshot[],
): Promise<Known | undefined> {
  if (pruned > 0) {
    const found = snapshots.find(({ known, stored }) => (known?.seq ?? stored.row?.seq) === pruned);
    // A journal that was made to begin anew sets the whole state with its first entry.
    return found === undefined ? { ...nothing, seq: pruned } : found.known;
  }
  if (fork === undefined) return nothing;
  const state = await stateAt(premises, { tenant, run: fork.run }, fork.seq).catch(() => undefined);
  return state === undefined ? undefined : { ...nothing, state };
}

/** The state of a run at a checkpoint, through as many forks as it takes; throws if it cannot be read. */
async function stateAt(premises: Premises, name: RunName, seq: number): Promise<Json | undefined> {
  const { store, seal } = premises;
  const [head, at] = [await store.readHead(name), await store.readAt(name, seq)];
  if (head === undefined || at === undefined) return undefined;
  const opened = at.snapshot && (await openSnapshot(premises, at.snapshot, head));
  const { fork } = head;
  const source = fork && { tenant: name.tenant, run: fork.run };
  const first = opened?.state ?? (source && (await stateAt(premises, source, fork.seq))) ?? null;
  let digest = opened?.digest ?? genesis;
  const packed = at.entries.map((row) => {
    const entry = openEntry(row, digest, { open: (bytes) => seal.open(bytes, head) }, name.run);
    digest = row.digest;
    return entry;
  });
  const texts = await fetchContents(store, seal, head, packed.flatMap(contentsOf));
  const contents = { read: (one: string) => texts.get(one), keep: () => "" };
  return foldEntry(first, { patches: packed.flatMap((one) => readPatches(one, { contents }, name.run)) });
}

/** What a run's row should say at a checkpoint; what the journal does not tell of stays as it is. */
export function headAt(stored: StoredHead, good: Good, snapshots: readonly OpenedSnapshot[]): RunHead {
  const { pruned: _pruned, wakeAt: _wakeAt, completedAt, spent, ...rest } = stored;
  const state = good.state as unknown as State;
  const isActive = state.status === "active";
  const known = snapshots.filter(({ known }) => known !== undefined && known.seq <= good.seq);
  const isWhole = good.base === 0 && stored.fork === undefined;
  const total = isWhole ? good.spent : (spent ?? good.spent);
  const ended = good.completedAt ?? completedAt;
  const head: RunHead = {
    ...rest,
    ...{ machine: state.machine, version: state.version, status: statusAt(stored.status, good, state) },
    ...{ seq: good.seq, digest: good.digest, updatedAt: good.at },
    hash: rest.hash === "" ? good.hash : rest.hash,
    snapshotSeq: known.at(-1)?.known?.seq ?? 0,
    ...(total === undefined ? {} : { spent: total }),
    ...(isActive || ended === undefined ? {} : { completedAt: ended }),
  };
  const wakeAt = Math.min(endOfTime(head), ...state.timers.map(({ due }) => due));
  return isActive && Number.isFinite(wakeAt) ? { ...head, wakeAt } : head;
}

function statusAt(told: RunStatus, { parked }: Good, state: State): RunStatus {
  if (state.status !== "active") return state.status;
  const isParked = parked ?? told === "parked";
  return isParked ? "parked" : "active";
}

const compared = ["machine", "version", "status", "snapshotSeq", "wakeAt", "completedAt"] as const;

function differences(place: string, stored: StoredHead, head: RunHead): Omit<Finding, keyof RunName>[] {
  const wrong: string[] = compared.filter((field) => stored[field] !== head[field]);
  const { tokens = 0, cost = 0 } = head.spent ?? {};
  if ((stored.spent?.tokens ?? 0) !== tokens || (stored.spent?.cost ?? 0) !== cost) wrong.push("spent");
  if (wrong.length === 0) return [];
  return [{ kind: "run", place, problem: `its journal tells otherwise of its ${wrong.join(", ")}` }];
}

/** What a run has beside its journal. */
class Beside {
  readonly problems: Omit<Finding, keyof RunName>[] = [];
  readonly settling = new Set<string>();
  readonly #premises: Premises;
  readonly #place: string;
  readonly #owner: Owner;
  readonly #good: Good | undefined;

  constructor(premises: Premises, place: string, owner: Owner, good: Good | undefined) {
    this.#premises = premises;
    this.#place = place;
    this.#owner = owner;
    this.#good = good;
  }

  async look(): Promise<[Stored<"activity">[], Stored<"inbox">[], Stored<"key">[]]> {
    const { store, seal } = this.#premises;
    const [activities, inbox] = [await this.#list("activity"), await this.#list("inbox")];
    const keys = await listOf(store, "key", this.#place);
    const events: Stored<"inbox">[] = [];
    for (const one of inbox) {
      const event = this.#open("inbox", one, (row) =>
        decode(seal.open(row.bytes, { ...this.#owner, subject: row.subject }), `event ${row.id}`),
      );
      if (event === undefined) continue;
      events.push(one);
      const { invocation } = event as { invocation?: string };
      if (invocation !== undefined) this.settling.add(invocation);
    }
    const good: Stored<"activity">[] = [];
    for (const one of activities) if (await this.#isActivity(one)) good.push(one);
    this.#checkMissing(good);
    this.#checkKeys(events, keys);
    for await (const one of rowsOf(store, "chunk", this.#place))
      this.#open("chunk", one, (row) => {
        // From the first entry on it is known which activities there were.
        if (this.#good?.base === 0 && !this.#good.asked.has(row.key))
          throw new Error(`there was no activity ${row.key}`);
        return decode(seal.open(row.bytes, this.#owner), `piece ${row.offset}`);
      });
    return [good, events, keys];
  }

  #list<Kind extends "activity" | "inbox">(kind: Kind): Promise<Stored<Kind>[]> {
    return listOf(this.#premises.store, kind, this.#place);
  }

  #add(kind: RowKind, place: string | undefined, problem: string): void {
    this.problems.push({ kind, ...(place === undefined ? {} : { place }), problem });
  }

  #open<Kind extends "inbox" | "chunk">(
    kind: Kind,
    { place, row }: Stored<Kind>,
    read: (row: NonNullable<Stored<Kind>["row"]>) => Json,
  ): Json | undefined {
    try {
      return read(row as NonNullable<Stored<Kind>["row"]>);
    } catch (error) {
      this.#add(kind, place, reasonOf(error));
      return undefined;
    }
  }

  async #isActivity({ place, row }: Stored<"activity">): Promise<boolean> {
    const { store, seal } = this.#premises;
    const { key, activity, bytes, report, status } = row as ActivityRow;
    const what = `the activity ${key}`;
    try {
      const packed = decode(seal.open(bytes, this.#owner), what);
      const texts = await fetchContents(store, seal, this.#owner, contentsOf(packed));
      const effect = unpack(packed, { read: (one) => texts.get(one) }, what) as Partial<ActivityRow>;
      if (report !== undefined) decode(seal.open(report, this.#owner), `the report of ${key}`);
      if (effect.key !== key || effect.activity !== activity) throw new Error(`${what} tells of another`);
      if (status !== "running" && status !== "waiting") throw new Error(`${what} has no status`);
      if (this.#good !== undefined && !pendingIn(this.#good).includes(key))
        throw new Error(`${what} is not under way`);
      return true;
    } catch (error) {
      this.#add("activity", place, reasonOf(error));
      return false;
    }
  }

  /** Whatever the state waits for must be there, unless its result is. A parked run may have had a result it could not take. */
  #checkMissing(good: readonly Stored<"activity">[]): void {
    if (this.#good === undefined || this.#good.parked) return;
    for (const key of pendingIn(this.#good)) {
      const isThere = good.some(({ row }) => row?.key === key) || this.settling.has(key);
      if (!isThere) this.#add("activity", undefined, `the activity ${key} is not there`);
    }
  }

  #checkKeys(inbox: readonly Stored<"inbox">[], keys: readonly Stored<"key">[]): void {
    const waiting = new Set(inbox.map(({ row }) => row?.key).filter((key) => key !== undefined));
    const seen = new Map(keys.map(({ row }) => [row?.key, row?.seq]));
    const last = this.#good?.seq ?? Number.POSITIVE_INFINITY;
    for (const { place, row } of keys) {
      const { key = "", seq } = row ?? {};
      if (seq === undefined && !waiting.has(key))
        this.#add("key", place, `nothing waits under the key ${key}`);
      if (seq !== undefined && !(seq >= 1 && seq <= last))
        this.#add("key", place, `no step took the key ${key}`);
    }
    for (const { place, row } of inbox) {
      const { key } = row as InboxRow;
      if (key !== undefined && (!seen.has(key) || seen.get(key) !== undefined))
        this.#add("inbox", place, `its key ${key} is not noted as waiting`);
    }
  }
}

/** The keys of the activities that are under way at a checkpoint. */
export function pendingIn({ state }: Known): readonly string[] {
  return ((state as Partial<State> | null)?.activities ?? []).map(({ key }) => key);
}
