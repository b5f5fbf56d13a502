/**
 * From steps to a commit. What a run takes in one turn becomes one commit: its entries, its new head, a snapshot when
 * one pays, the activities it begins and ends, and what it sends to others. Pure but for the encoding.
 */
import type { ActivityEffect, CancelEffect, Effect, SendEffect, SpawnEffect } from "../core/effect.ts";
import { type Event, settledEvent, settles, startEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { diff, type Patch } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import { type Step, start } from "../core/step.ts";
import { describeError } from "../core/work.ts";
import type { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { encode, encodeSized } from "../store/codec.ts";
import { type Entry, writeEntry } from "../store/journal.ts";
import type { ActivityRow, EntryRow, InboxRow, RunHead, SnapshotRow } from "../store/records.ts";
import type { Commit } from "../store/store.ts";
import type { Ids } from "./ids.ts";
import { type Delivery, type LiveRun, newRun } from "./live-run.ts";
import type { Registry } from "./registry.ts";
import type { Seal } from "./seal.ts";

/** One step of the turn, and the delivery that led to it. */
export interface Taken {
  readonly delivery: Delivery;
  readonly step: Step;
  readonly seq: number;
}

/** What recording a turn needs of the rest. */
export interface Recording {
  readonly seal: Seal;
  readonly ids: Ids;
  readonly registry: Registry;
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
  /** Child runs that begin with the commit. */
  readonly starts: Checkpoint[] = [];
  private readonly world: Recording;
  private readonly rows: EntryRow[] = [];
  private readonly begun = new Map<string, ActivityRow>();
  private readonly ended: string[] = [];
  private bytes = 0;
  private snapshotBytes: number | undefined;

  constructor(run: LiveRun, world: Recording) {
    this.run = run;
    this.world = world;
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
    const row = writeEntry(entry, this.head.digest, (bytes) => this.world.seal.close(bytes, this.head));
    this.rows.push(row);
    this.bytes += row.bytes.length;
    this.taken.push({ delivery, step, seq });
    const before = this.state;
    this.state = step.state;
    this.head = headAfter(this.head, row, step.state, at);
    const { event } = delivery;
    if (settles(event) && before.activities.some(({ key }) => key === event.invocation)) {
      this.end(event.invocation as string);
    }
    for (const effect of step.effects) this.keepEffect(effect, before, at);
    const { parent } = this.head;
    if (parent !== undefined && before.status === "active" && step.state.status === "done") {
      const { output } = step.state;
      this.deliver(parent.run, settledEvent(parent, output === undefined ? {} : { output }), at);
    }
  }

  private keepEffect(effect: Effect, before: State, at: number): void {
    if (effect.type === "activity") this.begin(effect, at);
    else if (effect.type === "spawn") this.startChild(effect, at);
    else if (effect.type === "send") this.keepSend(effect, before, at);
    else if (effect.type === "cancel") this.keepCancel(effect, at);
  }

  private keepCancel({ of, key }: CancelEffect, at: number): void {
    if (of === "activity") this.end(key);
    else if (of === "child") this.deliver(this.childOf(key), { type: "cancel", kind: "platform" }, at);
  }

  private begin(effect: ActivityEffect, at: number): void {
    const { key, activity } = effect;
    const bytes = this.world.seal.close(encode(effect as unknown as JsonObject), this.head);
    this.begun.set(key, { ...this.run.name, key, activity, attempt: 0, status: "waiting", dueAt: at, bytes });
  }

  /** A child begins with this commit or not at all; one that cannot begin is an error its parent hears of. */
  private startChild({ id, key, machine, input }: SpawnEffect, at: number): void {
    const { tenant, run } = this.run.name;
    const { registry } = this.world;
    try {
      const parts = { subject: this.head.subject, attributes: {}, parent: { run, key, id } };
      const child = newRun({ tenant, run: this.childOf(key) }, registry.read(machine), parts, at);
      const begun = new Checkpoint(child, this.world);
      const event = startEvent(input);
      begun.add({ event, priority: 0 }, start(child.machine.machine, input, { at, run: child.name.run }), at);
      this.starts.push(begun);
    } catch (error) {
      this.deliver(run, settledEvent({ id, key }, { error: describeError(error) }), at);
    }
  }

  private childOf(key: string): string {
    return `${this.run.name.run}/${key}`;
  }

  private keepSend({ to, event }: SendEffect, before: State, at: number): void {
    const { run } = this.run.name;
    const { parent } = this.head;
    const sent: Event = { ...event, origin: run };
    if (to === "self") this.deliver(run, sent, at);
    else if (to === "parent") {
      if (parent === undefined) return;
      this.deliver(parent.run, { ...sent, invokeId: parent.id, invocation: parent.key }, at);
    } else if ("run" in to) this.deliver(to.run, sent, at);
    else if ("child" in to) {
      // What an exit action sends may be for a child that the same step ends.
      const child = [...before.children, ...this.state.children].findLast(({ id }) => id === to.child);
      if (child !== undefined) this.deliver(this.childOf(child.key), sent, at);
    }
  }

  /** An event between runs is a row of the inbox it goes to, in the same commit: delivered once, or never asked for. */
  private deliver(run: string, event: Event, at: number): void {
    const bytes = this.world.seal.close(encode(event as unknown as JsonObject), this.head);
    const { tenant } = this.run.name;
    this.sends.push({ row: { tenant, run, id: this.world.ids.next(), priority: 0, at, bytes }, event });
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
      starts: this.starts.map((child) => child.commit(epoch)),
    };
  }

  private takeSnapshot(): SnapshotRow {
    const { digest } = this.head;
    const { bytes, size } = encodeSized({ digest, state: this.state as unknown as Json });
    this.head = { ...this.head, snapshotSeq: this.head.seq };
    this.snapshotBytes = size;
    return { seq: this.head.seq, bytes: this.world.seal.close(bytes, this.head) };
  }

  /** The commit is durable: the run is where this turn led. */
  adopt(): void {
    for (const child of this.starts) child.adopt();
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
