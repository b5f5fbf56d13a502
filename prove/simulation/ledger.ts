/**
 * What is known outside of the runtime and its store, and survives both: what users sent and were told, what tools did,
 * and what the store answered.
 */
import type { Json } from "holdfast";
import type { Reconciled } from "../../src/runtime/activity/attempts.ts";
import type { Handled } from "../../src/runtime/live/live-run.ts";
import type { Order } from "./machines/kind.ts";

/** Something a user sent, once or again and again until it was acknowledged. */
export interface Sent extends Order {
  readonly run: string;
  readonly key: string | undefined;
  tries: number;
  /** What the user was told of it. */
  acked: Handled | undefined;
  /** The user is done with it, acknowledged or not. */
  over: boolean;
  /** Whether it was sent for a reply, and came. */
  replied?: boolean;
  /** Whether the run it was sent to was removed since it was acknowledged. */
  gone?: boolean;
}

/** One start of a tool. */
export interface Start {
  /** The key the tool was given: the same for every attempt. */
  readonly key: string;
  readonly run: string;
  /** The tool that was started. */
  readonly activity: string;
  readonly life: number;
  readonly attempt: number;
  aborted: boolean;
  /** What it answered, unless it was aborted before. */
  answer: Json | undefined;
  over: boolean;
  /** How many pieces it has said, where it is one that speaks. */
  pieces: number;
  tokens: number;
  cost: number;
}

/** A piece of what a tool says: which start of it, and which piece of that. */
export interface Piece {
  readonly start: number;
  readonly n: number;
}

/** A journey that a user asked for: back, or to another version. */
export interface Journey {
  readonly run: string;
  readonly type: "rollback" | "migrate";
  /** The checkpoint or the version it is to lead to; undefined where only the run knows. */
  readonly to: number | undefined;
  /** Whether what is pending may be let go of on the way. */
  readonly drop?: boolean;
  /** Its entry, if the user was told. */
  acked: number | undefined;
}

/** A fork that a user wanted. */
export interface Forking {
  readonly run: string;
  /** The checkpoint it is to begin at; the newest if none is given. */
  readonly at: number | undefined;
}

export class Ledger {
  /** What becomes of runs of the first versions from the moment that later ones are there. */
  upgrades: { readonly drop: boolean } | undefined;
  readonly journeys: Journey[] = [];
  /** By the name of the fork. */
  readonly forks = new Map<string, Forking>();
  /** Forks whose context is to be changed. */
  readonly edits = new Set<string>();
  /** Runs that somebody has held still: what is sent to one may take its time. */
  readonly held = new Set<string>();
  readonly sent: Sent[] = [];
  /** What was sent together and is not known to be kept. */
  readonly batches = new Set<readonly Sent[]>();
  readonly starts = new Map<string, Start[]>();
  /** What each process has begun, but for what is over. */
  readonly #byLife = new Map<number, readonly Start[]>();
  /** When those of each rate began, by the wall clock. */
  readonly rates = new Map<string, number[]>();
  /** The newest checkpoint of each run that the store has told anyone to be durable, with its digest. */
  readonly durable = new Map<string, { readonly seq: number; readonly digest: string }>();
  /** Dead letters that somebody gave up. */
  readonly discarded = new Set<number>();
  /** Runs whose start was acknowledged. */
  readonly begun = new Set<string>();
  /** Runs that somebody wants to cancel, be it in vain. */
  readonly cancelling = new Set<string>();
  /** What somebody wanted held, by name; `asked` while it is not known whether it is, or still is. */
  readonly holds = new Map<string, "asked" | "held" | "released">();
  /** Runs whose cancellation was acknowledged. */
  readonly cancelled = new Set<string>();

  /** The last attempt of each key that is known not to have acted; whoever makes it later can act no more. */
  readonly voidedUntil = new Map<string, number>();
  /** How often each key was charged. */
  readonly charges = new Map<string, number>();
  /** What those who asked what became of a charge were told; undefined until they were. */
  readonly audits = new Map<string, (Reconciled | undefined)[]>();

  /** Somebody asks what became of a charge. */
  asked(key: string): void {
    this.audits.set(key, [...(this.audits.get(key) ?? []), undefined]);
  }

  audited(key: string, found: Reconciled): void {
    this.audits.get(key)?.push(found);
  }

  isVoid({ key, attempt }: Pick<Start, "key" | "attempt">): boolean {
    return attempt <= (this.voidedUntil.get(key) ?? 0);
  }

  /** The attempts that a process has under way and nobody gave up. */
  underWay(life: number): readonly Start[] {
    const left = (this.#byLife.get(life) ?? []).filter(({ over, aborted }) => !over && !aborted);
    this.#byLife.set(life, left);
    return left;
  }

  started(start: Start): void {
    this.#byLife.set(start.life, [...this.underWay(start.life), start]);
    const known = this.starts.get(start.key);
    if (known === undefined) this.starts.set(start.key, [start]);
    else known.push(start);
  }

  committed(run: string, seq: number, digest: string): void {
    if ((this.durable.get(run)?.seq ?? 0) < seq) this.durable.set(run, { seq, digest });
  }

  /** A run was removed: what was known of it says nothing of another one of its name. */
  forget(run: string): void {
    for (const known of [this.durable, this.forks]) known.delete(run);
    for (const names of [this.begun, this.cancelled, this.cancelling, this.held, this.edits])
      names.delete(run);
    for (const sent of this.sent) if (sent.run === run) sent.gone = true;
    for (const keyed of [this.starts, this.charges, this.audits, this.voidedUntil])
      for (const key of keyed.keys()) if (key.startsWith(`${run}:`)) keyed.delete(key);
    this.journeys.splice(0, Number.POSITIVE_INFINITY, ...this.journeys.filter((one) => one.run !== run));
  }
}
