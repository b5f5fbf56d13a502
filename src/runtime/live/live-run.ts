/** A run in memory: its newest checkpoint and what waits to be taken. The step loop is the only one to change it. */
import type { Event } from "../../core/event.ts";
import type { State } from "../../core/state.ts";
import type { Outcome, Step } from "../../core/step.ts";
import { blankState } from "../../core/work.ts";
import type { HoldfastError } from "../../errors.ts";
import { genesis } from "../../store/journal.ts";
import type { RunHead, RunName, Spending } from "../../store/records.ts";
import type { BoundMachine } from "../registry.ts";

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
  /** Whether somebody waits to hear what becomes of it. */
  readonly isAwaited?: () => boolean;
  /** The step it leads to, and what the journal is to say of it, where that takes more than the event says. */
  readonly take?: (state: State, at: number, head: RunHead) => { readonly step: Step; readonly event: Event };
  /** What the activity whose end it tells had used up. */
  readonly spent?: Spending;
  readonly handled?: (handled: Handled) => void;
  /** Its run was parked before it was taken: it waits in the inbox, in this row. Without this its sender keeps it. */
  readonly aside?: (row: string) => void;
  /** It could not be taken: it is as if it had never been sent, unless it has a row. */
  readonly failed: (error: unknown) => void;
}

export interface LiveRun {
  readonly name: RunName;
  machine: BoundMachine;
  head: RunHead;
  state: State;
  /** In order of arrival. */
  readonly inbox: Delivery[];
  /** Whether the store may have more events for it than are here. */
  more: boolean;
  /** Bytes of the newest snapshot before compression, and of the entries since: when these outweigh it, a new one pays. */
  snapshotBytes: number;
  entryBytes: number;
  /** Bytes of the entries since the newest snapshot that is kept for good. */
  keptBytes: number;
  /** The digests of its large texts that are stored; undefined while it has none. */
  contents: Map<string, string> | undefined;
}

/** A run that has not taken its first step: nothing of it is stored yet. */
export function newRun(
  name: RunName,
  machine: BoundMachine,
  parts: Pick<RunHead, "subject" | "attributes" | "parent" | "limits" | "fork">,
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
  return {
    ...{ name, machine, head, state, inbox: [] },
    ...{ more: false, snapshotBytes: 0, entryBytes: 0, keptBytes: 0, contents: undefined },
  };
}

/** Takes the most urgent delivery out of the inbox. */
export function takeDelivery({ inbox }: LiveRun): Delivery {
  let best = 0;
  for (let index = 1; index < inbox.length; index++)
    if ((inbox[index] as Delivery).priority > (inbox[best] as Delivery).priority) best = index;
  return (best === 0 ? inbox.shift() : inbox.splice(best, 1)[0]) as Delivery;
}

/** Whether a run takes no more events. */
export function hasEnded({ head }: Pick<LiveRun, "head">): boolean {
  return head.status !== "active" && head.status !== "parked";
}
