/**
 * The workers of one machine, each a process: as many as are wanted are kept running, and one that is not wanted any more is
 * told to drain. One that ends by itself is followed by another, after a while that grows if it keeps happening.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { backoffMs } from "./supervisor.ts";

/** One that ran for so long did not fail at its start. */
const goodMs = 30_000;

export interface CrewWorld {
  /** What Node runs for one of them. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  note(line: string): void;
}

interface Hand {
  readonly child: ChildProcess;
  readonly since: number;
  readonly ended: Promise<void>;
  isLeaving: boolean;
}

export class Crew {
  readonly #world: CrewWorld;
  readonly #hands = new Set<Hand>();
  /** How often one ended by itself soon after it began, in a row, and until when none is started for that. */
  #failures = 0;
  #restUntil = 0;

  constructor(world: CrewWorld) {
    this.#world = world;
  }

  /** Those that are wanted and run. */
  get count(): number {
    return this.#staying.length;
  }

  /** Their process ids, those that are leaving among them. */
  get pids(): readonly number[] {
    return [...this.#hands].flatMap(({ child }) => child.pid ?? []);
  }

  get #staying(): Hand[] {
    return [...this.#hands].filter(({ isLeaving }) => !isLeaving);
  }

  /** From now on there are so many; called again and again, it also replaces those that ended. */
  keep(wanted: number): void {
    const staying = this.#staying;
    // The youngest go first: they have the least in memory.
    for (const hand of staying.slice(wanted)) this.#dismiss(hand);
    if (Date.now() < this.#restUntil) return;
    for (let count = staying.length; count < wanted; count++) this.#hire();
  }

  /** Lets all of them drain; resolves when they have ended. */
  async dismissAll(): Promise<void> {
    for (const hand of this.#staying) this.#dismiss(hand);
    await Promise.all([...this.#hands].map(({ ended }) => ended));
  }

  /** Ends all of them at once, also those that are draining. */
  dismissNow(): void {
    for (const { child } of this.#hands) child.kill("SIGKILL");
  }

  #hire(): void {
    const { command, env, note } = this.#world;
    // The channel is there to be closed: a worker whose fleet is gone ends as well. A group of its own, since a terminal tells
    // all of one group to stop, and twice means at once.
    const child = spawn(process.execPath, [...command], {
      env: { ...env },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
      detached: true,
    });
    const ended = new Promise<void>((resolve) => {
      const end = (how: string): void => {
        if (!this.#hands.delete(hand)) return;
        note(`worker ${child.pid ?? "that did not start"} ended (${how})`);
        if (!hand.isLeaving) this.#failed(hand);
        resolve();
      };
      child.once("exit", (code, signal) => end(String(code ?? signal)));
      child.once("error", (error) => end(error.message));
    });
    const hand: Hand = { child, since: Date.now(), ended, isLeaving: false };
    this.#hands.add(hand);
    note(`worker ${child.pid} started`);
  }

  #dismiss(hand: Hand): void {
    hand.isLeaving = true;
    this.#world.note(`worker ${hand.child.pid} is to leave`);
    hand.child.kill("SIGTERM");
  }

  #failed({ since }: Hand): void {
    const now = Date.now();
    this.#failures = now - since < goodMs ? this.#failures + 1 : 1;
    this.#restUntil = now + backoffMs(this.#failures, Math.random());
  }
}
