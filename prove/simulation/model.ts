/**
 * What the store must hold, worked out a second time from the writes it was given: the judge's own books. Deliberately
 * plain. States are not taken from the entries' patches but stepped anew from the events, so that the two can be
 * compared.
 */
import { hash } from "node:crypto";
import type { ActivityEffect, Event, Json, JsonObject, Machine, State } from "holdfast";
import { cancel, evolve, type Outage, resume, start, step } from "holdfast";
import { settles } from "../../src/core/event.ts";
import { isControl } from "../../src/runtime/control.ts";
import type { Hold } from "../../src/runtime/housekeeping/hold.ts";
import { decode } from "../../src/store/codec.ts";
import { type Entry, foldEntry, openEntry, readEntry } from "../../src/store/journal.ts";
import type {
  ActivityRow,
  Debugging,
  EntryRow,
  InboxRow,
  RunHead,
  RunName,
  Spending,
} from "../../src/store/records.ts";
import { snapshotsKept } from "../../src/store/records.ts";
import type { Commit } from "../../src/store/store.ts";
import type { SeenDocument } from "../../src/store/upkeep.ts";
import type { Piece } from "./ledger.ts";
import { kindOf, machineOf } from "./machines/kinds.ts";
import { rewound, type Stepped, setAgain } from "./rewound.ts";

/** One step as it went into the journal, with what it should have led to. */
export interface ModelEntry extends Entry {
  readonly digest: string;
  /** The state that its patches lead to. */
  readonly folded: Json;
  readonly stepped: Stepped;
}

/** How long somebody may go without a sign of life. */
export interface Lent {
  readonly until: number;
  readonly leaseMs: number;
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
  /** The keys of all that it ever began. */
  readonly begun: Set<string>;
  /** Those that took something a user sent, by what it was. */
  readonly outside: Map<string, ModelEntry[]>;
  /** Results that it refused, by the key of their activity: they are in the journal and nowhere else. */
  readonly refused: Set<string>;
  /** Whether somebody has yet to bring it back. */
  parked: boolean;
  /** Where it stops for somebody to look at it. */
  debug: Debugging | undefined;
  /** What its activities have spent. */
  spent: Required<Spending>;
  readonly inbox: Map<string, { readonly row: InboxRow; readonly event: Event }>;
  readonly keys: Set<string>;
  readonly activities: Map<string, ActivityRow>;
  /** Who runs each of them, by the right it has. */
  readonly holders: Map<string, number>;
  /** What each activity was begun with. */
  readonly asked: Map<string, ActivityEffect>;
  /** The snapshots that the store has, the oldest first. */
  snapshots: readonly { readonly seq: number; readonly kept: boolean }[];
  /** Entries up to here are gone from the store; the books keep them. */
  pruned: number;
  /** For a fork, the run that it goes on from, be it removed since. */
  readonly source: ModelRun | undefined;
  /** The checkpoint at which each activity began, and the one at which it ended. */
  readonly begunAt: Map<string, number>;
  readonly endedAt: Map<string, number>;
  /** The streams of its activities, by their key. */
  readonly said: Map<string, Said[]>;
  /** How many pieces there were when each activity ended. */
  readonly saidAtEnd: Map<string, number>;
}

