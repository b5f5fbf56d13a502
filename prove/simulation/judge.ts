/**
 * The judge: sees every write that reaches the disk and everything that leaves the runtime, keeps books of its own, and
 * says at once when an invariant no longer holds.
 */
import type { State } from "holdfast";
import { isHoldfastError } from "../../src/errors.ts";
import type { ActivityScope } from "../../src/runtime/activity/attempt.ts";
import type { Chunk } from "../../src/runtime/activity/stream.ts";
import type { MachineVersion } from "../../src/runtime/evolution/catalog.ts";
import type { Migrated } from "../../src/runtime/evolution/evolution.ts";
import { type Hold, holdsName } from "../../src/runtime/housekeeping/hold.ts";
import type { Handled } from "../../src/runtime/live/live-run.ts";
import { Past } from "../../src/runtime/live/past.ts";
import { defaultTenant, systemTenant } from "../../src/runtime/name.ts";
import { noSeal } from "../../src/runtime/seal.ts";
import type { Target } from "../../src/runtime/travel/travel.ts";
import { decode } from "../../src/store/codec.ts";
import type { Member } from "../../src/store/fleet.ts";
import type { ActivityRow, InboxRow } from "../../src/store/records.ts";
import type { Commit, CommitOutcome, Lease, LoadedRun, Store } from "../../src/store/store.ts";
import type { Call, Write } from "./disk.ts";
import { HouseJudge } from "./house-judge.ts";
import { checkBeside, checkCommit, checkOutcome } from "./invariants/commits.ts";
import { checkBatch, checkEntry, checkTokens, entriesOf, isKept } from "./invariants/events.ts";
import { checkHolder, enterAdoption, enterBeat, enterJoining, Homes, mayHave } from "./invariants/fleet.ts";
import { checkFlow } from "./invariants/flow.ts";
import {
  checkHolds,
  enterPruning,
  enterRemovals,
  type Pruning,
  type Removing,
} from "./invariants/keeping.ts";
import { checkNoted } from "./invariants/outages.ts";
import type { Invariant, Report } from "./invariants/report.ts";
import { isSame } from "./invariants/same.ts";
import { checkLimits } from "./invariants/spending.ts";
import { addChunks, checkHeard, checkSaid, saidIn } from "./invariants/streams.ts";
import { checkAsked } from "./invariants/travel.ts";
import { checkUndo, undoingName } from "./invariants/undoing.ts";
import type { Journey, Ledger, Piece, Sent, Start } from "./ledger.ts";
import type { Life } from "./life.ts";
import { hasEnded, Model, type ModelEntry, type ModelRun, type Said } from "./model.ts";
import type { Time } from "./time.ts";

/** An invariant that did not hold. */
export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
}

/** A lease as the store gave it last. */
interface Held {
  readonly worker: string;
  readonly until: number;
  readonly leaseMs: number;
}

export class Judge {
  model: Model;
  violation: Violation | undefined;
  readonly keeping: HouseJudge;
  /** How many attempts a process may have under way, where that is little. */
  slots: number | undefined;
  /** Steps that were committed. */
  steps = 0;
  /** Who sees to what, of those who share the store. */
  readonly #homes = new Homes();
  #held: Held | undefined;
  /** The processes that were told of their epochs. */
  readonly #numbers = new Map<number, number>();
  /** Whether it only enters what was judged before. */
  #isSilent = false;
  readonly #ledger: Ledger;
  readonly #time: Pick<Time, "furthest" | "jumped" | "steady" | "now">;
  readonly report: Report = (invariant, text) => {
    this.violation ??= { invariant, text };
  };

  constructor(ledger: Ledger, time: Pick<Time, "furthest" | "jumped" | "steady" | "now">) {
    this.#ledger = ledger;
    this.model = new Model(ledger.edits);
    this.#time = time;
    this.keeping = new HouseJudge({ ledger, time, report: this.report, model: () => this.model });
  }

  // What reaches the disk.

