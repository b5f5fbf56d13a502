/**
 * From steps to a commit. What a run takes in one turn becomes one commit: its entries, its new head, a snapshot when
 * one pays, the activities it begins and ends, and what it sends to others. Pure but for the encoding.
 */
import { describeError } from "../core/describe-error.ts";
import type { ActivityEffect, CancelEffect, Effect, SendEffect, SpawnEffect } from "../core/effect.ts";
import {
  cancelEvent,
  communicationErrorType,
  compensationName,
  type Event,
  settledEvent,
  settles,
  startEvent,
} from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { diff, type Patch } from "../core/patch.ts";
import type { State } from "../core/state.ts";
import type { Step } from "../core/step.ts";
import { limits } from "../limits.ts";
import { encode, encodeSized } from "../store/codec.ts";
import { pack } from "../store/content.ts";
import { type Entry, writeEntry } from "../store/journal.ts";
import type { ActivityRow, EntryRow, InboxRow, RunHead, RunStatus, SnapshotRow } from "../store/records.ts";
import type { Commit } from "../store/store.ts";
import { checkAttributes } from "./attributes.ts";
import { addSpending, endOfTime, exhausted, limitsOf } from "./budget.ts";
import { FreshContents } from "./contents.ts";
import { cancelChildEvent, isControl, parkEvent, parkReason, returnOf } from "./control.ts";
import type { Ids } from "./ids.ts";
import { type Delivery, type LiveRun, newRun } from "./live-run.ts";
import { checkName } from "./name.ts";
import type { Saved } from "./past.ts";
import type { Registry } from "./registry.ts";
import type { Seal } from "./seal.ts";
import { takeStep } from "./take-step.ts";

/** One step of the turn, and the delivery that led to it; what follows from a step by itself has none. */
export interface Taken {
  readonly delivery: Delivery | undefined;
  readonly step: Step;
  readonly seq: number;
}

/** An activity that begins with the commit. */
export interface Begun {
  readonly row: ActivityRow;
  readonly effect: ActivityEffect;
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
  /** Deliveries whose key another one of this turn has: answered as that one. */
  readonly repeats: Delivery[] = [];
  head: RunHead;
  state: State;
  /** Events for this or other runs that go out with the commit. */
  readonly sends: { readonly row: InboxRow; readonly event: Event }[] = [];
  /** Child runs that begin with the commit. */
  readonly starts: Checkpoint[] = [];
  readonly begun = new Map<string, Begun>();
  /** Whether something waits for this commit: an effect, an end, or somebody who wants to know. */
  forced = false;
  /** Why the run is parked. */
  reason: JsonObject | undefined;
  /** Whether the run was parked and comes back with this turn. */
  get returns(): boolean {
    return this.#before === "parked" && this.head.status === "active";
  }
  readonly #world: Recording;
  readonly #before: RunStatus;
  readonly #contents: FreshContents;
  readonly #rows: EntryRow[] = [];
  readonly #ended: string[] = [];
  #keys: Set<string> | undefined;
  #bytes = 0;
  #snapshotBytes: number | undefined;

  constructor(run: LiveRun, world: Recording) {
    this.run = run;
    this.head = run.head;
    this.state = run.state;
    this.#before = run.head.status;
    this.#world = world;
    this.#contents = new FreshContents(run, world.seal);
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
    const undo = this.#mark();
    try {
      this.#record(delivery, at);
    } catch (error) {
      undo();
      throw error;
    }
    if (key !== undefined) this.#keys = (this.#keys ?? new Set()).add(key);
  }

