/**
 * What the store must hold, worked out a second time from the writes it was given: the judge's own books. Deliberately
 * plain. States are not taken from the entries' patches but stepped anew from the events, so that the two can be
 * compared.
 */
import { hash } from "node:crypto";
import type { Effect, Event, Json, JsonObject, Machine, Outcome, State } from "holdfast";
import { cancel, type Outage, resume, start, step } from "holdfast";
import { settles } from "../../src/core/event.ts";
import { isControl } from "../../src/runtime/control.ts";
import { decode } from "../../src/store/codec.ts";
import { type Entry, foldEntry, openEntry, readEntry } from "../../src/store/journal.ts";
import type { ActivityRow, EntryRow, InboxRow, RunHead, RunName, Spending } from "../../src/store/records.ts";
import type { Commit } from "../../src/store/store.ts";
import type { Piece } from "./ledger.ts";
import { machines } from "./machines/kinds.ts";

/** One step as it went into the journal, with what it should have led to. */
export interface ModelEntry extends Entry {
  readonly digest: string;
  /** The state that its patches lead to. */
  readonly folded: Json;
  /** The state, outcome and effects that stepping gives. */
  readonly stepped: {
    readonly state: State;
    readonly outcome: Outcome;
    readonly effects: readonly Effect[];
  };
}

/** A piece of a stream as the store has it, at its offset. */
export interface Said {
  readonly attempt: number;
  readonly piece: Piece;
}

export interface ModelRun {
  readonly machine: Machine;
  head: RunHead;
  state: State;
  readonly entries: ModelEntry[];
  /** Those that took something a user sent, by what it was. */
  readonly outside: Map<string, ModelEntry[]>;
  /** Results that it refused, by the key of their activity: they are in the journal and nowhere else. */
  readonly refused: Set<string>;
  /** Whether somebody has yet to bring it back. */
  parked: boolean;
  /** What its activities have spent. */
  spent: Required<Spending>;
  readonly inbox: Map<string, { readonly row: InboxRow; readonly event: Event }>;
  readonly keys: Set<string>;
  readonly activities: Map<string, ActivityRow>;
  /** The checkpoint at which each activity began, and the one at which it ended. */
  readonly begunAt: Map<string, number>;
  readonly endedAt: Map<string, number>;
  /** The streams of its activities, by their key. */
  readonly said: Map<string, Said[]>;
  /** How many pieces there were when each activity ended. */
  readonly saidAtEnd: Map<string, number>;
}

/** An outage that the newest owner has yet to note. */
export interface Owed {
  readonly epoch: number;
  readonly from: number;
  readonly until: number;
}

export class Model {
  readonly runs = new Map<string, ModelRun>();
  /** Events that found no run to take them, by their numbers. */
  readonly deadLetters = new Map<number, { readonly row: InboxRow; readonly event: Event }>();
  #lettersLost = 0;
  /** Those that were given up. */
  readonly discarded: { readonly event: Event }[] = [];
  /** The newest right that was given, and whether somebody has it. */
  epoch = 0;
  owner: string | undefined;
  /** The times in which nobody was there, as the store has them, and the one that is still to be noted. */
  outages: readonly Outage[] = [];
  owed: Owed | undefined;

  find({ run }: Pick<RunName, "run">): ModelRun | undefined {
    return this.runs.get(run);
  }

  /** The run of a commit, as it is before it; a new one has nothing yet. */
  before({ head }: Commit): ModelRun {
    const known = this.find(head);
    if (known !== undefined) return known;
    const machine = machines.get(head.machine) as Machine;
    return {
      machine,
      entries: [],
      outside: new Map(),
      refused: new Set(),
      parked: false,
      spent: { tokens: 0, cost: 0 },
      inbox: new Map(),
      keys: new Set(),
      activities: new Map(),
      head: { ...head, seq: 0, digest: "" },
      state: undefined as unknown as State,
      begunAt: new Map(),
      endedAt: new Map(),
      said: new Map(),
      saidAtEnd: new Map(),
    };
  }

  /** What the entries of a commit say, and what they should say. */
  read(commit: Commit): ModelEntry[] {
    const run = this.before(commit);
    const entries: ModelEntry[] = [];
    let digest = run.head.digest;
    let folded = (run.entries.at(-1)?.folded ?? null) as Json;
    let { state } = run;
    for (const row of commit.entries) {
      const known = readBefore.get(row);
      const entry =
        known?.after === digest
          ? known.entry
          : readAnew(row, digest, folded, state, run.machine, commit.head.run);
      readBefore.set(row, { after: digest, entry });
      ({ digest, folded } = entry);
      ({ state } = entry.stepped);
      entries.push(entry);
    }
    return entries;
  }

  /** Enters what was committed, and all that began with it. */
  commit(commit: Commit, entries: readonly ModelEntry[]): void {
    this.#write(commit, entries);
    this.#deliver(commit);
  }

