/**
 * The outbox of a turn: what its steps want of the world and what goes with their commit or not at all: activities that
 * begin and end, child runs, and events for this run and others.
 */
import { describeError } from "../core/describe-error.ts";
import type { ActivityEffect, CancelEffect, Effect, SendEffect, SpawnEffect } from "../core/effect.ts";
import { communicationErrorType, compensationName, type Event, settledEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Child, State } from "../core/state.ts";
import { encode } from "../store/codec.ts";
import { pack } from "../store/content.ts";
import type { ActivityRow, InboxRow, RunHead, RunName } from "../store/records.ts";
import { limitsOf } from "./budget.ts";
import { childName } from "./child-name.ts";
import { cancelChildEvent } from "./control.ts";
import type { Ids } from "./ids.ts";
import type { FreshContents } from "./live/contents.ts";
import { type LiveRun, newRun } from "./live/live-run.ts";
import { checkName } from "./name.ts";
import type { Registry } from "./registry.ts";
import type { Standing } from "./standing.ts";

/** An activity that begins with the commit. */
export interface Begun {
  readonly row: ActivityRow;
  readonly effect: ActivityEffect;
}

/** What an outbox needs of the rest. */
export interface OutboxWorld {
  readonly ids: Ids;
  readonly registry: Registry;
  readonly standing: Pick<Standing, "isWorker">;
}

/** The turn with which a child run begins; throws if it cannot. */
type Begin<Turn> = (run: LiveRun, input: Json | undefined, at: number) => Turn;

/** It may vanish if its run is gone: nobody would miss it. */
const expendable = { expendable: true } as const;

/** What an outbox held at some point of its turn. */
export interface OutboxMark {
  readonly sends: number;
  readonly starts: number;
  readonly ended: number;
  readonly begun: readonly (readonly [string, Begun])[];
}

const none: readonly never[] = [];

/** A run before and after a step: what it sends may be for a child of either. */
interface Sides {
  readonly before: State;
  readonly after: State;
}

export class Outbox<Turn> {
  /** Events for this or other runs. */
  readonly sends: InboxRow[] = [];
  /** Child runs that begin. */
  readonly starts: Turn[] = [];
  readonly begun = new Map<string, Begun>();
  /** The keys of activities that are settled or cancelled. */
  readonly ended: string[] = [];
  readonly #name: RunName;
  readonly #world: OutboxWorld;
  readonly #contents: FreshContents;
  readonly #beginChild: Begin<Turn>;

  constructor(name: RunName, world: OutboxWorld, contents: FreshContents, beginChild: Begin<Turn>) {
    this.#name = name;
    this.#world = world;
    this.#contents = contents;
    this.#beginChild = beginChild;
  }

  /** Keeps what a step asked for. */
  keep(effect: Effect, head: RunHead, states: Sides, at: number): void {
    if (effect.type === "activity") this.#begin(effect, at);
    else if (effect.type === "spawn") this.#startChild(effect, head, at);
    else if (effect.type === "send") this.#keepSend(effect, head, states, at);
    else if (effect.type === "cancel") this.#keepCancel(effect, head, at);
  }

  /** What is in it now, for `restore`. */
  mark(): OutboxMark {
    return {
      sends: this.sends.length,
      starts: this.starts.length,
      ended: this.ended.length,
      begun: this.begun.size === 0 ? none : [...this.begun],
    };
  }

  /** Goes back to what was in it then. */
  restore({ sends, starts, ended, begun }: OutboxMark): void {
    this.sends.length = sends;
    this.starts.length = starts;
    this.ended.length = ended;
    this.begun.clear();
    for (const [key, one] of begun) this.begun.set(key, one);
  }

  /**
   * An event between runs is a row of the inbox it goes to, in the same commit: delivered once, or never asked for.
   * Gives the row's id.
   */
  send(head: RunHead, run: string, event: Event, at: number, parts: Partial<InboxRow> = {}): string {
    const { tenant, subject } = head;
    const id = this.#world.ids.next();
    const bytes = this.#contents.close(encode(event as unknown as JsonObject));
    this.sends.push({ tenant, run, id, subject, priority: 0, at, bytes, ...parts });
    return id;
  }