  #record(delivery: Delivery, at: number): void {
    const step = takeStep(this.run, this.state, delivery.event, at);
    this.#add(delivery.event, step, at, delivery);
    const ends = step.state.status !== "active";
    const isAwaited = delivery.row === undefined || delivery.isAwaited?.() === true;
    if (isAwaited || step.effects.length > 0 || ends) this.forced = true;
    if (step.outcome === "refused" && settles(delivery.event)) this.#park(step, at);
    const reason = this.head.status === "active" ? exhausted(this.head, at) : undefined;
    if (reason !== undefined) this.#end(cancelEvent(reason), at);
  }

  /** How to go back to where the turn is now, should a delivery fail half-way, as when an effect is too large to keep. */
  #mark(): () => void {
    const { head, state, forced, reason } = this;
    const bytes = this.#bytes;
    const begun = [...this.begun];
    const lists: unknown[][] = [this.taken, this.sends, this.starts, this.#rows, this.#ended];
    const lengths = lists.map(({ length }) => length);
    return () => {
      Object.assign(this, { head, state, forced, reason });
      this.#bytes = bytes;
      lists.forEach((list, index) => void list.splice(lengths[index] as number));
      this.begun.clear();
      for (const [key, one] of begun) this.begun.set(key, one);
    };
  }

  /** A result that the machine refuses would be lost: the run waits for a person, and the journal has the result. */
  #park({ error }: Step, at: number): void {
    this.#end(parkEvent(describeError(error), this.head.seq), at);
  }

  #end(event: Event, at: number): void {
    this.#add(event, takeStep(this.run, this.state, event, at), at, undefined);
    this.forced = true;
  }

  #add(event: Event, step: Step, at: number, delivery: Delivery | undefined): void {
    const seq = this.head.seq + 1;
    const { outcome, effects, error, dropped } = step;
    const spent = delivery?.spent;
    const patches = step.state === this.state ? [] : differences(this.state, step.state);
    const { hash } = this.run.machine;
    let entry: Entry = { seq, at, hash, event, outcome, patches, effects };
    if (error !== undefined) entry = { ...entry, error: describeError(error) };
    if (dropped.length > 0) entry = { ...entry, dropped };
    if (spent !== undefined) entry = { ...entry, spent };
    const row = writeEntry(entry, this.head.digest, this.#contents);
    this.#rows.push(row);
    this.#bytes += row.bytes.length;
    this.taken.push({ delivery, step, seq });
    const before = this.state;
    this.state = step.state;
    this.reason = parkReason(event);
    this.head = this.#headAfter(row, event);
    if (spent !== undefined) this.head = { ...this.head, spent: addSpending(this.head.spent, spent) };
    if (settles(event) && before.activities.some(({ key }) => key === event.invocation))
      this.#endActivity(event.invocation as string);
    for (const effect of effects) this.#keepEffect(effect, before, at);
    const again = returnOf(event)?.result;
    if (again !== undefined) this.#deliver(this.head.run, again, at, false);
    if (before.status === "active" && step.state.status !== "active") this.#tellParent(event, at);
  }

  #headAfter({ seq, digest, at }: EntryRow, event: Event): RunHead {
    const { state, head } = this;
    const status = statusAfter(head.status, event, state);
    const isActive = state.status === "active";
    const attributes = this.#attributesAfter(state, event);
    let wakeAt = endOfTime(head);
    for (const { due } of state.timers) if (due < wakeAt) wakeAt = due;
    const isIdle = head.wakeAt === undefined && wakeAt === Number.POSITIVE_INFINITY;
    const after = { ...head, seq, digest, status, updatedAt: at };
    if (isActive && isIdle && attributes === undefined) return after;
    const { wakeAt: _wakeAt, ...rest } = after;
    return {
      ...rest,
      ...(isActive ? undefined : { completedAt: at }),
      ...(isActive && Number.isFinite(wakeAt) ? { wakeAt } : undefined),
      ...(attributes === undefined ? undefined : { attributes: { ...head.attributes, ...attributes } }),
    };
  }

  /** The values to find the run by now. Where they cannot be made, a run can still be parked, brought back or ended. */
  #attributesAfter(state: State, event: Event): RunHead["attributes"] | undefined {
    try {
      const attributes = this.run.machine.attributes?.(state);
      if (attributes !== undefined) checkAttributes(attributes);
      return attributes;
    } catch (error) {
      if (isControl(event) && event.type !== "start") return undefined;
      throw error;
    }
  }

  #tellParent({ origin }: Event, at: number): void {
    const { parent } = this.head;
    const { status, output, reason } = this.state;
    // Whoever cancelled it does not wait for its end.
    if (parent === undefined || (status === "cancelled" && origin === parent.run)) return;
    const error = reason ?? { name: "Cancelled", message: `The run ${this.head.run} was cancelled` };
    const result = status !== "done" ? { error } : output === undefined ? {} : { output };
    this.#deliver(parent.run, settledEvent(parent, result), at, true);
  }

  #keepEffect(effect: Effect, before: State, at: number): void {
    if (effect.type === "activity") this.#begin(effect, at);
    else if (effect.type === "spawn") this.#startChild(effect, at);
    else if (effect.type === "send") this.#keepSend(effect, before, at);
    else if (effect.type === "cancel") this.#keepCancel(effect, at);
  }

  #keepCancel({ of, key }: CancelEffect, at: number): void {
    if (of === "activity") this.#endActivity(key);
    else if (of === "child") this.#deliver(this.#childOf(key), cancelChildEvent(this.head.run), at, true);
  }

  #begin(effect: ActivityEffect, at: number): void {
    const { key, activity } = effect;
    const bytes = this.#contents.close(encode(pack(effect as unknown as JsonObject, this.#contents)));
    const row: ActivityRow = {
      ...{ ...this.run.name, key, activity, attempt: 0 },
      // This process runs it, as soon as it is durable.
      ...{ status: "running", dueAt: at, bytes },
    };
    this.begun.set(key, { row, effect });
  }

  /** A child begins with this commit or not at all; one that cannot begin is an error its parent hears of. */
  #startChild({ id, key, machine, input }: SpawnEffect, at: number): void {
    const { tenant, run } = this.run.name;
    const { registry } = this.#world;
    try {
      const undoes = machine === compensationName(this.head.machine);
      const bound = registry.read(machine, undoes ? this.head.version : undefined);
      const allowed = limitsOf(bound.machine.definition.limits);
      const parts = {
        ...{ subject: this.head.subject, attributes: {}, parent: { run, key, id } },
        ...(allowed === undefined ? {} : { limits: allowed }),
      };
      const begun = new Checkpoint(
        newRun({ tenant, run: this.#childOf(key) }, bound, parts, at),
        this.#world,
      );
      begun.take({ event: startEvent(input), priority: 0, failed: () => {} }, at);
      this.starts.push(begun);
    } catch (error) {
      this.#deliver(run, settledEvent({ id, key }, { error: describeError(error) }), at, true);
    }
  }

  #childOf(key: string): string {
    return `${this.run.name.run}/${key}`;
  }

  #keepSend({ to, event }: SendEffect, before: State, at: number): void {
    const { run } = this.run.name;
    const { parent } = this.head;
    const sent: Event = { ...event, origin: run };
    if (to === "self") this.#deliver(run, sent, at, false);
    else if (to === "parent") {
      if (parent === undefined) return;
      this.#deliver(parent.run, { ...sent, invokeId: parent.id, invocation: parent.key }, at, false);
    } else if ("run" in to) this.#sendTo(to.run, sent, at);
    else if ("child" in to) {
      // What an exit action sends may be for a child that the same step ends.
      const child = [...before.children, ...this.state.children].findLast(({ id }) => id === to.child);
      if (child !== undefined) this.#deliver(this.#childOf(child.key), sent, at, false);
    }
  }

  /** No run can have a name that stores cannot keep: the sender hears of it. */
  #sendTo(run: string, event: Event, at: number): void {
    try {
      checkName("run", run);
    } catch (error) {
      const { sendId } = event;
      const failure: Event = { type: communicationErrorType, kind: "platform", data: describeError(error) };
      this.#deliver(this.head.run, sendId === undefined ? failure : { ...failure, sendId }, at, true);
      return;
    }
    this.#deliver(run, event, at, false);
  }

  /** An event between runs is a row of the inbox it goes to, in the same commit: delivered once, or never asked for. */
  #deliver(run: string, event: Event, at: number, expendable: boolean): void {
    const bytes = this.#contents.close(encode(event as unknown as JsonObject));
    const row: InboxRow = {
      ...{ tenant: this.head.tenant, run, id: this.#world.ids.next(), subject: this.head.subject },
      ...{ priority: 0, at, bytes },
      ...(expendable ? { expendable } : undefined),
    };
    this.sends.push({ row, event });
  }

  /** An activity is no longer pending: it settled, or was cancelled. One begun in this turn never was. */
  #endActivity(key: string): void {
    if (!this.begun.delete(key)) this.#ended.push(key);
  }

  commit(epoch: number): Commit {
    const { head, snapshotBytes, entryBytes } = this.run;
    const worth = Math.max(snapshotBytes / limits.entryWeight, limits.snapshotAfterBytesMin);
    const pays = entryBytes + this.#bytes > worth;
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
      begun: Array.from(this.begun.values(), ({ row }) => row),
      ended: this.#ended,
      sends: this.sends.map(({ row }) => row),
      starts: this.starts.map((child) => child.commit(epoch)),
    };
  }

  #takeSnapshot(): SnapshotRow {
    const { seq, digest } = this.head;
    const saved: Saved = { digest, state: pack(this.state as unknown as Json, this.#contents) };
    const { bytes, size } = encodeSized(saved as unknown as JsonObject);
    this.head = { ...this.head, snapshotSeq: seq };
    this.#snapshotBytes = size;
    return { seq, bytes: this.#contents.close(bytes) };
  }

  /** The commit is durable: the run is where this turn led. */
  adopt(): void {
    for (const child of this.starts) child.adopt();
    const { run } = this;
    run.head = this.head;
    run.state = this.state;
    run.snapshotBytes = this.#snapshotBytes ?? run.snapshotBytes;
    run.entryBytes = this.#snapshotBytes === undefined ? run.entryBytes + this.#bytes : 0;
    const { digests } = this.#contents;
    if (digests === undefined) return;
    run.contents ??= new Map();
    for (const [text, digest] of digests) run.contents.set(text, digest);
  }
}

/** The first entry of a run sets its whole state, so that the journal alone can rebuild it. */
function differences(before: State, after: State): Patch[] {
  if (before.seq === 0) return [{ op: "set", path: [], value: after as unknown as Json }];
  return diff(before as unknown as Json, after as unknown as Json);
}

/** A parked run stays so until it is brought back or ends. */
function statusAfter(before: RunStatus, { type, kind }: Event, state: State): RunStatus {
  if (state.status !== "active") return state.status;
  if (kind === "platform" && type === "park") return "parked";
  if (kind === "platform" && type === "retry") return "active";
  return before;
}
