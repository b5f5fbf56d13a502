/**
 * A world of a seed: two versions of a random machine, live runs of the first on a real runtime, and somebody who sends
 * events, settles activities, lets time pass, crashes the process, deploys the second version and migrates runs there
 * and back. After everything that happens it comes to rest and is judged.
 *
 * E6. A migration or a deploy that is refused, or only tried, changes no byte of any run.
 * E7. There and back again over a migration that is declared reversible, a run is what it was.
 * E8. What is under way is seen to: every activity of an active run has one call, its end arrives, and no timer is
 *     overdue by more than a second.
 * E9. A deploy that is not to leave runs behind takes all or none; a run that may go on to its policy's version does.
 */
import { isDeepStrictEqual } from "node:util";
import { evolve } from "../../src/core/evolve/evolve.ts";
import {
  type ActivityScope,
  defineMigration,
  isHoldfastError,
  type Json,
  type Migration,
  type State,
} from "../../src/index.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import { drawPair, type Pair } from "../../test/evolution/pairs.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { storeKinds } from "../../test/runtime/stores.ts";
import { World } from "../../test/runtime/world.ts";
import { counted, Judge, type Leave, lettingGo } from "./judge.ts";

interface Call {
  readonly run: string;
  readonly key: string;
  readonly signal: AbortSignal;
  end(output: Json): void;
}

interface Book {
  readonly run: string;
  seq: number;
  state: State | null;
  /** Steps other than moves in what was read last. */
  stepped: boolean;
}

export interface Tally {
  steps: number;
  moves: number;
  told: number;
  dropped: number;
  runs: number;
  children: number;
  crashes: number;
  deploys: number;
  refused: number;
  returns: number;
}

type Phase = "none" | "draft" | "active";

const actionsPerWorld = 24;

export class EvolutionWorld {
  readonly judge: Judge;
  readonly #random: Random;
  readonly #pair: Pair;
  readonly #migration: Migration | undefined;
  readonly #policy: "pin" | "upgrade";
  readonly #calls = new Set<Call>();
  readonly #books: Book[] = [];
  readonly #counts = { runs: 0, crashes: 0, deploys: 0, refused: 0, returns: 0 };
  #here!: World;
  #runtime!: Runtime;
  #phase: Phase = "none";

