/** A process of the simulated world, from its start to its end: the production runtime with nothing of it replaced. */
import type { MachineEntry } from "holdfast";
import type { Housekeeper } from "../../src/runtime/housekeeping/index.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Commit, Store } from "../../src/store/store.ts";
import type { Call } from "./disk.ts";
import type { Owner } from "./time.ts";

export class Life implements Owner {
  readonly number: number;
  status: Owner["status"] = "alive";
  /** Its own connection to the disk. */
  readonly store: Store;
  /** The same as it sees it, with all that goes wrong on the way. */
  wire!: Store;
  /** Undefined until it is up. */
  runtime: Runtime | undefined;
  /** Keeps house in it, where somebody does. */
  keeper: Housekeeper | undefined;
  /** Gives it later versions of machines. */
  deploy: () => void = () => {};
  /** The later versions, with the tools that it has. */
  later: () => readonly MachineEntry[] = () => [];
  /** The right it was given last. */
  epoch = 0;
  worker = "";
  /** How often it has stood still. */
  stops = 0;
  /** Whether it has said that it is of no use any more. */
  isDoubted = false;
  /** Whether it sends and reads, and leaves all work to others. */
  isClient = false;
  /** Whether it did not take later versions of machines, which others have. */
  isBehind = false;
  /** The newest checkpoint of each run that it has been told of. */
  readonly known = new Map<string, number>();
  /** What it has asked of the store and not been told the outcome of. */
  readonly unanswered = new Set<Call>();
  /** Activities that it has begun with a commit of its own, and when it was told so. */
  readonly entered = new Map<string, { readonly run: string; readonly since: number }>();
  #held: (() => void)[] = [];
  readonly #mourners: (() => void)[] = [];

  constructor(number: number, store: Store) {
    this.number = number;
    this.store = store;
  }

  get name(): string {
    return `life ${this.number}`;
  }

  hold(run: () => void): void {
    this.#held.push(run);
  }

  /** Whoever is connected to it notices when it dies. */
  whenDead(run: () => void): void {
    if (this.status === "dead") run();
    else this.#mourners.push(run);
  }

  /** As kill -9: nothing of it ever happens again. */
  kill(): void {
    this.status = "dead";
    this.#held = [];
    for (const mourner of this.#mourners.splice(0)) mourner();
  }

  /** As SIGSTOP: it does not notice that time passes. */
  pause(): void {
    if (this.status !== "alive") return;
    this.status = "paused";
    this.stops++;
  }

  /** What has come meanwhile reaches it one after the other: between two of them it thinks what it has to. */
  resume(soon: (run: () => void) => void): void {
    if (this.status !== "paused") return;
    this.status = "alive";
    this.#held.splice(0).forEach(soon);
  }

  learn(run: string, seq: number): void {
    this.known.set(run, Math.max(seq, this.known.get(run) ?? 0));
  }

  /** It does not know what became of a commit: until it has read the run, nothing of it begins there. */
  doubt({ head: { run } }: Commit): void {
    for (const [key, one] of this.entered) if (one.run === run) this.entered.delete(key);
  }

  /** Whether what it has read of a run holds a commit of its own that it was not told the outcome of. */
  readsAhead(run: string, seq: number): boolean {
    const isIn = ({ head }: Commit) => head.run === run && head.seq <= seq;
    return [...this.unanswered].some(
      ({ verb, args }) => verb === "commit" && (args[0] as Commit[]).some(isIn),
    );
  }
}
