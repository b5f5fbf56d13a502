/**
 * A turn of a run: from steps to a commit. What it takes in one turn becomes one commit: its entries, its new head, a snapshot when
 * one pays, the activities it begins and ends, and what it sends to others. Pure but for the encoding.
 */
import { describeError } from "../core/describe-error.ts";
import { cancelEvent, type Event, settles, startEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { diff, type Patch } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import type { Step } from "../core/step.ts";
import { limits } from "../limits.ts";
import { encodeSized } from "../store/codec.ts";
import { pack } from "../store/content.ts";
import { type Entry, writeEntry } from "../store/journal.ts";
import type { EntryRow, RunHead, RunStatus, SnapshotRow } from "../store/records.ts";
import type { Commit } from "../store/store.ts";
import { checkAttributes } from "./attributes.ts";
import { addSpending, endOfTime, exhausted } from "./budget.ts";
import { isControl, parkEvent, parkReason, returnOf, wantsSnapshot } from "./control.ts";
import { debugAfter, stopAfter, stopBefore } from "./debug.ts";
import { FreshContents } from "./live/contents.ts";
import type { Delivery, LiveRun } from "./live/live-run.ts";
import type { Saved } from "./live/past.ts";
import { Outbox, type OutboxMark, type OutboxWorld } from "./outbox.ts";
import type { Profiler } from "./profile/profiler.ts";
import type { BoundMachine } from "./registry.ts";
import type { Seal } from "./seal.ts";
import { takeStep } from "./take-step.ts";

/** One step of the turn, and the delivery that led to it; what follows from a step by itself has none. */
export interface Taken {
  readonly delivery: Delivery | undefined;
  readonly event: Event;
  readonly step: Step;
  readonly seq: number;
  readonly at: number;
}

/** What recording a turn needs of the rest. */
export interface Recording extends OutboxWorld {
  readonly seal: Seal;
  readonly profiler?: Profiler | undefined;
}

/** How far a turn had got. */
interface TurnMark {
  readonly now: Pick<Turn, "head" | "state" | "machine" | "forced" | "reason">;
  readonly bytes: number;
  readonly taken: number;
  readonly rows: number;
  readonly contents: number;
  readonly outbox: OutboxMark;
}

/** A run's turn before it is committed. */
export class Turn {
  readonly run: LiveRun;
  readonly taken: Taken[] = [];
  /** Deliveries whose key another one of this turn has: answered as that one. */
  readonly repeats: Delivery[] = [];
  /** Deliveries that wait in the inbox from this commit on, each with its row. */
  readonly aside: { readonly delivery: Delivery; readonly row: string }[] = [];
  head: RunHead;
  state: State;
  /** The definition it runs by after this turn. */
  machine: BoundMachine;
  /** What goes out with the commit. */
  readonly outbox: Outbox<Turn>;
  /** Whether something waits for this commit: an effect, an end, or somebody who wants to know. */
  forced = false;
  /** Of how many of its steps the policy was asked: those are not worth a commit. */
  asked = 0;
  /** Why the run is parked. */
  reason: JsonObject | undefined;
  /** Whether the run was parked and comes back with this turn. */
  get returns(): boolean {
    return this.#before === "parked" && this.head.status === "active";
  }
  /** Whether the run is parked with this turn. */
  get parks(): boolean {
    return this.#before === "active" && this.head.status === "parked";
  }
  /** About what it adds to a commit. */
  get bytes(): number {
    return this.#bytes + this.#contents.bytes + (this.#snapshotBytes ?? 0);
  }
  readonly #world: Recording;
  readonly #before: RunStatus;
  readonly #contents: FreshContents;
  readonly #rows: EntryRow[] = [];
  #keys: Set<string> | undefined;
  #bytes = 0;
  #snapshotBytes: number | undefined;
  /** Whether its snapshot is kept for good. */
  #keeps = false;

  constructor(run: LiveRun, world: Recording) {
    this.run = run;
    this.head = run.head;
    this.state = run.state;
    this.machine = run.machine;
    this.#world = world;
    this.#before = run.head.status;
    this.#contents = new FreshContents(run, world.seal, world.profiler?.contents);
    this.outbox = new Outbox(run.name, world, this.#contents, (...child) => begin(world, ...child));
  }

  /** Takes a delivery: steps, and records the step and what follows from it. Throws if it cannot, and changes nothing. */
  take(delivery: Delivery, at: number): void {
    const { key, row } = delivery;
    // A row that was read and brought at the same time is one event.
    if (row !== undefined && this.taken.some((one) => one.delivery?.row === row)) return;
    if (key !== undefined && this.#keys?.has(key)) {
      this.repeats.push(delivery);
      return;
    }
    // Somebody else brought the run back in the same moment; it may even be parked again, for another reason.
    const back = returnOf(delivery.event);
    if (back !== undefined && (this.head.status !== "parked" || back.parked !== this.head.seq)) {
      delivery.handled?.({ seq: this.head.seq, outcome: "ignored", error: undefined });
      return;
    }
    const mark = this.#mark();
    try {
      this.#record(delivery, at);
    } catch (error) {
      this.#restore(mark);
      throw error;
    }
    if (key !== undefined) this.#keys = (this.#keys ?? new Set()).add(key);
  }

  /** Whether an event that was not taken, since the run is parked now, waits in its inbox from this commit on. */
  putAside(delivery: Delivery, at: number): boolean {
    const { event, key, priority } = delivery;
    if (delivery.aside === undefined || delivery.row !== undefined) return false;
    if (key !== undefined && this.#keys?.has(key)) this.repeats.push(delivery);
    else {
      const parts = { priority, ...(key !== undefined && { key }) };
      this.aside.push({ delivery, row: this.outbox.send(this.head, this.head.run, event, at, parts) });
    }
    return true;
  }

  /** Parks the run before it takes an event, if it has a breakpoint there; says whether it did. */
  stopsBefore({ event }: Delivery, at: number): boolean {
    const reason = stopBefore(this.head, event);
    if (reason !== undefined) this.#end(parkEvent(reason), at);
    return reason !== undefined;
  }

  #record(delivery: Delivery, at: number): void {
    const { head, state } = this;
    const { step, event } = delivery.take?.(state, at, head) ?? {
      step: takeStep(this, state, delivery.event, at, head.run),
      event: delivery.event,
    };
    this.#add(event, step, at, delivery);
    const ends = step.state.status !== "active";
    const isAwaited = delivery.row === undefined || delivery.isAwaited?.() === true;
    if (isAwaited || step.effects.length > 0 || ends) this.forced = true;
    if (step.outcome === "refused" && settles(event)) this.#park(step, at);
    const reason = this.head.status === "active" ? exhausted(this.head, at) : undefined;
    if (reason !== undefined) this.#end(cancelEvent(reason), at);
    const stop = this.head.status === "active" ? stopAfter(head, event, state, step.state) : undefined;
    if (stop !== undefined) this.#end(parkEvent(stop), at);
  }

  /** Where the turn is now: it goes back there should a delivery fail half-way, as when an effect is too large to keep. */
  #mark(): TurnMark {
    const { head, state, machine, forced, reason } = this;
    return {
      now: { head, state, machine, forced, reason },
      bytes: this.#bytes,
      taken: this.taken.length,
      rows: this.#rows.length,
      contents: this.#contents.rows.length,
      outbox: this.outbox.mark(),
    };
  }

  #restore({ now, bytes, taken, rows, contents, outbox }: TurnMark): void {
    Object.assign(this, now);
    this.#bytes = bytes;
    this.taken.length = taken;
    this.#rows.length = rows;
    this.#contents.restore(contents);
    this.outbox.restore(outbox);
  }

  /** A result that the machine refuses would be lost: the run waits for a person, and the journal has the result. */
  #park({ error }: Step, at: number): void {
    this.#end(parkEvent(describeError(error), this.head.seq), at);
  }

  #end(event: Event, at: number): void {
    this.#add(event, takeStep(this, this.state, event, at, this.head.run), at, undefined);
    this.forced = true;
  }

  #add(event: Event, step: Step, at: number, delivery: Delivery | undefined): void {
    const seq = this.head.seq + 1;
    const { outcome, effects, error, dropped } = step;
    const spent = delivery?.spent;
    const patches = step.state === this.state ? [] : differences(this.state, step.state);
    const { hash } = this.machine;
    let entry: Entry = { seq, at, hash, event, outcome, patches, effects };
    if (error !== undefined) entry = { ...entry, error: describeError(error) };
    if (dropped.length > 0) entry = { ...entry, dropped };
    if (spent !== undefined) entry = { ...entry, spent };
    const row = writeEntry(entry, this.head.digest, this.#contents);
    this.#rows.push(row);
    this.#bytes += row.bytes.length;
    this.taken.push({ delivery, event, step, seq, at });
    const before = this.state;
    this.state = step.state;
    this.reason = parkReason(event);
    if (step.state.version !== this.machine.machine.version) this.#changeMachine();
    this.head = this.#headAfter(row, event);
    if (spent !== undefined) this.head = { ...this.head, spent: addSpending(this.head.spent, spent) };
    if (settles(event) && before.activities.some(({ key }) => key === event.invocation))
      this.outbox.endActivity(event.invocation as string);
    for (const effect of effects) this.outbox.keep(effect, this.head, { before, after: this.state }, at);
    const again = returnOf(event)?.result;
    if (again !== undefined) this.outbox.send(this.head, this.head.run, again, at);
    if (before.status === "active" && step.state.status !== "active")
      this.outbox.tellParent(this.head, step.state, event, at);
  }

  /** The step led to a state of another version: the run goes on by that. */
  #changeMachine(): void {
    this.machine = this.#world.registry.read(this.state.machine, this.state.version);
    this.head = { ...this.head, version: this.state.version, hash: this.machine.hash };
  }

  #headAfter({ seq, digest, at }: EntryRow, event: Event): RunHead {
    const { state, head } = this;
    const status = statusAfter(head.status, event, state);
    const isActive = state.status === "active";
    const attributes = this.#attributesAfter(state, event);
    let wakeAt = endOfTime(head);
    for (const { due } of state.timers) if (due < wakeAt) wakeAt = due;
    const debug = debugAfter(head, event);
    const isIdle = head.wakeAt === undefined && wakeAt === Number.POSITIVE_INFINITY;
    const after = { ...head, seq, digest, status, updatedAt: at };
    if (isActive && isIdle && attributes === undefined && debug === head.debug) return after;
    const { wakeAt: _wakeAt, debug: _debug, ...rest } = after;
    return {
      ...rest,
      ...(debug === undefined ? undefined : { debug }),
      ...(isActive ? undefined : { completedAt: at }),
      ...(isActive && Number.isFinite(wakeAt) ? { wakeAt } : undefined),
      ...(attributes === undefined ? undefined : { attributes: { ...head.attributes, ...attributes } }),
    };
  }

  /**
   * The values to find the run by from now on, unless they are what they were. Where they cannot be made, a run can still be
   * parked, brought back or ended.
   */
  #attributesAfter(state: State, event: Event): RunHead["attributes"] | undefined {
    try {
      const attributes = this.machine.attributes?.(state);
      if (attributes === undefined || isPartOf(attributes, this.head.attributes)) return undefined;
      checkAttributes(attributes);
      return attributes;
    } catch (error) {
      if (isControl(event) && event.type !== "start") return undefined;
      throw error;
    }
  }

  commit(epoch: number): Commit {
    const { head, snapshotBytes, entryBytes } = this.run;
    const worth = Math.max(snapshotBytes / limits.entryWeight, limits.snapshotAfterBytesMin);
    const pays = entryBytes + this.#bytes > worth || this.taken.some(({ event }) => wantsSnapshot(event));
    const snapshot = pays ? this.#takeSnapshot() : undefined;
    const consumed: { id: string; seq: number }[] = [];
    const keys: { key: string; seq: number }[] = [];
    for (const { delivery, seq } of this.taken) {
      if (delivery?.row !== undefined) consumed.push({ id: delivery.row, seq });
      else if (delivery?.key !== undefined) keys.push({ key: delivery.key, seq });
    }
    // Field by field, as a head is: spreads would cost as much as the step.
    return {
      expect: head.seq,
      epoch,
      head: this.head,
      entries: this.#rows,
      snapshot,
      contents: this.#contents.rows,
      consumed,
      keys,
      begun: Array.from(this.outbox.begun.values(), ({ row }) => row),
      ended: this.outbox.ended,
      sends: this.outbox.sends,
      starts: this.outbox.starts.map((child) => child.commit(epoch)),
    };
  }

  #takeSnapshot(): SnapshotRow {
    const { seq, digest } = this.head;
    const since = this.run.keptBytes + this.#bytes;
    const saved: Saved = { digest, since, state: pack(this.state as unknown as Json, this.#contents) };
    const { bytes, size } = encodeSized(saved as unknown as JsonObject);
    this.head = { ...this.head, snapshotSeq: seq };
    this.#snapshotBytes = size;
    this.#keeps = since >= Math.max(limits.keptWeight * size, limits.keptAfterBytesMin);
    return { seq, bytes: this.#contents.close(bytes), ...(this.#keeps && { kept: true }) };
  }

  /** The commit is durable: the run is where this turn led. */
  adopt(): void {
    for (const child of this.outbox.starts) child.adopt();
    const { run } = this;
    run.head = this.head;
    run.state = this.state;
    run.machine = this.machine;
    run.snapshotBytes = this.#snapshotBytes ?? run.snapshotBytes;
    run.keptBytes = this.#keeps ? 0 : run.keptBytes + this.#bytes;
    run.entryBytes = this.#snapshotBytes === undefined ? run.entryBytes + this.#bytes : 0;
    const { digests } = this.#contents;
    if (digests === undefined) return;
    run.contents ??= new Map();
    for (const [text, digest] of digests) run.contents.set(text, digest);
  }
}

/** The turn with which a run begins; throws if it cannot. */
function begin(world: Recording, run: LiveRun, input: Json | undefined, at: number): Turn {
  const begun = new Turn(run, world);
  begun.take({ event: startEvent(input), priority: 0, failed: () => {} }, at);
  return begun;
}

/** The first entry of a run sets its whole state, so that the journal alone can rebuild it. */
function differences(before: State, after: State): Patch[] {
  if (before.seq === 0) return [{ op: "set", path: [], value: after as unknown as Json }];
  return diff(before as unknown as Json, after as unknown as Json);
}

/** Whether all of these values are among those. */
function isPartOf(some: RunHead["attributes"], all: RunHead["attributes"]): boolean {
  for (const name in some) if (!Object.hasOwn(all, name) || all[name] !== some[name]) return false;
  return true;
}

/** A parked run stays so until it is brought back or ends. */
function statusAfter(before: RunStatus, { type, kind }: Event, state: State): RunStatus {
  if (state.status !== "active") return state.status;
  if (kind === "platform" && type === "park") return "parked";
  if (kind === "platform" && (type === "retry" || type === "rollback")) return "active";
  return before;
}