  /** An activity is no longer pending: it settled, or was cancelled. One begun in this turn never was. */
  endActivity(key: string): void {
    if (!this.begun.delete(key)) this.ended.push(key);
  }

  /** The run has ended: the one that invoked it hears how. */
  tellParent(head: RunHead, { status, output, reason }: State, { origin }: Event, at: number): void {
    const { parent } = head;
    // Whoever cancelled it does not wait for its end.
    if (parent === undefined || (status === "cancelled" && origin === parent.run)) return;
    const error = reason ?? { name: "Cancelled", message: `The run ${head.run} was cancelled` };
    const result = status !== "done" ? { error } : output === undefined ? {} : { output };
    this.send(head, parent.run, settledEvent(parent, result), at, expendable);
  }

  #keepCancel({ of, key }: CancelEffect, head: RunHead, at: number): void {
    if (of === "activity") this.endActivity(key);
    else if (of === "child") this.send(head, this.#childOf(key), cancelChildEvent(head.run), at, expendable);
  }

  #begin(effect: ActivityEffect, at: number): void {
    const { key, activity } = effect;
    const bytes = this.#contents.close(encode(pack(effect as unknown as JsonObject, this.#contents)));
    const row: ActivityRow = {
      ...{ ...this.#name, key, activity, attempt: 0 },
      // A worker runs it, as soon as it is durable; what a client begins waits for one.
      ...{ status: this.#world.standing.isWorker ? "running" : "waiting", dueAt: at, bytes },
    };
    this.begun.set(key, { row, effect });
  }

  /** A child begins with this commit or not at all; one that cannot begin is an error its parent hears of. */
  #startChild({ id, key, machine, input }: SpawnEffect, head: RunHead, at: number): void {
    const { tenant, run, subject } = head;
    try {
      const undoes = machine === compensationName(head.machine);
      const bound = this.#world.registry.read(machine, undoes ? head.version : undefined);
      const allowed = limitsOf(bound.machine.definition.limits);
      const parts = {
        ...{ subject, attributes: {}, parent: { run, key, id } },
        ...(allowed === undefined ? {} : { limits: allowed }),
      };
      const child = newRun({ tenant, run: this.#childOf(key) }, bound, parts, at);
      this.starts.push(this.#beginChild(child, input, at));
    } catch (error) {
      this.send(head, run, settledEvent({ id, key }, { error: describeError(error) }), at, expendable);
    }
  }

  #childOf(key: string): string {
    return childName(this.#name.run, key);
  }

  #keepSend({ to, event }: SendEffect, head: RunHead, { before, after }: Sides, at: number): void {
    const { run, parent } = head;
    const sent: Event = { ...event, origin: run };
    if (to === "self") this.send(head, run, sent, at);
    else if (to === "parent") {
      if (parent === undefined) return;
      this.send(head, parent.run, { ...sent, invokeId: parent.id, invocation: parent.key }, at);
    } else if ("run" in to) this.#sendTo(to.run, head, sent, at);
    else if ("child" in to) {
      // What an exit action sends may be for a child that the same step ends.
      const isMeant = ({ id }: Child) => id === to.child;
      const child = after.children.findLast(isMeant) ?? before.children.findLast(isMeant);
      if (child !== undefined) this.send(head, this.#childOf(child.key), sent, at);
    }
  }

  /** No run can have a name that stores cannot keep: the sender hears of it. */
  #sendTo(run: string, head: RunHead, event: Event, at: number): void {
    try {
      checkName("run", run);
    } catch (error) {
      const { sendId } = event;
      const failure: Event = { type: communicationErrorType, kind: "platform", data: describeError(error) };
      const told = sendId === undefined ? failure : { ...failure, sendId };
      this.send(head, head.run, told, at, expendable);
      return;
    }
    this.send(head, run, event, at);
  }
}
