/**
 * What a store keeps, in the words of the glossary. Bytes are opaque here: `codec.ts` made them from JSON and the seal
 * closed them, so a store can neither read nor change what users put in.
 */
import type { Spending } from "../core/activity.ts";

export type { Spending };

/** A run is named within its tenant. */
export interface RunName {
  readonly tenant: string;
  readonly run: string;
}

/** `parked` runs need a person; the last three are final. */
export type RunStatus = "active" | "parked" | "done" | "failed" | "cancelled";

export const statuses: readonly RunStatus[] = ["active", "parked", "done", "failed", "cancelled"];

/** Whether a run of this status has ended: it takes no more events. */
export function isFinal({ status }: { readonly status: RunStatus }): boolean {
  return status !== "active" && status !== "parked";
}

/** A value runs can be found by. */
export type Attribute = string | number | boolean;

/** What a run may use up before it is ended. */
export interface RunLimits extends Spending {
  readonly steps?: number;
  /** Milliseconds since it began. */
  readonly time?: number;
}

/** Where a run stops for somebody to look at it: on entering a state, or before an event. */
export type Breakpoint = { readonly state: string } | { readonly event: string };

/** How a run is being debugged. */
export interface Debugging {
  readonly breakpoints: readonly Breakpoint[];
  /** How many events it takes until it stops again. */
  readonly steps?: number;
  /** It does not stop before the next event: it stopped there already. */
  readonly passes?: true;
}

/** What is known of a run without reading its state: one row, replaced by every commit. */
export interface RunHead extends RunName {
  /** Whose data it is: content is shared, and erased, within one subject. */
  readonly subject: string;
  readonly machine: string;
  readonly version: number;
  /** The definition's hash. */
  readonly hash: string;
  readonly status: RunStatus;
  /** The newest checkpoint. */
  readonly seq: number;
  /** The chain's digest at that checkpoint. */
  readonly digest: string;
  /** The checkpoint of the newest snapshot. */
  readonly snapshotSeq: number;
  readonly createdAt: number;
  /** When the newest entry was made. */
  readonly updatedAt: number;
  readonly completedAt?: number;
  /** When its next timer is due, or its time is up. */
  readonly wakeAt?: number;
  /** What it may use up, and has. */
  readonly limits?: RunLimits;
  readonly spent?: Spending;
  readonly attributes: Readonly<Record<string, Attribute>>;
  /** The run that started it, and under which key. */
  readonly parent?: { readonly run: string; readonly key: string; readonly id: string };
  readonly debug?: Debugging;
  /**
   * The checkpoint it was forked from: its journal goes on from the state there. The digest there tells that run from
   * another that has its name by now; older forks have none.
   */
  readonly fork?: { readonly run: string; readonly seq: number; readonly digest?: string };
}

/** One step, as it is stored. `digest` covers these bytes and the digest of the entry before. */
export interface EntryRow {
  readonly seq: number;
  readonly at: number;
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** A whole state at a checkpoint. */
export interface SnapshotRow {
  readonly seq: number;
  readonly bytes: Uint8Array;
  /** Kept for good, to travel from: it stays when there are newer ones. */
  readonly kept?: true;
}

/** How many of a run's newest snapshots a store keeps beside those kept for good: one to load from, and one should that be damaged. */
export const snapshotsKept = 2;

/** A large value, kept once for its subject however often it is used. */
export interface ContentRow {
  readonly digest: string;
  readonly bytes: Uint8Array;
}

/** An event that waits. The highest priority is taken first; `id`, the event's own within its run, orders equals. */
export interface InboxRow extends RunName {
  readonly id: string;
  /** Whose data it is: the sender's subject, under which its bytes are sealed. */
  readonly subject: string;
  /** A repeat of a key that this run has seen is no second event. */
  readonly key?: string;
  /** It may vanish if its run is gone; any other becomes a dead letter then. */
  readonly expendable?: true;
  readonly priority: number;
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** A key that a run has seen, and the checkpoint of the step that took its event; none while that waits in the inbox. */
export interface SeenKey {
  readonly key: string;
  readonly seq?: number;
}

/** An event that found no run to take it: there was none of that name, or it had ended. `number` grows with each one. */
export interface DeadLetterRow extends InboxRow {
  readonly number: number;
  readonly reason: "missing" | "ended";
}

/** An activity that is not settled. */
export interface ActivityRow extends RunName {
  readonly key: string;
  readonly activity: string;
  /** Attempts begun so far. */
  readonly attempt: number;
  /** `running`: the owner of its epoch sees to it; `waiting`: whoever comes first. */
  readonly status: "waiting" | "running";
  /** When the next attempt may begin. */
  readonly dueAt: number;
  readonly bytes: Uint8Array;
  /** What the last attempt reported: its progress, or the error it ended with. */
  readonly report?: Uint8Array;
}

/** A piece of a stream; offsets count pieces, from zero. */
export interface ChunkRow {
  readonly offset: number;
  readonly attempt: number;
  readonly bytes: Uint8Array;
}

/** A value of its own with a version, for boards, profiles and leases. */
export interface DocumentRow {
  readonly version: number;
  readonly bytes: Uint8Array;
}
