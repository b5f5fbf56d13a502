/**
 * What the store must hold, worked out a second time from the writes it was given: the judge's own books. Deliberately
 * plain. States are not taken from the entries' patches but stepped anew from the events, so that the two can be
 * compared.
 */
import { createHash } from "node:crypto";
import type { Effect, Event, Json, Machine, Outcome, State } from "holdfast";
import { cancel, start, step } from "holdfast";
import { decode } from "../../src/store/codec.ts";
import { type Entry, foldEntry, readEntry } from "../../src/store/journal.ts";
import type { ActivityRow, EntryRow, InboxRow, RunHead, RunName } from "../../src/store/records.ts";
import type { Commit } from "../../src/store/store.ts";
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

export interface ModelRun {
  readonly machine: Machine;
  head: RunHead;
  state: State;
  readonly entries: ModelEntry[];
  readonly inbox: Map<string, { readonly row: InboxRow; readonly event: Event }>;
  readonly keys: Set<string>;
  readonly activities: Map<string, ActivityRow>;
  /** The checkpoint at which each activity began, and the one at which it ended. */
  readonly begunAt: Map<string, number>;
  readonly endedAt: Map<string, number>;
}

export class Model {
  readonly runs = new Map<string, ModelRun>();
  /** The newest right that was given, and whether somebody has it. */
  epoch = 0;
  owner: string | undefined;

  find({ run }: Pick<RunName, "run">): ModelRun | undefined {
    return this.runs.get(run);
  }

  /** The run of a commit, as it is before it; a new one has nothing yet. */
  before({ head }: Commit): ModelRun {
    const known = this.find(head);
    if (known !== undefined) return known;
    const machine = machines.get(head.machine) as Machine;
    const nothing = { entries: [], inbox: new Map(), keys: new Set<string>(), activities: new Map() };
    return {
      ...nothing,
      machine,
      head: { ...head, seq: 0, digest: "" },
      state: undefined as unknown as State,
      begunAt: new Map(),
      endedAt: new Map(),
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
      const entry = readEntry(row, digest, (bytes) => bytes, `the run ${commit.head.run}`);
      digest = row.digest;
      folded = foldEntry(folded, entry);
      const stepped = stepAnew(run.machine, state, entry, commit.head.run);
      state = stepped.state;
      entries.push({ ...entry, digest, folded, stepped });
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
    run.entries.push(...entries);
    run.state = entries.at(-1)?.stepped.state ?? run.state;
    for (const id of commit.consumed) run.inbox.delete(id);
    for (const key of commit.keys) run.keys.add(key);
    for (const row of commit.begun) {
      run.activities.set(row.key, row);
      run.begunAt.set(row.key, commit.head.seq);
    }
    for (const key of commit.ended) {
      run.activities.delete(key);
      run.endedAt.set(key, commit.head.seq);
    }
    for (const child of commit.starts) this.#write(child, this.read(child));
  }

  #deliver(commit: Commit): void {
    this.enqueue(commit.sends);
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

  record(row: ActivityRow): void {
    this.find(row)?.activities.set(row.key, row);
  }
}

export function hasEnded({ status }: Pick<RunHead, "status">): boolean {
  return status !== "active" && status !== "parked";
}

export function eventOf({ bytes, id }: Pick<InboxRow, "bytes" | "id">): Event {
  return decode(bytes, `event ${id}`) as unknown as Event;
}

/** The digest an entry must have, worked out without the code that made it. */
export function digestOf(previous: string, { bytes }: EntryRow): string {
  const own = createHash("sha256").update(bytes).digest("base64url");
  return createHash("sha256").update(previous).update(own).digest("base64url");
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
  if (event.type === "cancel" && event.kind === "platform") return cancel(machine, before, options);
  return step(machine, before, event, options);
}