  /** A write was carried out. Whatever is wrong with what was written must not stop the judge. */
  performed({ verb, args }: Call, result: unknown): void {
    try {
      if (verb === "commit") this.#committed(args[0] as Commit[], result as CommitOutcome[]);
      else if (verb === "own") this.#owned(args as [string, number, number], result as Lease);
      else if (verb === "release") this.#released(args as [string, number, number | undefined]);
      else if (verb === "enqueue") this.#enqueued(args[0] as InboxRow[]);
      else if (verb === "recordActivities")
        this.#recorded(args as [ActivityRow[], number], result as boolean[]);
      else if (verb === "removeDeadLetter" && result === true) this.#letterRemoved(args[1] as number);
      else if (verb === "appendChunks" && result === true)
        this.#appended(args as Parameters<Store["appendChunks"]>);
      else if (verb === "writeDocument" && result === true)
        this.#written(args as [string, string, number, Uint8Array]);
      else if (verb === "removeDocument" && result === true)
        this.model.removeDocument(...(args as [string, string, number]));
      else if (verb === "removeRuns") this.#removed(args as Removing, result as boolean[]);
      else if (verb === "pruneJournal")
        enterPruning(this.model, args as Pruning, result as boolean, this.report);
      else if (verb === "sweep" && result === 0) this.model.isSwept = true;
      else if (verb === "fleet.join")
        enterJoining(this.model, args as [string, number, number], result as Lease, this.report);
      else if (verb === "fleet.beat")
        this.#beat(args as [number, number, unknown, number], result as Member[] | undefined);
      else if (verb === "fleet.leave") this.model.members.delete(args[0] as number);
      else if (verb === "fleet.adopt")
        enterAdoption(this.model, args as [ActivityRow[], number], result as boolean[], this.report);
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      this.report(error.code === "STORE_CORRUPT" ? 19 : 3, error.message);
    }
  }

