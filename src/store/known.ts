/**
 * What this store last saw of the runs it writes, so that the next commit of one need not read it first.
 *
 * It is a memory of facts that stay true under one epoch: a run has its number for good, and the head at a checkpoint
 * never changes, since every commit adds an entry (I3). Whether a run is still there and at that checkpoint only the
 * database knows; writing the entry asks it.
 */
import { limits } from "../limits.ts";
import type { RunHead, RunName } from "./records.ts";
import { RunMap } from "./run-map.ts";

export interface KnownRun {
  readonly id: number;
  /** The checkpoint this is known of. */
  seq: number;
  /** The head when it was last written in full; seq, digest and time in it may be older. */
  head: RunHead;
}

/** Two generations: when the young one is full the old one is dropped, so runs in use stay and others cost nothing. */
export class KnownRuns {
  #young = new RunMap<KnownRun>();
  #old = new RunMap<KnownRun>();

  read(name: RunName): KnownRun | undefined {
    const young = this.#young.get(name);
    if (young !== undefined) return young;
    const old = this.#old.get(name);
    if (old !== undefined) this.#add(name, old);
    return old;
  }

  keep(id: number, head: RunHead): void {
    this.#add(head, { id, seq: head.seq, head: copyOf(head) });
  }

  /** Forgets one: it turned out to be otherwise. */
  drop(name: RunName): void {
    this.#young.delete(name);
    this.#old.delete(name);
  }

  /** Forgets everything: the database did not take what was written. */
  clear(): void {
    this.#young = new RunMap();
    this.#old = new RunMap();
  }

  #add(name: RunName, known: KnownRun): void {
    if (this.#young.size >= limits.knownRunsMax) {
      this.#old = this.#young;
      this.#young = new RunMap();
    }
    this.#young.set(name, known);
  }
}

/** Whoever made the head may go on to change what is in it. */
export function copyOf(head: RunHead): RunHead {
  const { limits, spent, parent, fork, debug } = head;
  return {
    ...head,
    attributes: { ...head.attributes },
    ...(limits === undefined ? {} : { limits: { ...limits } }),
    ...(spent === undefined ? {} : { spent: { ...spent } }),
    ...(parent === undefined ? {} : { parent: { ...parent } }),
    ...(fork === undefined ? {} : { fork: { ...fork } }),
    ...(debug === undefined ? {} : { debug: { ...debug } }),
  };
}

/** Whether two heads differ in where the run stands at most: not in what it is, what it waits for or its snapshot. */
export function isSameRun(one: RunHead, other: RunHead): boolean {
  return one.wakeAt === other.wakeAt && one.snapshotSeq === other.snapshotSeq && isDescribedAlike(one, other);
}

/** Whether two heads tell the same of what the run is. */
export function isDescribedAlike(one: RunHead, other: RunHead): boolean {
  return (
    one.status === other.status &&
    one.version === other.version &&
    one.hash === other.hash &&
    one.machine === other.machine &&
    one.subject === other.subject &&
    one.createdAt === other.createdAt &&
    one.completedAt === other.completedAt &&
    hasSameFields(one.limits, other.limits) &&
    hasSameFields(one.spent, other.spent) &&
    hasSameFields(one.attributes, other.attributes) &&
    hasSameFields(one.parent, other.parent) &&
    hasSameFields(one.fork, other.fork) &&
    hasSameFields(one.debug, other.debug)
  );
}

function hasSameFields(one: object | undefined, other: object | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  const fields = one as Record<string, unknown>;
  const others = other as Record<string, unknown>;
  let count = 0;
  for (const name in fields) {
    if (!Object.hasOwn(others, name) || fields[name] !== others[name]) return false;
    count++;
  }
  for (const _name in others) count--;
  return count === 0;
}