export class Model {
  readonly runs = new Map<string, ModelRun>();
  /** Events that found no run to take them, by their numbers. */
  readonly deadLetters = new Map<number, { readonly row: InboxRow; readonly event: Event }>();
  #lettersLost = 0;
  /** Those that were given up. */
  readonly discarded: { readonly event: Event }[] = [];
  /** Forks that somebody wanted with a context that is changed. */
  readonly edits: ReadonlySet<string>;
  /** The newest right that was given, and whether somebody has it. */
  epoch = 0;
  owner: string | undefined;
  /** The leases of those who share the store, by their epochs, where several do. */
  readonly members = new Map<number, Lent>();
  /** Whether several share it. */
  isShared = false;
  /** The times in which nobody was there, as the store has them, and the last sign of life of an owner. */
  outages: readonly Outage[] = [];
  aliveAt: number | undefined;
  /** Runs that were removed, by their names. */
  readonly removed = new Map<string, ModelRun>();
  /** Whether there may be rows that are still to be swept. */
  isSwept = true;
  /** What is held, as the store has it. */
  holds: readonly Hold[] = [];
  /** The version of every document, as it follows from what was written. */
  readonly #documents = new Map<string, number>();
  #documentsRemoved = 0;
  /** Where each version of each machine stands in its life, as the store has it. */
  readonly statuses = new Map<string, string>();
  /** Texts that are kept beside the journals, by their digests. */
  readonly #texts = new Map<string, string>();
  readonly contents = { read: (digest: string) => this.#texts.get(digest), keep: () => "" };

  constructor(edits: ReadonlySet<string>) {
    this.edits = edits;
  }

  /** Whether somebody else has taken the place of whoever has this right. */
  isReplaced(epoch: number): boolean {
    return this.isShared ? !this.members.has(epoch) : epoch !== this.epoch;
  }

  /** Whether what comes with this right may be written. */
  isGood(epoch: number): boolean {
    return (this.isShared || this.owner !== undefined) && !this.isReplaced(epoch);
  }

  writeDocument(tenant: string, name: string, expect: number): void {
    this.#documents.set(`${tenant} ${name}`, 1 + (expect === 0 ? this.#documentsRemoved : expect));
  }

  removeDocument(tenant: string, name: string, expect: number): void {
    this.#documents.delete(`${tenant} ${name}`);
    this.#documentsRemoved = Math.max(this.#documentsRemoved, expect);
  }

  /** Whether documents have the versions that something was decided by. */
  isAsSeen(seen: readonly SeenDocument[]): boolean {
    return seen.every(
      ({ tenant, name, version }) => (this.#documents.get(`${tenant} ${name}`) ?? 0) === version,
    );
  }

  find({ run }: Pick<RunName, "run">): ModelRun | undefined {
    return this.runs.get(run);
  }

  /** The run of a commit, as it is before it; a new one has nothing yet. */
  before({ head }: Commit): ModelRun {
    const known = this.find(head);
    if (known !== undefined) return known;
    const machine = machineOf(head);
    return {
      machine,
      entries: [],
      begun: new Set(),
      outside: new Map(),
      refused: new Set(),
      parked: false,
      debug: undefined,
      spent: { tokens: 0, cost: 0 },
      inbox: new Map(),
      keys: new Set(),
      activities: new Map(),
      holders: new Map(),
      head: { ...head, seq: 0, digest: "" },
      state: undefined as unknown as State,
      begunAt: new Map(),
      endedAt: new Map(),
      said: new Map(),
      saidAtEnd: new Map(),
      asked: new Map(),
      snapshots: [],
      pruned: 0,
      source: head.fork && this.runs.get(head.fork.run),
    };
  }

  /** What the entries of a commit say, and what they should say. */
  read(commit: Commit): ModelEntry[] {
    const run = this.before(commit);
    for (const { digest, bytes } of commit.contents)
      this.#texts.set(digest, decode(bytes, "a text") as string);
    const entries: ModelEntry[] = [];
    let digest = run.head.digest;
    let folded = (run.entries.at(-1)?.folded ?? this.#originOf(commit.head)?.folded ?? null) as Json;
    let { state } = run;
    for (const row of commit.entries) {
      const known = readBefore.get(row);
      const entry = known?.after === digest ? known.entry : this.#readAnew(row, run, digest, folded, state);
      readBefore.set(row, { after: digest, entry });
      ({ digest, folded } = entry);
      ({ state } = entry.stepped);
      entries.push(entry);
    }
    return entries;
  }

  /** The entry that a fork goes on from. */
  #originOf({ fork }: RunHead): ModelEntry | undefined {
    return fork && this.runs.get(fork.run)?.entries[fork.seq - 1];
  }

  #readAnew(row: EntryRow, run: ModelRun, after: string, before: Json, state: State | undefined): ModelEntry {
    const what = `the run ${run.head.run}`;
    const packed = openEntry(row, after, { open: (bytes) => bytes }, what);
    const entry = readEntry(packed, this, what);
    const stepped = this.#stepAnew(run, state, entry);
    return { ...entry, digest: row.digest, folded: foldEntry(before, entry), stepped };
  }

  #stepAnew(run: ModelRun, before: State | undefined, entry: Entry): Stepped {
    if (!goesBack(entry)) return stepAnew(run, before, entry);
    const data = entry.event.data as unknown as { to: number; run: string; seq: number };
    if (entry.event.type === "rollback")
      return rewound(
        before && asItStands(run, before, entry.at),
        { entries: run.entries, seq: data.to },
        entry.at,
      );
    const { entries } = run.source as ModelRun;
    const edit = this.edits.has(run.head.run) ? kindOf(run.machine.id)?.forks : undefined;
    return rewound(undefined, { entries, seq: data.seq }, entry.at, edit);
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
      run.holders.set(row.key, commit.epoch);
      run.begunAt.set(row.key, commit.head.seq);
    }
    for (const key of commit.ended) {
      run.activities.delete(key);
      run.endedAt.set(key, commit.head.seq);
      run.saidAtEnd.set(key, run.said.get(key)?.length ?? 0);
    }
    if (commit.snapshot !== undefined) noteSnapshot(run, commit.snapshot);
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