  constructor(seed: number) {
    this.#random = createRandom(seed);
    this.#pair = drawPair(this.#random.below(0x7fff_ffff), { rich: this.#random.chance(0.6) });
    const { from, to, states } = this.#pair;
    const letsGo = this.#random.chance(0.3);
    const counts = this.#random.chance(0.4);
    const parts = {
      ...(letsGo ? lettingGo : {}),
      ...(states && { states: states.there }),
      ...(counts && { context: counted.there }),
    };
    // Other changes of a chart cannot be taken back.
    const isReversible = states !== undefined && !letsGo;
    const back = { ...(states && { states: states.back }), ...(counts && { context: counted.back }) };
    const isPlain = states === undefined && !letsGo && !counts;
    this.#migration = isPlain
      ? undefined
      : defineMigration(from, to, { ...parts, ...(isReversible && { back }) } as never);
    this.#policy = this.#random.chance(0.4) ? "upgrade" : "pin";
    this.judge = new Judge([from, to], this.#migration, { letsGo, counts, states });
  }

  get tally(): Tally {
    return { ...this.judge.counts, ...this.#counts, children: this.judge.children.count };
  }

  /** Lives through it; what is wrong is among the judge's violations. */
  async live(): Promise<void> {
    const kind = this.#random.chance(0.3) ? "SQLite" : "memory";
    this.#here = new World(await (storeKinds[kind] as (typeof storeKinds)["memory"] & {})());
    try {
      await this.#boot();
      for (let count = this.#random.between(1, 3); count > 0; count--) await this.#start();
      for (let turn = 0; turn < actionsPerWorld && this.#books.length > 0; turn++) {
        await this.#act();
        if (this.judge.violations.length > 0) return;
      }
      await this.#look({ moves: this.#isUpgrading(), drops: false });
    } catch (error) {
      this.judge.violate("error", error instanceof Error ? (error.stack ?? error.message) : String(error));
    } finally {
      await this.#here.dispose();
    }
  }

  async #boot(): Promise<void> {
    this.#calls.clear();
    const { from } = this.#pair;
    const entries = [{ machine: from, activities: this.#activities() }];
    this.#runtime = await this.#here.boot(this.#phase === "none" ? entries : [...entries, this.#second()]);
  }

  #second() {
    return {
      ...{ machine: this.#pair.to, activities: this.#activities(), evolution: this.#policy },
      ...(this.#migration && { migrations: [this.#migration] }),
    };
  }

  #activities() {
    const code = (_: unknown, { run, key, signal }: ActivityScope) =>
      new Promise<Json>((resolve, reject) => {
        // To tools its run is part of its name.
        const call: Call = { run, key: key.slice(run.length + 1), signal, end: resolve };
        this.#calls.add(call);
        signal.addEventListener("abort", () => {
          this.#calls.delete(call);
          reject(signal.reason);
        });
      });
    return { read: code, write: code, count: code, undo: () => 1 };
  }

  async #start(): Promise<void> {
    const run = `run-${this.#books.length}`;
    try {
      await this.#runtime.start(this.#pair.from, { id: run });
    } catch (error) {
      // A chart that goes round in circles does not begin.
      if (isHoldfastError(error)) return;
      throw error;
    }
    this.#counts.runs++;
    this.#books.push({ run, seq: 0, state: null, stepped: false });
    await this.#look({ moves: this.#isUpgrading(), drops: false });
  }

  #isUpgrading(): boolean {
    return this.#policy === "upgrade" && this.#phase === "active";
  }

  async #act(): Promise<void> {
    const roll = this.#random.next();
    const { run } = this.#random.pick(this.#books);
    if (roll < 0.3) await this.#send(run);
    else if (roll < 0.4) await this.#settle();
    else if (roll < 0.5) await this.#here.clock.advance(this.#random.between(1, 15));
    else if (roll < 0.58) await this.#crash();
    else if (roll < 0.7)
      return this.#phase === "none" || this.#random.chance(0.2) ? this.#deploy() : this.#trial(run);
    else if (this.#phase === "none") await this.#send(run);
    else if (roll < 0.85) return void (await this.#migrate(run));
    else return this.#thereAndBack(run);
    await this.#look({ moves: this.#isUpgrading(), drops: false });
  }

  async #send(run: string): Promise<void> {
    const handle = await this.#runtime.run(run);
    const { type, data } = this.#random.pick(this.#pair.events);
    const { status } = await handle.head();
    if (status === "active" || status === "parked") await handle.send(type, data as Json);
  }

  async #settle(): Promise<void> {
    const calls = [...this.#calls];
    if (calls.length === 0) return;
    const call = this.#random.pick(calls);
    const { state } = this.#books.find(({ run }) => run === call.run) as Book;
    const isWanted = state?.status === "active" && state.activities.some(({ key }) => key === call.key);
    this.#calls.delete(call);
    call.end(1);
    await this.#here.rest();
    const now = await (await this.#runtime.run(call.run)).head();
    if (!isWanted || now.status === "parked") return;
    for await (const { event } of (await this.#runtime.run(call.run)).journal())
      if (event.invocation === call.key) return;
    this.judge.violate("E8", `the end of activity ${call.key} of ${call.run} never came`);
  }

  async #crash(): Promise<void> {
    this.#counts.crashes++;
    await this.#here.crash(this.#runtime);
    await this.#boot();
  }

  async #deploy(): Promise<void> {
    this.#counts.deploys++;
    const before = await this.#stored();
    const drop = this.#random.chance(0.3);
    const leave = this.#random.chance(0.3);
    if (this.#random.chance(0.3)) {
      this.#runtime.register(this.#second() as never);
      if (this.#phase === "none") this.#phase = "active";
      return this.#look({ moves: this.#isUpgrading(), drops: false });
    }
    try {
      await this.#runtime.machines.deploy(this.#second() as never, { drop, leave });
      this.#phase = "active";
    } catch (error) {
      if (!isHoldfastError(error) || !["DEPLOY_REFUSED", "MACHINE_IN_USE"].includes(error.code)) throw error;
      // A version that runs go by already stays what it is.
      if (error.code === "DEPLOY_REFUSED") this.#phase = "draft";
      await this.#here.rest();
      return this.#same(before, "a deploy that was refused");
    }
    await this.#look({ moves: this.#policy === "upgrade", drops: drop });
    if (this.#policy === "pin" || leave) return;
    for (const { run, state } of this.#books)
      if (state?.status === "active" && state.version !== this.#pair.to.version)
        this.judge.violate("E9", `a deploy has left ${run} behind`);
  }

  /** Whoever reads a run of a machine that upgrades takes it to its new version; here that has happened before. */
  async #wake(): Promise<void> {
    if (!this.#isUpgrading()) return;
    for (const { run } of this.#books) await (await this.#runtime.run(run)).state();
    await this.#look({ moves: true, drops: false });
  }

  /** Asks what would become of all runs, and of one. */
  async #trial(run: string): Promise<void> {
    await this.#wake();
    const before = await this.#stored();
    const to = this.#random.pick([1, 2]);
    const options = { to, dryRun: true, drop: this.#random.chance(0.3) };
    for await (const _ of this.#runtime.machines.migrate(this.#pair.from.id, options));
    const handle = await this.#runtime.run(run);
    if ((await handle.head()).status === "active") await handle.migrate(options);
    await this.#here.rest();
    await this.#same(before, "a migration that was only tried");
  }

  async #migrate(run: string): Promise<boolean> {
    await this.#wake();
    const handle = await this.#runtime.run(run);
    const { status, version } = await handle.head();
    const drops = this.#random.chance(0.4);
    const to = this.#random.chance(0.8) ? 3 - version : version;
    return status === "active" ? this.#go(handle, { to, drop: drops }) : false;
  }

  async #go(handle: Run, { to, drop }: { readonly to: number; readonly drop: boolean }): Promise<boolean> {
    const before = await this.#stored();
    try {
      await handle.migrate({ to, drop });
    } catch (error) {
      if (!isHoldfastError(error) || error.code !== "MIGRATION_REFUSED") throw error;
      this.#counts.refused++;
      await this.#here.rest();
      await this.#same(before, "a migration that was refused");
      return false;
    }
    await this.#look({ moves: true, drops: drop });
    return true;
  }

  async #thereAndBack(run: string): Promise<void> {
    const book = this.#books.find((one) => one.run === run) as Book;
    const before = book.state as State;
    const isReversible = this.#migration?.back !== undefined && this.#policy === "pin";
    if (!isReversible || before.status !== "active" || before.version !== 1) return;
    const handle = await this.#runtime.run(run);
    if ((await handle.head()).status !== "active") return;
    if (!(await this.#go(handle, { to: 2, drop: false }))) return;
    const there = book.state as State;
    // What the machine itself does of a move is its own business, and cannot be taken back.
    const isQuiet = there.status === "active" && isDeepStrictEqual(pendingKeys(there), pendingKeys(before));
    if (!isQuiet || !isDeepStrictEqual(withoutMoves(there), withoutMoves(before))) return;
    const returned = await this.#go(handle, { to: 1, drop: false });
    this.#counts.returns++;
    if (!returned || !isDeepStrictEqual(book.state, { ...before, seq: before.seq + 2 }))
      this.judge.violate("E7", `${run} went there and back, and is not what it was`);
  }

  async #stored() {
    return Promise.all(this.#books.map(({ run }) => this.#here.stored(run)));
  }

  async #same(before: unknown, what: string): Promise<void> {
    if (!isDeepStrictEqual(await this.#stored(), before))
      this.judge.violate("E6", `${what} has changed runs`);
  }

  /** Reads what has come, once all is at rest, and judges it. */
  async #look(leave: Leave): Promise<void> {
    await this.#here.rest();
    for (const book of this.#books) {
      const run = await this.#runtime.run(book.run);
      book.stepped = false;
      for await (const entry of run.journal(book.seq + 1)) {
        book.state = this.judge.read(book.run, book.state, entry, leave);
        book.seq = entry.seq;
        if (entry.event.type !== "migrate") book.stepped = true;
      }
      const { status } = await run.head();
      if (status === "active") this.#seenTo(book, book.state as State);
      const store = await this.#here.look();
      const headOf = (child: string) => store.readHead({ tenant: "default", run: child });
      const parent = { run: book.run, parked: status === "parked" };
      await this.judge.children.compare(parent, book.state as State, headOf);
    }
  }

  #seenTo({ run, stepped }: Book, state: State): void {
    const now = this.#here.clock.now();
    const calls = [...this.#calls].filter((call) => call.run === run).map(({ key }) => key);
    const keys = state.activities.map(({ key }) => key);
    if (!isDeepStrictEqual(calls.sort(), keys.sort()))
      this.judge.violate("E8", `${run} waits for the activities ${keys}, and under way are ${calls}`);
    for (const { key, due } of state.timers)
      if (due <= now)
        this.judge.violate("E8", `the timer ${key} of ${run} was due at ${due}, and it is ${now}`);
    if (!stepped || !this.#isUpgrading() || state.version === this.#pair.to.version) return;
    const { from, to } = this.#pair;
    const migration = this.#migration && { migration: this.#migration };
    if (evolve(from, to, state, { at: now, run, ...migration }).outcome === "moved")
      this.judge.violate("E9", `${run} could go to version ${to.version}, and stays`);
  }
}

const pendingKeys = ({ timers, activities, children, deferred }: State) => ({
  keys: [...timers, ...activities, ...children].map(({ key }) => key),
  deferred,
});

const withoutMoves = ({ context }: State): object => {
  const { moves: _, ...rest } = context as { moves?: number };
  return rest;
};