  #committed(commits: readonly Commit[], outcomes: readonly CommitOutcome[]): void {
    commits.forEach((commit, index) => {
      const outcome = outcomes[index] as CommitOutcome;
      checkOutcome(this.model, commit, outcome, this.report);
      if (outcome.outcome === "committed" && this.violation === undefined) this.#enter(commit);
    });
  }

  #enter(commit: Commit): void {
    const { report } = this;
    const entries = this.model.read(commit);
    if (this.#isSilent) {
      this.model.commit(commit, entries);
      return;
    }
    checkCommit(this.model, commit, entries, report);
    let before = this.model.before(commit).state as State | undefined;
    this.model.commit(commit, entries);
    checkBeside(this.model, commit, report);
    const run = this.model.find(commit.head) as ModelRun;
    checkLimits(run, this.#time.furthest, report);
    checkAsked(run, entries, this.#ledger, report);
    const world = {
      ledger: this.#ledger,
      model: this.model,
      furthest: this.#time.furthest,
      jumped: this.#time.jumped,
      report,
    };
    for (const entry of entries) {
      checkEntry(run, entry, before, world);
      this.keeping.stepped(run, entry);
      before = entry.stepped.state;
      this.steps++;
    }
    if (run.machine.id === "account") checkTokens(this.model, report);
    this.#checkBatches(run);
  }

  #enqueued(rows: readonly InboxRow[]): void {
    this.model.enqueue(rows);
    const [first] = rows;
    const run = first && this.model.find(first);
    if (run !== undefined) this.#checkBatches(run);
  }

  #appended([name, key, rows]: Parameters<Store["appendChunks"]>): void {
    addChunks(this.model, name, key, rows, this.report);
  }

  #written([tenant, name, expect, bytes]: [string, string, number, Uint8Array]): void {
    this.model.writeDocument(tenant, name, expect);
    if (tenant === systemTenant && name === "machines") noteMachines(this.model, bytes);
    if (tenant !== defaultTenant || name !== holdsName) return;
    this.model.holds = decode(bytes, name) as unknown as Hold[];
    if (!this.#isSilent) checkHolds(this.model, this.#ledger, this.report);
  }

  #removed(given: Removing, removed: readonly boolean[]): void {
    for (const run of enterRemovals(this.model, given, removed, this.report))
      if (!this.#isSilent) this.#ledger.forget(run);
  }

  /** A user was told that there is no such run. */
  missing(run: string): void {
    if (!this.model.removed.has(run))
      this.report(17, `${run} is said not to be there, and was never removed`);
  }

  /** Whether a run was removed: what is said of it now cannot be looked up any more. */
  isGone(run: string): boolean {
    return this.model.removed.has(run) && !this.model.runs.has(run);
  }

  /** A user was told that a run was never where it was to go back to. */
  wentTooFar(life: Life, run: string, target: Target): void {
    // A power cut may have taken back what nobody was told of.
    const { seq } = this.model.find({ run })?.head ?? { seq: 0 };
    const to = "to" in target ? target.to : seq - target.by;
    // Who was replaced knows of the run what was.
    if (to >= 1 && to <= seq && !this.model.isReplaced(life.epoch) && !this.isGone(run))
      this.report(13, `${run} is said not to have gone as far as it is to go back`);
  }

  /** A user was told that what was asked for was pruned. */
  isPruned(run: string): void {
    if (!this.isGone(run) && (this.model.runs.get(run)?.pruned ?? 0) === 0)
      this.report(29, `entries of ${run} are said to be pruned, and are not`);
  }

  /** A dead letter goes only when it has arrived somewhere, or was given up. */
  #letterRemoved(number: number): void {
    const letter = this.model.deadLetters.get(number);
    if (letter === undefined) {
      this.report(1, `there is no dead letter ${number} to remove`);
      return;
    }
    this.model.deadLetters.delete(number);
    if (this.#ledger.discarded.has(number)) this.model.discarded.push(letter);
    else if (!this.model.hasArrived(letter.row))
      this.report(1, `the dead letter ${number}, ${letter.event.type} for ${letter.row.run}, is gone`);
    checkTokens(this.model, this.report);
  }

  #checkBatches({ head }: ModelRun): void {
    if (this.#isSilent) return;
    for (const batch of this.#ledger.batches)
      if (batch[0]?.run === head.run) checkBatch(this.model, batch, this.report);
  }

  #owned([worker, leaseMs, now]: [string, number, number], lease: Lease): void {
    if (lease.outcome !== "owned") return;
    const { model } = this;
    const held = this.#held;
    const isGood = held !== undefined && now < held.until && held.until - now <= 2 * held.leaseMs;
    if (held?.worker !== worker && isGood) this.report(7, "a lease was given that somebody else has");
    if (model.owner !== worker && lease.epoch <= model.epoch) this.report(7, "a new owner has an old epoch");
    if (model.owner === worker && lease.epoch !== model.epoch)
      this.report(8, "an owner that was never replaced lost its epoch");
    checkNoted(model, lease, now, this.#time.jumped, this.report);
    model.aliveAt = now;
    model.epoch = lease.epoch;
    model.owner = worker;
    this.#held = { worker, until: lease.until, leaseMs };
  }

  #released([worker, epoch, now]: [string, number, number | undefined]): void {
    if (this.model.owner !== worker || this.model.epoch !== epoch) return;
    this.model.owner = undefined;
    this.model.aliveAt = now ?? this.model.aliveAt;
    this.#held = undefined;
  }

  #beat(given: [number, number, unknown, number], told: readonly Member[] | undefined): void {
    enterBeat(this.model, given, told, this.report);
    if (told !== undefined) this.#homes.noted(told, this.#time.steady);
  }

  /** A member asks what is due; of what others see to it asks for what nobody took up in time. */
  asked(life: Life, { verb, args: [shards, , , since] }: Call): void {
    if (verb === "fleet.due" && since === undefined)
      this.#homes.asked(life.epoch, shards as number[], this.#time.steady);
  }

  #recorded([rows, epoch]: [readonly ActivityRow[], number], recorded: readonly boolean[]): void {
    rows.forEach((row, index) => {
      const wanted = mayHave(this.model, row, epoch);
      if (recorded[index] !== wanted)
        this.report(7, `the attempt of ${row.run}:${row.key} was ${recorded[index] ? "" : "not "}recorded`);
      if (recorded[index]) this.model.record(row, epoch);
    });
  }

  /** The power failed: the books are written again from what is left, and nothing acknowledged may be missing. */
  powerFailed(writes: readonly Write[]): void {
    this.model = new Model(this.#ledger.edits);
    const silent = new Judge(this.#ledger, this.#time);
    silent.#isSilent = true;
    silent.model = this.model;
    for (const write of writes) silent.performed(write, write.result);
    this.#held = silent.#held;
    this.checkKept();
  }

  /** Everything anyone was told is durable is there. */
  checkKept(): void {
    for (const [name, { seq, digest }] of this.#ledger.durable)
      if (this.model.runs.get(name)?.entries[seq - 1]?.digest !== digest)
        this.report(17, `checkpoint ${seq} of ${name} was durable and is gone`);
    for (const sent of this.#ledger.sent)
      if (
        !sent.gone &&
        (sent.acked !== undefined || sent.replied) &&
        entriesOf(this.model.find(sent), sent).length === 0
      )
        this.report(1, `${sent.type} ${sent.data.n} was acknowledged and is gone`);
    for (const { run, type, acked } of this.#ledger.journeys)
      if (type === "rollback" && acked && this.model.runs.get(run)?.entries[acked - 1]?.event.type !== type)
        this.report(13, `${run} went back with checkpoint ${acked}, and that is gone`);
  }

  // What leaves the runtime.

  /** A process was told what came of a call. */
  answered(life: Life, { verb, args }: Call, result: unknown): void {
    if ((verb === "own" || verb === "fleet.join") && (result as Lease).outcome === "owned") {
      life.epoch = (result as Lease).epoch;
      this.#numbers.set(life.epoch, life.number);
      life.worker = args[0] as string;
    }
    if (verb === "load" && result !== undefined) {
      const { head } = result as LoadedRun;
      if (!life.readsAhead(head.run, head.seq)) life.learn(head.run, head.seq);
      if (!this.isGone(head.run)) this.#ledger.committed(head.run, head.seq, head.digest);
    }
    if (verb !== "commit") return;
    (args[0] as Commit[]).forEach((commit, index) => {
      const outcome = (result as CommitOutcome[])[index]?.outcome;
      if (outcome === "conflict") life.doubt(commit);
      if (outcome !== "committed") return;
      const all = (one: Commit): void => {
        // It was told so, and the run has been removed since.
        if (this.isGone(one.head.run)) return;
        const { run } = one.head;
        life.learn(run, one.head.seq);
        for (const { key } of one.begun) life.entered.set(`${run}:${key}`, { run, since: this.#time.steady });
        this.#ledger.committed(one.head.run, one.head.seq, one.head.digest);
        one.starts.forEach(all);
      };
      all(commit);
    });
  }

  /** A user was told what became of an event. */
  acked(sent: Sent, { seq, outcome }: Handled): void {
    if (this.isGone(sent.run)) return;
    const [entry] = entriesOf(this.model.find(sent), sent);
    const what = `${sent.type} ${sent.data.n} of ${sent.run}`;
    if (entry === undefined) {
      this.report(1, `${what} was acknowledged and is in no entry`);
      return;
    }
    const isRepeat = outcome === "ignored" && sent.key !== undefined;
    if (!isRepeat && (entry.seq !== seq || entry.outcome !== outcome))
      this.report(
        1,
        `${what} was ${outcome} at ${seq}, the user was told, and it was ${entry.outcome} at ${entry.seq}`,
      );
  }

  /** A user was told that an event is durable. */
  kept(sent: Sent): void {
    if (this.isGone(sent.run)) return;
    if (!isKept(this.model, sent))
      this.report(1, `${sent.type} ${sent.data.n} of ${sent.run} was acknowledged and is nowhere`);
  }

  /** A user was told a reply. */
  replied(sent: Sent, reply: unknown): void {
    if (this.isGone(sent.run)) return;
    const what = `${sent.type} ${sent.data.n} of ${sent.run}`;
    const given = this.model
      .find(sent)
      ?.entries.some(({ effects }) => effects.some((one) => one.type === "reply" && isSame(one.data, reply)));
    if (!given) this.report(21, `${what} was given the reply ${JSON.stringify(reply)}, which is in no entry`);
    if (!isSame(reply, { n: sent.data.n }))
      this.report(21, `${what} was given another one's reply, ${JSON.stringify(reply)}`);
    if (entriesOf(this.model.find(sent), sent).length === 0)
      this.report(1, `${what} was replied to and is in no entry`);
  }

  /** A user was told that a run went back. */
  wentBack(journey: Journey, seq: number): void {
    if (this.isGone(journey.run)) return;
    const entry = this.model.find(journey)?.entries[seq - 1];
    const what = `${journey.run} was said to have gone back with checkpoint ${seq}`;
    const { to } = (entry?.event.data ?? {}) as { readonly to?: number };
    if (entry?.event.type !== "rollback") this.report(13, `${what}, which is ${entry?.event.type}`);
    else if (journey.to !== undefined && to !== journey.to)
      this.report(13, `${what} to ${journey.to}, and went to ${to}`);
    if (this.#ledger.journeys.some((one) => one.run === journey.run && one.acked === seq))
      this.report(13, `${what} twice`);
    journey.acked = seq;
  }

  /** A user was told that a run has gone to another version, in so many steps. */
  migrated(journey: Journey, steps: number): void {
    if (this.isGone(journey.run)) return;
    const run = this.model.find(journey);
    const isIt = ({ event }: ModelEntry) =>
      event.type === "migrate" && (event.data as { readonly to: number }).to === journey.to;
    const acked = this.#ledger.journeys.filter(
      (one) => one.run === journey.run && one.type === "migrate" && one.to === journey.to && one.acked,
    ).length;
    journey.acked = steps;
    const times = run?.entries.filter(isIt).length ?? 0;
    if (times < acked + steps)
      this.report(
        13,
        `${journey.run} went to version ${journey.to} ${times} times, and was said to more often`,
      );
  }

  /** How often each run of a machine has changed its version, but for those that somebody sent there. */
  movesOf(machine: string): ReadonlyMap<string, number> {
    const sent = new Set(
      this.#ledger.journeys.filter(({ type }) => type === "migrate").map(({ run }) => run),
    );
    const moves = new Map<string, number>();
    for (const [name, { head, entries }] of this.model.runs)
      if (head.machine === machine && !sent.has(name))
        moves.set(name, entries.filter(({ event }) => event.type === "migrate").length);
    return moves;
  }

  /** A version was refused: no run has gone there. */
  deployRefused(life: Life, machine: string, before: ReadonlyMap<string, number>): void {
    // Whoever replaced it, or is there beside it, has the later version as any other code, and runs go there by themselves.
    if (this.model.isShared || this.model.isReplaced(life.epoch)) return;
    for (const [name, times] of this.movesOf(machine))
      if (times > (before.get(name) ?? 0))
        this.report(15, `${name} has gone to the later version, which was refused`);
  }

  /** Somebody was told that these runs went to the later version. */
  deployed(moved: readonly Migrated[]): void {
    for (const { run, to } of moved)
      if (
        !this.isGone(run) &&
        !this.model
          .find({ run })
          ?.entries.some(
            ({ event }) => event.type === "migrate" && (event.data as { readonly to: number }).to === to,
          )
      )
        this.report(15, `${run} was said to have gone to version ${to}`);
  }

  /** A user was told that a fork has begun. */
  forked(name: string): void {
    if (this.isGone(name)) return;
    if (this.model.find({ run: name }) === undefined) this.report(13, `${name} was said to have begun`);
  }

  /** A user was told that an event came too late. */
  tooLate(sent: Sent): void {
    if (this.isGone(sent.run)) return;
    const run = this.model.find(sent);
    const what = `${sent.type} ${sent.data.n} of ${sent.run}`;
    if (run === undefined || !hasEnded(run.head))
      this.report(1, `${what} is said to be too late, and is not`);
    // What has no key may have been sent twice: nobody can tell.
    if (sent.key !== undefined && entriesOf(run, sent).length > 0)
      this.report(1, `${what} was taken, and is said to be too late`);
  }

  /** A user read a state. */
  read(run: string, state: State, least: number): void {
    if (this.isGone(run)) return;
    const entries = this.model.find({ run })?.entries ?? [];
    const fits = entries.some(({ seq, stepped }) => seq >= least && isSame(stepped.state, state));
    if (!fits) this.report(5, `a state of ${run} was read that it was not in since checkpoint ${least}`);
  }

  /** A tool is about to act. */
  toolStarts(
    life: Life,
    { run: name, key, attempt, progress }: ActivityScope,
    { input, once = false }: { readonly input: unknown; readonly once?: boolean },
  ): void {
    if (this.isGone(name)) return;
    const own = key.slice(name.length + 1);
    const run = this.model.find({ run: name });
    const ended = run?.endedAt.get(own);
    if (run?.begunAt.has(own) !== true) {
      this.report(4, `${key} begins before its step is durable`);
      return;
    }
    if (ended !== undefined && ended <= (life.known.get(name) ?? 0))
      this.report(12, `${key} begins after it was over`);
    const { jumped, steady } = this.#time;
    checkFlow(
      life,
      { run: name, key },
      {
        ...{ ledger: this.#ledger, model: this.model, slots: this.slots, report: this.report },
        others: this.#membersBut(life),
        ...{ now: this.#time.now(), jumped, steady },
      },
    );
    const before = this.#ledger.starts.get(key) ?? [];
    const isVoid = (start: Pick<Start, "key" | "attempt">) => this.#ledger.isVoid(start);
    if (once && !isVoid({ key, attempt }) && !before.every(isVoid))
      this.report(6, `${key} begins a second time`);
    if (before.some((start) => start.life === life.number && start.answer !== undefined))
      this.report(6, `${key} begins again where its answer is known`);
    const row = run.activities.get(own);
    if (run.machine.id === undoingName)
      checkUndo(run, input, row !== undefined && !this.model.isReplaced(life.epoch), this.report);
    // Whoever was replaced does not know what was recorded since.
    if (row === undefined || this.model.isReplaced(life.epoch)) return;
    // What may happen once is recorded as begun before it begins; anything else once it has failed.
    if (attempt !== (once ? row.attempt : row.attempt + 1))
      this.report(6, `${key} has attempt ${attempt} after ${row.attempt}`);
    checkHolder(this.model, run, own, life, this.report);
    // One that waits for its turn may be left to another process, which makes that attempt.
    if (!once && attempt > 1 && !before.some((start) => start.attempt === attempt - 1))
      this.report(6, `${key} has attempt ${attempt}, and nobody made the one before`);
    const kept =
      row.report === undefined
        ? undefined
        : (decode(row.report, "a report") as { progress?: never }).progress;
    if (!isSame(progress, kept))
      this.report(6, `${key} gets the progress ${JSON.stringify(progress)}, not ${JSON.stringify(kept)}`);
  }

  /** The numbers of those who share the store with a process. */
  #membersBut(life: Life): number[] {
    return [...this.model.members.keys()]
      .map((epoch) => this.#numbers.get(epoch))
      .filter((number): number is number => number !== undefined && number !== life.number);
  }

  /** Somebody asks what became of a tool that may act once. */
  auditStarts(life: Life, key: string): void {
    const [name, own] = key.split(":") as [string, string];
    const ended = this.model.find({ run: name })?.endedAt.get(own);
    if (ended !== undefined && ended <= (life.known.get(name) ?? 0))
      this.report(12, `${key} is asked about after it was over`);
    this.#ledger.asked(key);
  }

  /** A tool was told that a piece of what it says is durable. */
  pieceKept(life: Life, key: string, piece: Piece): void {
    // Nobody listens to who was replaced.
    const gone = this.isGone(key.split(":")[0] as string);
    if (!this.model.isReplaced(life.epoch) && !gone) checkSaid(this.#said(key), key, piece, this.report);
  }

  /** A reader was given a piece, and wanted the one of this offset. */
  heard(key: string, chunk: Chunk, wanted: number): void {
    if (!this.isGone(key.split(":")[0] as string))
      checkHeard(this.#said(key), chunk, wanted, key, this.report);
  }

  /** A reader was told that there is no more. */
  heardAll(life: Life, key: string, count: number): void {
    const [name, own] = key.split(":") as [string, string];
    // Who was replaced knows of the run what was.
    if (this.isGone(name) || this.model.isReplaced(life.epoch)) return;
    // What was on its way when nobody wanted it any more may still come.
    const said = this.model.find({ run: name })?.saidAtEnd.get(own);
    if (said === undefined) this.report(14, `a reader of ${key} was told that it is over`);
    else if (count < said) this.report(14, `a reader of ${key} heard ${count} of ${said} pieces`);
  }

  #said(key: string): readonly Said[] {
    const [name, own] = key.split(":") as [string, string];
    return saidIn(this.model, name, own);
  }

  isFlushed(): boolean {
    return [...this.model.runs.values()].every(({ inbox }) => inbox.size === 0);
  }

  /** Everything is at rest. All that could wait for a later commit was to be committed: nothing waits any more. */
  checkFlushed(): void {
    this.#homes.check(this.report);
    for (const { head, inbox } of this.model.runs.values())
      if (inbox.size > 0) this.report(27, `${head.run} has ${inbox.size} events that were to be committed`);
  }

  /** The store has the dead letters that the books have. */
  async compareLetters(store: Store): Promise<void> {
    const letters = await store.readDeadLetters(defaultTenant, 0, 10_000);
    const found = letters.map(({ number, run, id }) => `${number}: ${run} ${id}`);
    const wanted = [...this.model.deadLetters].map(([number, { row }]) => `${number}: ${row.run} ${row.id}`);
    if (!isSame(found, wanted)) this.report(1, `the dead letters are ${found} and should be ${wanted}`);
  }

  /** What the store holds of a run is what the books say. */
  async compare(store: Store, run: ModelRun): Promise<void> {
    const { head, state } = run;
    // The books go on while the store is read.
    const inbox = [...run.inbox.keys()].sort();
    const activities = [...run.activities.values()].map(standing).sort();
    const keys = [...run.keys];
    const [loaded, seen] = await Promise.all([store.load(head), store.readKeys(head, keys)]);
    // It may go while it is read.
    if (this.model.find(head) !== run) return;
    if (loaded === undefined) return this.report(17, `${head.run} is not in the store`);
    if (!isSame(loaded.head, head)) this.report(4, `the store has another head of ${head.run}`);
    try {
      const rebuilt = await new Past(store, noSeal).rebuild(loaded);
      if (!isSame(rebuilt.state, state)) this.report(3, `the store has another state of ${head.run}`);
    } catch (error) {
      this.report(19, `the store cannot rebuild ${head.run}: ${error}`);
    }
    if (!isSame(loaded.inbox.map(({ id }) => id).sort(), inbox))
      this.report(1, `the store has another inbox of ${head.run}`);
    if (!isSame(loaded.activities.map(standing).sort(), activities))
      this.report(4, `the store has other activities of ${head.run}`);
    if (seen.length !== keys.length) this.report(1, `the store forgot keys of ${head.run}`);
  }
}

/** Notes where each version stands in its life. */
function noteMachines(model: Model, bytes: Uint8Array): void {
  const rows = decode(bytes, "the machines") as unknown as MachineVersion[];
  for (const { id, version, status } of rows) model.statuses.set(`${id}@${version}`, status);
}

const standing = ({ key, attempt, status, dueAt }: ActivityRow) => [key, attempt, status, dueAt].join(" ");
