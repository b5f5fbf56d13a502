/**
 * One life of a process: a runtime whose clock and store die with it, as after `kill -9`. What it was about to do never
 * happens; what the store has done stays done. It may die, and its clock may be set, in the middle of any store call.
 */
import type { Clock } from "../../src/runtime/clock.ts";
import type { Store } from "../../src/store/store.ts";
import type { Random } from "../../test/generate/random.ts";

export interface LifeWorld {
  readonly clock: Omit<Clock, "now">;
  readonly random: Random;
  now(): number;
  /** The clock is set, in the middle of whatever is going on. */
  jump(): void;
  /** The store has a new owner since this time. */
  began(at: number): void;
  /** Its owner was alive at this time. */
  sign(at: number): void;
  violated(rule: string, what: string): void;
}

/**
 * Calls with which an outage becomes known. The clock is not set in the middle of these, which would make it a matter of
 * opinion how long the outage was; and nobody dies between them, since an owner that dies before it has noted an outage
 * takes it along: that is a weakness of the store's port, which forgets the owner before.
 */
const bootCalls: ReadonlySet<string> = new Set(["open", "own", "release", "readDocument", "writeDocument"]);

export class Life {
  readonly #world: LifeWorld;
  /** What is stored, for whoever looks at it from outside. */
  readonly stored: Store;
  readonly clock: Clock;
  readonly store: Store;
  readonly died: Promise<"died">;
  #die: (death: "died") => void = () => {};
  /** Store calls until it dies, or its clock is set. */
  diesIn = Number.POSITIVE_INFINITY;
  jumpsIn = Number.POSITIVE_INFINITY;
  alive = true;
  /** Its right to step runs, for whoever knows that it is gone. */
  lease: { readonly worker: string; readonly epoch: number } | undefined;

  constructor(inner: Store, world: LifeWorld) {
    this.#world = world;
    this.stored = inner;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    const whileAlive = (run: () => void) => () => {
      if (this.alive) run();
    };
    this.clock = {
      now: () => world.now(),
      after: (ms, run) => world.clock.after(ms, whileAlive(run)),
      soon: (run) => world.clock.soon(whileAlive(run)),
    };
    this.store = new Proxy(inner, {
      get: (_, verb: keyof Store) => (this.#verb(verb) as unknown) ?? undefined,
    });
  }

  /** Ends it as SIGKILL would. */
  kill(): void {
    if (!this.alive) return;
    this.alive = false;
    this.#die("died");
    // The system closes the files of a dead process.
    void this.stored.close();
  }

  #verb(verb: keyof Store): (...given: unknown[]) => Promise<unknown> {
    return (...given) => this.#call(verb, given);
  }

  async #call(verb: keyof Store, given: unknown[]): Promise<unknown> {
    if (!this.alive) return never();
    const isBoot = bootCalls.has(verb);
    const dies = --this.diesIn <= 0 && !isBoot;
    if (!isBoot) this.jumpsIn--;
    const { random } = this.#world;
    if (dies && random.chance(0.5)) return this.#end();
    if (!isBoot && this.jumpsIn <= 0 && verb !== "commit") this.#jump();
    if (verb === "commit") this.#checkTimes(given[0] as { entries: { at: number }[] }[]);
    const answer = await (this.stored[verb] as (...given: unknown[]) => Promise<unknown>)(...given);
    this.#note(verb, given, answer);
    if (dies) return this.#end();
    if (!isBoot && this.jumpsIn <= 0) this.#jump();
    // Some answers take longer than others.
    for (let turns = random.chance(0.2) ? random.below(12) : 0; turns > 0; turns--) await undefined;
    return this.alive ? answer : never();
  }

  #end(): Promise<never> {
    this.kill();
    return never();
  }

  #jump(): void {
    this.jumpsIn = Number.POSITIVE_INFINITY;
    this.#world.jump();
  }

  /** A step is taken at the time the clock shows, and no other. */
  #checkTimes(commits: readonly { readonly entries: readonly { readonly at: number }[] }[]): void {
    const now = this.#world.now();
    for (const { entries } of commits)
      for (const { at } of entries)
        if (at !== now) this.#world.violated("T1", `a step of ${at} is committed at ${now}`);
  }

  #note(verb: keyof Store, given: readonly unknown[], answer: unknown): void {
    if (verb === "release" && given[2] !== undefined) this.#world.sign(given[2] as number);
    if (verb !== "own") return;
    const lease = answer as { readonly outcome: string; readonly epoch: number };
    if (lease.outcome !== "owned") return;
    const at = given[2] as number;
    if (this.lease === undefined) this.#world.began(at);
    else this.#world.sign(at);
    this.lease = { worker: given[0] as string, epoch: lease.epoch };
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
