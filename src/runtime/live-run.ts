/** A run in memory: its newest checkpoint and what waits to be taken. The step loop is the only one to change it. */
import type { Event } from "../core/event.ts";
import type { State } from "../core/state.ts";
import type { Outcome } from "../core/step.ts";
import { blankState } from "../core/work.ts";
import type { HoldfastError } from "../errors.ts";
import { genesis } from "../store/journal.ts";
import type { RunHead, RunName } from "../store/records.ts";
import type { BoundMachine } from "./registry.ts";

/** What became of an event, once that is durable. */
export interface Handled {
  readonly seq: number;
  readonly outcome: Outcome;
  /** Why it was refused. */
  readonly error: HoldfastError | undefined;
}

/** An event on its way into a run. */
export interface Delivery {
  readonly event: Event;
  readonly priority: number;
  /** The inbox row it comes from; without one it lives in memory until the commit of its step. */
  readonly row?: string;
  readonly key?: string;
  readonly handled?: (handled: Handled) => void;
  readonly failed?: (error: unknown) => void;
}

export interface LiveRun {
  readonly name: RunName;
  readonly machine: BoundMachine;
  head: RunHead;
  state: State;
  /** In order of arrival. */
  readonly inbox: Delivery[];
  /** Keys taken since the run came into memory; older ones are the store's to know. */
  readonly keys: Set<string>;
  /** Bytes of the newest snapshot, and of the entries since: when these outweigh it, a new one pays. */
  snapshotBytes: number;
  entryBytes: number;
}

/** A run that has not taken its first step: nothing of it is stored yet. */
export function newRun(
  name: RunName,
  machine: BoundMachine,
  parts: Pick<RunHead, "subject" | "attributes" | "parent">,
  at: number,
): LiveRun {
  const head: RunHead = {
    ...name,
    ...parts,
    machine: machine.machine.id,
    version: machine.machine.version,
    hash: machine.hash,
    status: "active",
    seq: 0,
    digest: genesis,
    snapshotSeq: 0,
    createdAt: at,
    updatedAt: at,
  };
  const state = blankState(machine.machine.chart);
  return { name, machine, head, state, inbox: [], keys: new Set(), snapshotBytes: 0, entryBytes: 0 };
}

/** Takes the most urgent delivery out of the inbox. */
export function takeDelivery(run: LiveRun): Delivery | undefined {
  let best = 0;
  run.inbox.forEach((delivery, index) => {
    if (delivery.priority > (run.inbox[best] as Delivery).priority) best = index;
  });
  return run.inbox.splice(best, 1)[0];
}

/** Whether a run takes no more events. */
export function hasEnded({ head }: Pick<LiveRun, "head">): boolean {
  return head.status !== "active" && head.status !== "parked";
}
