/**
 * How a damaged run is put right: back to its newest good checkpoint, with as little lost as can be.
 *
 * R1. Where the state at the newest checkpoint is known, it stays, even if entries before it cannot be read: the journal
 *     then begins later, with a snapshot, or anew with an entry that sets the whole state.
 * R2. Otherwise the run goes back to the last checkpoint before the damage. What was under way there is under way again;
 *     an activity that may happen once counts as begun, so that nothing happens twice unseen.
 * R3. A run of which no checkpoint is good is forgotten; what waited for it becomes dead letters.
 */
import type { Json, JsonObject } from "../../core/json.ts";
import { encode } from "../../store/codec.ts";
import { contentDigest, pack } from "../../store/content.ts";
import { type Entry, genesis, writeEntry } from "../../store/journal.ts";
import type { ActivityRow, RunHead, RunName } from "../../store/records.ts";
import type { Mending } from "../../store/upkeep.ts";
import { type Examined, headAt, pendingIn } from "./examine.ts";
import type { Premises } from "./finding.ts";
import type { Good } from "./fold.ts";
import { makeSnapshot } from "./snapshots.ts";

/** What becomes of a damaged run. */
export interface MendedRun extends RunName {
  /** The newest checkpoint there was, and the one it stands at now; 0 if it is gone. */
  readonly was: number;
  readonly is: number;
  /** Entries that are lost: from the first to the last, both included. */
  readonly lost: { readonly from: number; readonly to: number } | undefined;
  /** What else was dropped, put back or made anew, in words. */
  readonly notes: readonly string[];
}

export interface Plan {
  readonly report: MendedRun;
  readonly mendings: readonly Mending[];
}

export async function planFor(premises: Premises, examined: Examined): Promise<Plan> {
  return new Planning(premises, examined).plan();
}

class Planning {
  readonly #premises: Premises;
  readonly #examined: Examined;
  readonly #mendings: Mending[];
  readonly #notes: string[] = [];

  constructor(premises: Premises, examined: Examined) {
    this.#premises = premises;
    this.#examined = examined;
    this.#mendings = [...examined.folded.mendings];
  }