  /** The forks that stand on a run: their states, or those of their own forks, cannot be worked out without it. */
  standing({ run }: Pick<RunName, "run">): ModelRun[] {
    const lacking = (one: ModelRun, before: number): ModelRun[] =>
      [...this.runs.values()].filter(
        ({ head, source }) => source === one && (head.fork?.seq as number) < before,
      );
    const stands = (one: ModelRun): boolean => {
      const first = one.snapshots.find(({ kept }) => kept)?.seq;
      return first === undefined || lacking(one, first).some(stands);
    };
    const source = this.runs.get(run);
    return source === undefined ? [] : lacking(source, Number.POSITIVE_INFINITY).filter(stands);
  }

  remove({ run }: Pick<RunName, "run">): void {
    this.removed.set(run, this.runs.get(run) as ModelRun);
    this.runs.delete(run);
    this.isSwept = false;
  }

  prune(name: Pick<RunName, "run">, seq: number): void {
    const run = this.find(name) as ModelRun;
    run.pruned = seq;
    run.snapshots = run.snapshots
      .filter((one) => one.seq >= seq)
      .map((one) => (one.seq === seq ? { seq, kept: true } : one));
    this.isSwept = false;
  }

  /** Whether a letter that was sent again has come to a run. */
  hasArrived({ key, id }: InboxRow): boolean {
    return [...this.runs.values()].some(({ keys }) => keys.has(key ?? id));
  }

  record(row: ActivityRow, epoch: number): void {
    const run = this.find(row);
    run?.activities.set(row.key, row);
    run?.holders.set(row.key, epoch);
  }
}

/** What an entry begins, by key; a timer may be told of again, when it has moved, where nothing goes back. */
export function beginningsOf(entry: Entry): string[] {
  const keys: string[] = [];
  for (const effect of entry.effects)
    if (effect.type === "activity" || effect.type === "spawn" || (effect.type === "timer" && goesBack(entry)))
      keys.push(effect.key);
  return keys;
}

/** The newest ones are kept, and those that are to be kept for good. */
function noteSnapshot(
  run: ModelRun,
  { seq, kept = false }: { readonly seq: number; readonly kept?: boolean },
) {
  const all = [...run.snapshots, { seq, kept }];
  run.snapshots = all.filter((one, place) => one.kept || place >= all.length - snapshotsKept);
}

