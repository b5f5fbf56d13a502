/** How this process stands to its store: it owns all of it, or shares it with others. Everything else is the same for both. */
import type { Outage } from "../core/timer.ts";
import type { KeyName, KeyUse, Member, Taken } from "../store/fleet.ts";
import type { ActivityRow, InboxRow, RunHead, RunName } from "../store/records.ts";

export interface Standing {
  /** What its writes carry: once somebody else may write in its place they are refused. */
  readonly epoch: number;
  /** Whether others step runs as well. */
  readonly isShared: boolean;
  /** Whether it runs activities; what steps begin here is left to others otherwise. */
  readonly isWorker: boolean;
  /** Takes the right to step runs and goes on renewing it; throws STORE_OWNED. Gives the times in which nobody had it. */
  take(): Promise<readonly Outage[]>;
  /** Renews it no more. */
  stop(): void;
  /** Leaves what is new to others, where there are some. */
  yield(): Promise<void>;
  /** Gives it back, if this process has it. */
  giveBack(): Promise<void>;

  /** Whether this process sees to a run: to its timers, its inbox, and activities that were left behind. */
  isHome(name: RunName): boolean;
  /**
   * As the store's, of the runs that it sees to: so many, and beyond them as many as cannot be read here, which must not hide
   * the others.
   */
  due(now: number, limit: number, unreadable: number): Promise<Due>;
  nextDue(after: number): Promise<number | undefined>;
  /** The first `limits.inboxLoadedMax` events that wait for a run, in the order in which it takes them. */
  readInbox(name: RunName): Promise<readonly InboxRow[]>;
  /** What became of an event that its run has seen; undefined if it has not. Its entry may still have to be read. */
  readTaken(event: KeyName): Promise<Taken | undefined>;
  /** How often what is due is looked for without a reason. */
  lookMs(): number;
  /** Takes over activities; says of each whether this process is to run it. */
  adopt(rows: readonly ActivityRow[]): Promise<readonly boolean[]>;

  /**
   * Whether nobody can have taken over yet, by this process's own clock. One that was stopped for long may be told that a step
   * is durable when others have gone on from there: until it has given a sign of life again it begins nothing.
   */
  isSure(): boolean;

  /** Whom turns of concurrency keys are asked for; undefined where nobody else uses any. */
  readonly turns: Turnstile | undefined;

  /** Whether a run in memory is at its newest checkpoint. */
  isNewest(run: { readonly name: RunName; readonly head: RunHead }): Promise<boolean> | boolean;
  /**
   * Something became of a run, steps since a checkpoint if one is given: others may wait for that, and are told at once if it
   * is urgent.
   */
  tell(name: RunName, since?: number, isUrgent?: boolean): void;
  /** Tells of steps that are taken elsewhere, as `Runtime.hear` does; never, where none are. */
  hear(hearer: Hearer): () => void;
  /** Says later whether something may have become of a run elsewhere by then. */
  mark(name: RunName): Mark;
  /**
   * What `ask` finds, asked now, unless nothing became of the run since the mark, and whenever something became of it elsewhere;
   * never, where nothing happens elsewhere.
   */
  until<Answer>(name: RunName, ask: () => Promise<Answer | undefined>, since?: Mark): Waiting<Answer>;
  /** Who shares the store. */
  members(): readonly Member[];
}

/** Runs that are due, and whether there may be more of them. */
export interface Due {
  readonly names: readonly RunName[];
  readonly isMore: boolean;
}

/** A run that others have taken steps of, and the checkpoint before those. */
export interface Moved extends RunName {
  readonly since: number;
}

export type Hearer = (moved: readonly Moved[] | undefined) => void;

/** Where those who share a store get turns of concurrency keys. */
export interface Turnstile {
  /**
   * How many turns are given to whoever uses a key like that when it is asked, which is a moment later. Throws if that cannot
   * be known; then nothing is lost by asking again.
   */
  take(use: () => KeyUse): Promise<number>;
  /** Calls back when a turn of the key may be free, and from time to time; the result ends that. */
  await(key: string, wake: () => void): () => void;
}

/** A moment in what is known of a run. */
export interface Mark {
  /** Whether something may have become of it since. */
  readonly isPassed: boolean;
}

export interface Waiting<Answer> {
  readonly told: Promise<Answer>;
  /** Asks now. */
  look(): void;
  cancel(): void;
}