  async plan(): Promise<Plan> {
    const { place, name, folded } = this.#examined;
    const { good, broken, last } = folded;
    if (good === undefined) {
      const report = { ...name, was: last, is: 0, lost: { from: 1, to: last }, notes: this.#notes };
      return { report, mendings: [{ change: "forget", run: place }] };
    }
    const stand = broken === undefined ? { good, lost: undefined } : await this.#stand(good, broken.seq);
    await this.#mendSnapshots(stand.good);
    this.#mendRow(stand.good);
    this.#mendInbox();
    await this.#mendActivities(stand.good);
    this.#dropChunks();
    const report = { ...name, was: last, is: stand.good.seq, lost: stand.lost, notes: this.#notes };
    return { report, mendings: this.#mendings };
  }

  /** Where the run can stand, entries being gone from a checkpoint on. */
  async #stand(good: Good, from: number): Promise<{ good: Good; lost: MendedRun["lost"] }> {
    const { place, folded, stored } = this.#examined;
    const { last } = folded;
    if (good.base >= from && good.seq > good.base) {
      // The entries after a later snapshot lead on: the journal begins with it.
      this.#mendings.push({ change: "prune", run: place, seq: good.base });
      return { good, lost: { from: this.#examined.pruned + 1, to: good.base } };
    }
    if (good.seq > this.#examined.pruned && good.base < from) return { good, lost: { from, to: last } };
    // There is a state and no entry that stands for it, so one is made.
    const before = folded.broken?.before;
    const follows = before !== undefined && before.seq === good.seq - 1 ? before : undefined;
    const earlier = this.#examined.snapshots.find(({ known }) => known?.seq === good.seq - 1)?.known;
    const anew = await this.#setState(good, (follows ?? earlier)?.digest ?? genesis);
    if (follows === undefined && good.seq > 1)
      this.#mendings.push({ change: "prune", run: place, seq: good.seq - 1 });
    const lost = { from: follows === undefined ? this.#examined.pruned + 1 : good.seq, to: last };
    return { good: { ...good, digest: anew, at: good.at || stored.createdAt }, lost };
  }

  /** Puts an entry in the place of the one at a checkpoint that sets the whole state; its digest. */
  async #setState(good: Good, previous: string): Promise<string> {
    const { place, stored } = this.#examined;
    const { seal } = this.#premises;
    const entry: Entry = {
      ...{ seq: good.seq, at: good.at || stored.createdAt, hash: good.hash || stored.hash },
      ...{ event: { type: "repair", kind: "platform" }, outcome: "taken", effects: [] },
      patches: [{ op: "set", path: [], value: good.state }],
    };
    const contents = { keep: (text: string) => contentDigest(text), read: () => undefined };
    const row = writeEntry(entry, previous, { close: (bytes) => seal.close(bytes, stored), contents });
    this.#mendings.push({ change: "entry", run: place, entry: row });
    const snapshot = await makeSnapshot(this.#premises, { ...good, digest: row.digest }, stored);
    if (snapshot !== undefined)
      this.#mendings.push({ change: "snapshot", run: place, snapshot: { ...snapshot, kept: true } });
    this.#notes.push(`entry ${good.seq} was made anew from the snapshot there`);
    return row.digest;
  }

  /** Snapshots that cannot be read, or are not what the journal leads to, are made anew where that leads to them. */
  async #mendSnapshots(good: Good): Promise<void> {
    const { place, folded, snapshots, stored } = this.#examined;
    const isBad = (seq: number): boolean => folded.missing.some((known) => known.seq === seq);
    const dropped = new Set(this.#mendings.flatMap((one) => (one.change === "remove" ? [one.place] : [])));
    for (const { stored: found, known } of snapshots) {
      const seq = found.row?.seq as number;
      if (dropped.has(found.place)) this.#notes.push(`a snapshot that is not of ${seq} was dropped`);
      if (dropped.has(found.place) || seq > good.seq) continue;
      if (known !== undefined && !isBad(seq)) continue;
      this.#mendings.push({ change: "remove", kind: "snapshot", place: found.place });
      const reached = folded.missing.find((one) => one.seq === seq && seq <= good.seq);
      const anew = reached && (await makeSnapshot(this.#premises, reached, stored));
      if (anew !== undefined) {
        const kept = found.row?.kept ? ({ kept: true } as const) : {};
        this.#mendings.push({ change: "snapshot", run: place, snapshot: { ...anew, ...kept } });
      }
      this.#notes.push(`the snapshot of ${seq} was ${anew === undefined ? "dropped" : "made anew"}`);
    }
  }

  #mendRow(good: Good): void {
    const { place, stored, snapshots, problems } = this.#examined;
    const made = this.#mendings.flatMap((one) => (one.change === "snapshot" ? [one.snapshot.seq] : []));
    const gone = new Set(this.#mendings.flatMap((one) => (one.change === "remove" ? [one.place] : [])));
    const head = headAt(...([stored, good, snapshots.filter((one) => !gone.has(one.stored.place))] as const));
    const snapshotSeq = Math.max(head.snapshotSeq, ...made.filter((seq) => seq <= good.seq));
    const isDescribed = !problems.some(
      ({ kind, problem }) => kind === "run" && problem.includes("description"),
    );
    if (!isDescribed)
      this.#notes.push("its limits, its parent and attributes that are not listed are not known");
    const pruned = this.#examined.pruned === stored.pruned ? {} : { pruned: this.#examined.pruned };
    const mended = this.#withAttributes({ ...head, snapshotSeq });
    // Before what puts entries away, since that says where the journal begins then.
    this.#mendings.unshift({ change: "set", run: place, head: mended, ...pruned });
  }

  #withAttributes(head: RunHead): RunHead {
    const { attributes } = this.#examined;
    return Object.keys(attributes).length === 0
      ? head
      : { ...head, attributes: { ...attributes, ...head.attributes } };
  }

  /** What waits and cannot be read is dropped with its key, so that its sender can send it again. */
  #mendInbox(): void {
    const { place, problems, inbox, keys } = this.#examined;
    const bad = problems.filter(({ kind }) => kind === "inbox");
    // An event that is noted under a damaged key is the run's own; one that is noted nowhere was meant for another run.
    const isNoted = problems.some(
      ({ kind, problem }) => kind === "key" && problem.startsWith("nothing waits"),
    );
    for (const { place: at, problem } of bad) {
      const row = inbox.find((one) => one.place === at)?.row;
      if (row?.key !== undefined && isNoted) {
        this.#mendings.push({ change: "key", run: place, key: { key: row.key } });
        this.#notes.push(`the key ${row.key} of an event that waits was noted again`);
      } else {
        this.#mendings.push({ change: "remove", kind: "inbox", place: at as string });
        this.#notes.push(`an event that waited was dropped: ${problem}`);
      }
    }
    const waiting = new Set(isNoted ? inbox.map(({ row }) => row?.key) : []);
    for (const { place: at, problem } of problems.filter(({ kind }) => kind === "key")) {
      const row = keys.find((one) => one.place === at)?.row;
      if (row === undefined || waiting.has(row.key)) continue;
      this.#mendings.push({ change: "remove", kind: "key", place: at as string });
      this.#notes.push(`a key was dropped: ${problem}`);
    }
  }

  /** What is under way at the checkpoint, and nothing else. */
  async #mendActivities(good: Good): Promise<void> {
    const { place, name, stored, activities, settling, problems } = this.#examined;
    for (const one of problems)
      if (one.kind === "activity" && one.place !== undefined)
        this.#mendings.push({ change: "remove", kind: "activity", place: one.place });
    for (const key of pendingIn(good)) {
      if (activities.some(({ row }) => row?.key === key) || settling.has(key) || good.parked) continue;
      const asked = good.asked.get(key);
      if (asked === undefined) {
        this.#notes.push(`the activity ${key} is not known any more: the run waits for it in vain`);
        continue;
      }
      const { effect, at } = asked;
      const contents = { keep: (text: string) => contentDigest(text), read: () => undefined };
      const packed = pack(effect as unknown as JsonObject, contents) as Json;
      const row: ActivityRow = {
        ...{ ...name, key, activity: effect.activity, attempt: effect.options.once === true ? 1 : 0 },
        ...{ status: "running", dueAt: at, bytes: this.#premises.seal.close(encode(packed), stored) },
      };
      this.#mendings.push({ change: "activity", run: place, activity: row });
      this.#notes.push(`the activity ${key} begins again`);
    }
  }

  #dropChunks(): void {
    for (const { kind, place, problem } of this.#examined.problems) {
      if (kind !== "chunk") continue;
      this.#mendings.push({ change: "remove", kind, place: place as string });
      this.#notes.push(`a piece of a stream was dropped: ${problem}`);
    }
  }
}
