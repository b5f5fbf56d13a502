/**
 * What is done to runs and to their store besides sending events: going back, forking, moving to another version, removing,
 * pruning and copying. Each says what it is about to do where a kill in the middle may leave either, and what was done once
 * it was acknowledged; whoever listens keeps the ledger.
 */
import type { Run, Runtime } from "holdfast";
import { backup, hold, prune, release, retain, sweep } from "holdfast/housekeeping";
import { sqlite } from "holdfast/sqlite";
import { type Clock, systemClock } from "../../src/runtime/clock.ts";
import type { Store } from "../../src/store/store.ts";
import { editedStep, type Path, type Tools, workshopEntry } from "./changing.ts";

export interface Scene extends Tools {
  readonly runtime: Runtime;
  /** The store of the runtime, which is open. */
  readonly store: Store;
  readonly clock?: Clock;
  /** Where backups go. */
  readonly directory: string;
}

export class Changes {
  readonly #scene: Scene;
  readonly #clock: Clock;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#clock = scene.clock ?? systemClock;
  }

  async send(run: Run, type: string, n: number): Promise<void> {
    await run.send(type, n, { key: `${type} ${n}` });
    this.#say(`acked ${run.id} ${type} ${n}`);
  }

  async note(run: Run, n: number, text: string): Promise<void> {
    await run.send("note", { n, text }, { key: `note ${n}` });
    this.#say(`acked ${run.id} note ${n}`);
    await this.stand(run);
  }

  /** Says where a run stands: nothing may ever be otherwise up to there. */
  async stand(run: Run): Promise<void> {
    const { seq, digest } = await run.head();
    this.#say(`stands ${run.id} ${seq} ${digest}`);
  }

  async goBack(run: Run, to: number): Promise<void> {
    const seq = await run.rollback({ to });
    this.#say(`back ${run.id} ${to} ${seq}`);
    await this.stand(run);
  }

  async fork(source: Run, { id, at, edited }: { id: string; at: number; edited: boolean }): Promise<Run> {
    this.#say(`forking ${id} ${source.id} ${at} ${edited ? "edited" : "alike"}`);
    const edit = (draft: object) => void (draft as Path).steps.push(editedStep);
    const twin = await source.fork({ id, at, ...(edited && { edit: edit as never }) });
    this.#say(`forked ${id}`);
    await this.stand(source);
    return twin;
  }

  /** Sends a fork to its end, at once or when it has rested. */
  async end(run: Run): Promise<void> {
    this.#say(`ending ${run.id}`);
    await run.send("end");
  }

  async migrate(run: Run, to: number): Promise<void> {
    const { seq } = await run.head();
    await run.migrate({ to });
    this.#say(`migrated ${run.id} ${to} ${seq}`);
    await this.stand(run);
  }

  /** Brings in a version of `swap` while its run is at work; all of it must go along. */
  async deploy(version: number): Promise<void> {
    this.#say(`deploying ${version}`);
    const { left } = await this.#scene.runtime.machines.deploy(workshopEntry("swap", version, this.#scene));
    this.#say(left.length === 0 ? `deployed ${version}` : `left ${left.map(({ run }) => run).join(" ")}`);
  }

  async hold(run: string): Promise<void> {
    await hold(this.#scene, { run, reason: "somebody may still ask" });
    this.#say(`held ${run}`);
  }

  async release(run: string): Promise<void> {
    this.#say(`releasing ${run}`);
    await release(this.#scene, { run });
  }

  /** Removes paths that have ended, all but the newest ones, and deletes their rows. */
  async retain(keep: number): Promise<void> {
    this.#say("retaining");
    const rules = [{ machine: "path", keep }];
    const { removed } = await retain({ ...(await this.#right()), rules });
    for (const { run } of removed) this.#say(`removed ${run}`);
    this.#say("retained");
    await sweep(this.#housekeeping());
  }

  async prune(olderThan: number): Promise<void> {
    this.#say("pruning");
    const rules = [{ machine: "diary", olderThan }];
    const { pruned } = await prune({ ...(await this.#right()), rules });
    for (const { run, seq } of pruned) this.#say(`pruned ${run} ${seq}`);
    await sweep(this.#housekeeping());
  }

  /** Makes a backup of that time; its name follows from it. */
  async backup(at: number): Promise<void> {
    const { store, directory } = this.#scene;
    this.#say(`backing ${at}`);
    const clock = { ...this.#clock, now: () => at };
    await backup({ store, open: sqlite, directory, clock, keep: { last: backupsKept } });
    this.#say(`backed ${at}`);
  }

  #say(line: string): void {
    this.#scene.say(line);
  }

  #housekeeping(): { store: Store; clock: Clock } {
    return { store: this.#scene.store, clock: this.#clock };
  }

  /** The right of the runtime, whose process this is. */
  async #right(): Promise<{ store: Store; clock: Clock; epoch: () => number }> {
    const [lease] = await this.#scene.store.scan("lease", { limit: 1 });
    return { ...this.#housekeeping(), epoch: () => lease?.row?.epoch ?? 0 };
  }
}

/** How many recovery points stay. */
export const backupsKept = 3;
