/**
 * From steps to a commit. What a run takes in one turn becomes one commit: its entries, its new head, a snapshot when
 * one pays, the activities it begins and ends, and what it sends to others. Pure but for the encoding.
 */
import type { Effect, SendEffect } from "../core/effect.ts";
import { type Event, settles } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { diff, type Patch } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import type { Step } from "../core/step.ts";
import type { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { encode, encodeSized } from "../store/codec.ts";
import { type Entry, writeEntry } from "../store/journal.ts";
import type { ActivityRow, EntryRow, InboxRow, RunHead, SnapshotRow } from "../store/records.ts";
import type { Commit } from "../store/store.ts";
import type { Ids } from "./ids.ts";
import type { Delivery, LiveRun } from "./live-run.ts";
import type { Seal } from "./seal.ts";

/** One step of the turn, and the delivery that led to it. */
export interface Taken {
  readonly delivery: Delivery;
  readonly step: Step;
  readonly seq: number;
}

/** A run's turn before it is committed. */
export class Checkpoint {
  readonly run: LiveRun;
  readonly taken: Taken[] = [];
  /** Deliveries whose key was taken before: answered once it is sure that the first one is durable. */
  readonly repeats: Delivery[] = [];
  head: RunHead;
  state: State;
  /** Events for this or other runs that go out with the commit. */
  readonly sends: { readonly row: InboxRow; readonly event: Event }[] = [];
  private readonly seal: Seal;
  private readonly ids: Ids;
  private readonly rows: EntryRow[] = [];
  private readonly begun = new Map<string, ActivityRow>();
  private readonly ended: string[] = [];
  private bytes = 0;
  private snapshotBytes: number | undefined;

  constructor(run: LiveRun, seal: Seal, ids: Ids) {
    this.run = run;
    this.seal = seal;
    this.ids = ids;
    this.head = run.head;
    this.state = run.state;
  }

  /** Adds a step the run took. */
  add(delivery: Delivery, step: Step, at: number): void {
    const seq = this.head.seq + 1;
    const patches = step.state === this.state ? [] : differences(this.state, step.state);
    const entry: Entry = {
      seq,
      at,
      hash: this.run.machine.hash,
      event: delivery.event,
      outcome: step.outcome,
      patches,
      effects: step.effects,
      ...(step.error === undefined ? {} : { error: errorJson(step.error) }),
    };
    const row = writeEntry(entry, this.head.digest, (bytes) => this.seal.close(bytes, this.head));
    this.rows.push(row);
    this.bytes += row.bytes.length;
    this.taken.push({ delivery, step, seq });
    this.state = step.state;
    this.head = headAfter(this.head, row, step.state, at);
    const { event } = delivery;
    if (event.invocation !== undefined && settles(event)) this.end(event.invocation);
    for (const effect of step.effects) this.keepEffect(effect, at);
  }

  private keepEffect(effect: Effect, at: number): void {
    if (effect.type === "activity") {
      const bytes = this.seal.close(encode(effect as unknown as JsonObject), this.head);
      const { tenant, run } = this.run.name;
      this.begun.set(effect.key, {
        tenant,
        run,
        key: effect.key,
        activity: effect.activity,
        attempt: 0,
        status: "waiting",
        dueAt: at,
        bytes,
      });
    } else if (effect.type === "cancel" && effect.of === "activity") this.end(effect.key);
    else if (effect.type === "send") this.keepSend(effect, at);
  }

  /** A send between runs is a row of the inbox it goes to, in the same commit: delivered once, or never asked for. */
  private keepSend({ to, event }: SendEffect, at: number): void {
    const { tenant, run } = this.run.name;
    const target =
      to === "self" ? run : to === "parent" ? this.head.parent?.run : "run" in to ? to.run : undefined;
    if (target === undefined) return;
    const { parent } = this.head;
    const sent: Event = {
      ...event,
      origin: run,
      ...(to === "parent" && parent !== undefined ? { invokeId: parent.id, invocation: parent.key } : {}),
    };
    const bytes = this.seal.close(encode(sent as unknown as JsonObject), this.head);
    this.sends.push({
      row: { tenant, run: target, id: this.ids.next(), priority: 0, at, bytes },
      event: sent,
    });
  }

  /** An activity is no longer pending: it settled, or was cancelled. One begun in this turn never was. */
  end(key: string): void {
    if (!this.begun.delete(key)) this.ended.push(key);
  }

  commit(epoch: number): Commit {
    const { head, snapshotBytes, entryBytes } = this.run;
    const pays = entryBytes + this.bytes > Math.max(snapshotBytes, limits.snapshotAfterBytesMin);
    const snapshot = pays ? this.takeSnapshot() : undefined;
    const deliveries = this.taken.map(({ delivery }) => delivery);
    return {
      expect: head.seq,
      epoch,
      head: this.head,
      entries: this.rows,
      snapshot,
      contents: [],
      consumed: deliveries.flatMap(({ row }) => row ?? []),
      keys: deliveries.flatMap(({ row, key }) => (row === undefined ? (key ?? []) : [])),
      begun: [...this.begun.values()],
      ended: this.ended,
      sends: this.sends.map(({ row }) => row),
      starts: [],
    };
  }

  private takeSnapshot(): SnapshotRow {
    const { digest } = this.head;
    const { bytes, size } = encodeSized({ digest, state: this.state as unknown as Json });
    this.head = { ...this.head, snapshotSeq: this.head.seq };
    this.snapshotBytes = size;
    return { seq: this.head.seq, bytes: this.seal.close(bytes, this.head) };
  }

  /** The commit is durable: the run is where this turn led. */
  adopt(): void {
    const { run } = this;
    run.head = this.head;
    run.state = this.state;
    run.snapshotBytes = this.snapshotBytes ?? run.snapshotBytes;
    run.entryBytes = this.snapshotBytes === undefined ? run.entryBytes + this.bytes : 0;
  }
}

/** The first entry of a run sets its whole state, so that the journal alone can rebuild it. */
function differences(before: State, after: State): Patch[] {
  if (before.seq === 0) return [{ op: "set", path: [], value: after as unknown as Json }];
  return diff(before as unknown as Json, after as unknown as Json);
}

function headAfter(head: RunHead, { seq, digest }: EntryRow, state: State, at: number): RunHead {
  const { wakeAt: _wakeAt, ...rest } = head;
  const wakeAt = state.timers.reduce((soonest, { due }) => Math.min(soonest, due), Number.POSITIVE_INFINITY);
  return {
    ...rest,
    seq,
    digest,
    status: state.status,
    updatedAt: at,
    ...(state.status === "active" ? {} : { completedAt: at }),
    ...(Number.isFinite(wakeAt) ? { wakeAt } : {}),
  };
}

function errorJson(error: HoldfastError): JsonObject {
  return { name: error.name, code: error.code, message: error.message };
}