  #write(commit: Commit, entries: readonly ModelEntry[]): void {
    const run = this.before(commit);
    this.runs.set(commit.head.run, run);
    run.head = commit.head;
    for (const entry of entries) note(run, entry);
    run.state = entries.at(-1)?.stepped.state ?? run.state;
    for (const { id } of commit.consumed) run.inbox.delete(id);
    for (const { key } of commit.keys) run.keys.add(key);
    for (const row of commit.begun) {
      run.activities.set(row.key, row);
      run.begunAt.set(row.key, commit.head.seq);
    }
    for (const key of commit.ended) {
      run.activities.delete(key);
      run.endedAt.set(key, commit.head.seq);
      run.saidAtEnd.set(key, run.said.get(key)?.length ?? 0);
    }
    if (hasEnded(run.head)) this.#bury(run);
    for (const child of commit.starts) this.#write(child, this.read(child));
  }

  /** Whatever waits for a run that ends will never be taken. */
  #bury(run: ModelRun): void {
    const inOrder = [...run.inbox.values()].sort(
      ({ row: one }, { row: other }) => other.priority - one.priority || (one.id < other.id ? -1 : 1),
    );
    for (const { row } of inOrder) {
      if (row.key !== undefined) run.keys.delete(row.key);
      this.#lose(row);
    }
    run.inbox.clear();
  }

  #lose(row: InboxRow): void {
    if (!row.expendable) this.deadLetters.set(++this.#lettersLost, { row, event: eventOf(row) });
  }

  #deliver(commit: Commit): void {
    for (const row of commit.sends) {
      const run = this.find(row);
      if (run === undefined || hasEnded(run.head)) this.#lose(row);
      else this.enqueue([row]);
    }
    for (const child of commit.starts) this.#deliver(child);
  }

  enqueue(rows: readonly InboxRow[]): void {
    for (const row of rows) {
      const run = this.find(row);
      if (run === undefined || run.inbox.has(row.id)) continue;
      if ((row.key !== undefined && run.keys.has(row.key)) || hasEnded(run.head)) continue;
      run.inbox.set(row.id, { row, event: eventOf(row) });
      if (row.key !== undefined) run.keys.add(row.key);
    }
  }

  /** Whether a letter that was sent again has come to a run. */
  hasArrived({ key, id }: InboxRow): boolean {
    return [...this.runs.values()].some(({ keys }) => keys.has(key ?? id));
  }

  record(row: ActivityRow): void {
    this.find(row)?.activities.set(row.key, row);
  }
}

/** Enters one step. */
function note(run: ModelRun, entry: ModelEntry): void {
  const { event, outcome, spent } = entry;
  run.entries.push(entry);
  if (isOutside(event)) {
    const what = nameOf(event);
    run.outside.set(what, [...(run.outside.get(what) ?? []), entry]);
  }
  if (settles(event) && outcome === "refused") run.refused.add(event.invocation as string);
  if (isControl(event) && event.type === "park") run.parked = true;
  if (isControl(event) && event.type === "retry") run.parked = false;
  if (spent !== undefined)
    run.spent = { tokens: run.spent.tokens + (spent.tokens ?? 0), cost: run.spent.cost + (spent.cost ?? 0) };
}

/** Whether an event came from a user. */
function isOutside({ kind, origin, timer, invocation }: Event): boolean {
  return kind === undefined && origin === undefined && timer === undefined && invocation === undefined;
}

/** What tells an event that a user sent from all others. */
export function nameOf({ type, data }: { readonly type: string; readonly data?: unknown }): string {
  return `${type} ${(data as { n?: number } | null | undefined)?.n}`;
}

export function hasEnded({ status }: Pick<RunHead, "status">): boolean {
  return status !== "active" && status !== "parked";
}

export function eventOf({ bytes, id }: Pick<InboxRow, "bytes" | "id">): Event {
  return decode(bytes, `event ${id}`) as unknown as Event;
}

/** The digest an entry must have, worked out without the code that made it. */
export function digestOf(previous: string, { bytes }: EntryRow): string {
  return hash("sha256", `${previous}${hash("sha256", bytes, "base64url")}`, "base64url");
}

/** Nothing in the machines is large enough to be kept as content. */
export const noContents = { read: () => undefined, keep: () => "" };

/** Steps that were read before, each with the digest it came after: after a power cut they are entered again. */
const readBefore = new WeakMap<EntryRow, { readonly after: string; readonly entry: ModelEntry }>();

function readAnew(
  row: EntryRow,
  after: string,
  before: Json,
  state: State | undefined,
  machine: Machine,
  run: string,
): ModelEntry {
  const what = `the run ${run}`;
  const packed = openEntry(row, after, { open: (bytes) => bytes }, what);
  const entry = readEntry(packed, { contents: noContents }, what);
  const stepped = stepAnew(machine, state, entry, run);
  return { ...entry, digest: row.digest, folded: foldEntry(before, entry), stepped };
}

function stepAnew(
  machine: Machine,
  before: State | undefined,
  entry: Entry,
  run: string,
): ModelEntry["stepped"] {
  const options = { at: entry.at, run };
  const { event } = entry;
  if (before === undefined) return start(machine, event.data, options);
  if (event.kind !== "platform" || event.invocation !== undefined)
    return step(machine, before, event, options);
  const { type, data } = event;
  if (type === "cancel")
    return cancel(machine, before, data === undefined ? options : { ...options, reason: data as JsonObject });
  if (type === "resume")
    return resume(machine, before, (data as unknown as { outages: Outage[] }).outages, options);
  if (type === "park") return { state: before, outcome: "taken", effects: [] };
  if (type === "retry") {
    const { parkedAt } = data as { readonly parkedAt: number };
    const moved = resume(machine, before, [{ from: parkedAt, until: entry.at }], options);
    return moved.outcome === "ignored" ? { state: before, outcome: "taken", effects: [] } : moved;
  }
  return step(machine, before, event, options);
}