/** Enters one step. */
function note(run: ModelRun, entry: ModelEntry): void {
  const { event, outcome, spent } = entry;
  run.entries.push(entry);
  for (const effect of entry.effects) {
    if (effect.type === "activity") run.asked.set(effect.key, effect);
    if (effect.type === "activity" || effect.type === "spawn" || effect.type === "timer")
      run.begun.add(effect.key);
  }
  if (isOutside(event)) {
    const what = nameOf(event);
    run.outside.set(what, [...(run.outside.get(what) ?? []), entry]);
  }
  if (settles(event) && outcome === "refused") run.refused.add(event.invocation as string);
  if (isControl(event) && event.type === "park") run.parked = true;
  if (isControl(event) && (event.type === "retry" || event.type === "rollback")) run.parked = false;
  run.debug = heldAfter(run.debug, event);
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

/** Steps that were read before, each with the digest it came after: after a power cut they are entered again. */
const readBefore = new WeakMap<EntryRow, { readonly after: string; readonly entry: ModelEntry }>();

/** Whether with this entry a run goes back, or begins where another one was. */
export function goesBack({ event }: Pick<Entry, "event">): boolean {
  return isControl(event) && (event.type === "rollback" || event.type === "fork");
}

/** What a run has under way: a result that it refused, and was not given again, is in the journal and not on its way. */
function asItStands({ parked, entries }: ModelRun, state: State, at: number): State {
  const park = parked ? entries.findLast(({ event }) => event.type === "park") : undefined;
  const { refused } = (park?.event.data ?? {}) as { readonly refused?: number };
  const ended = refused === undefined ? undefined : entries[refused - 1]?.event.invocation;
  return {
    ...state,
    activities: state.activities.filter(({ key }) => key !== ended),
    // The time it was parked is an outage for the timers that go on.
    timers: park === undefined ? state.timers : state.timers.map((timer) => setAgain(timer, park.at, at)),
  };
}

function stepAnew(run: ModelRun, before: State | undefined, entry: Entry): Stepped {
  const options = { at: entry.at, run: run.head.run };
  const { event } = entry;
  if (before === undefined) return start(run.machine, event.data, options);
  const machine = machineOf(before);
  const unchanged: Stepped = { state: before, outcome: "taken", effects: [], dropped: [] };
  if (event.kind !== "platform" || event.invocation !== undefined)
    return step(machine, before, event, options);
  const { type, data } = event;
  if (type === "cancel")
    return cancel(machine, before, data === undefined ? options : { ...options, reason: data as JsonObject });
  if (type === "resume")
    return resume(machine, before, (data as unknown as { outages: Outage[] }).outages, options);
  if (type === "park" || type === "debug") return unchanged;
  if (type === "migrate") return evolved(before, (data as { readonly to: number }).to, options);
  if (type === "retry") {
    const { parkedAt } = data as { readonly parkedAt: number };
    const moved = resume(machine, before, [{ from: parkedAt, until: entry.at }], options);
    return moved.outcome === "ignored" ? unchanged : moved;
  }
  return step(machine, before, event, options);
}

/** The step to another version: with all that is pending if it can be taken along, and else without. */
function evolved(before: State, to: number, options: { readonly at: number; readonly run: string }): Stepped {
  const { migration } = kindOf(before.machine)?.later ?? {};
  for (const drop of [false, true]) {
    const moved = evolve(machineOf(before), machineOf({ ...before, version: to }), before, {
      ...{ ...options, drop, reverse: to < before.version },
      ...(migration && { migration }),
    });
    if (moved.outcome === "moved") return moved.step as Stepped;
  }
  return { state: before, outcome: "refused", effects: [], dropped: [] };
}

/** Where a run stops once an entry was taken: written anew. */
export function heldAfter(before: Debugging | undefined, event: Event): Debugging | undefined {
  const breakpoints = before?.breakpoints ?? [];
  if (isControl(event)) {
    const { debug, steps } = (event.data ?? {}) as { readonly debug?: Debugging; readonly steps?: number };
    if (event.type === "debug") return debug;
    if (event.type !== "retry" || (before === undefined && steps === undefined)) return before;
    return { breakpoints, passes: true, ...(steps === undefined ? {} : { steps }) };
  }
  if ((before?.steps ?? 0) > 1) return { breakpoints, passes: true, steps: (before?.steps as number) - 1 };
  return breakpoints.length === 0 ? undefined : { breakpoints };
}
