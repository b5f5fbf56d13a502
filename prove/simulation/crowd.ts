/** The crowd: which runs the users of a world want, and what they do in it next. All of it is drawn. */
import type { MachineEntry } from "holdfast";
import type { Activity } from "../../src/runtime/activity/attempt.ts";
import type { LimitSource } from "../../src/runtime/budget.ts";
import type { EvolutionPolicy } from "../../src/runtime/registry.ts";
import type { Random } from "../../test/generate/random.ts";
import { stopOf } from "./invariants/holding.ts";
import type { Judge } from "./judge.ts";
import type { Ledger, Sent } from "./ledger.ts";
import type { Kind } from "./machines/kind.ts";
import { kinds } from "./machines/kinds.ts";
import { hasEnded, type ModelRun } from "./model.ts";
import type { Time } from "./time.ts";
import type { Users, Wanted } from "./users.ts";

export interface CrowdWorld {
  readonly time: Time;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly users: Users;
  readonly judge: Judge;
  /** For what only some worlds have. */
  readonly extra: Random;
}

export class Crowd {
  /** The kinds of run in this world. */
  readonly kinds: Kind[] = [];
  /** Whether later versions of them are there by now. */
  isDeployed = false;
  readonly #world: CrowdWorld;
  readonly #wanted: Wanted[] = [];
  #sent = 0;
  #forks = 0;

  constructor(world: CrowdWorld) {
    this.#world = world;
  }

  /** The later versions of the kinds that have one, with what becomes of runs of the first. */
  later(activities: Readonly<Record<string, Activity>>, evolution: EvolutionPolicy = "pin"): MachineEntry[] {
    return this.kinds.flatMap(({ later }) =>
      later === undefined
        ? []
        : [{ machine: later.machine, activities, evolution, migrations: [later.migration] }],
    );
  }

  /** Draws the runs there will be, and has them begun. */
  settle(): void {
    const { random, time, users } = this.#world;
    const chosen = random.some(Object.entries(kinds), random.between(1, 3));
    for (const [name, kind] of chosen) {
      this.kinds.push(kind);
      const count = random.between(kind.runsMin ?? 1, kind.runsMax);
      for (let number = 1; number <= count; number++)
        this.#wanted.push({
          ...{ name: `${name}-${number}`, kind, input: kind.input(random) },
          limits: random.chance(limited(kind)) ? drawLimits(random) : undefined,
        });
    }
    for (const wanted of this.#wanted) time.after(random.between(0, 2_000), () => void users.begin(wanted));
  }

  /** More runs, of kinds that are there for a purpose. */
  invite(name: string, kind: Kind): void {
    const { extra, time, users } = this.#world;
    this.kinds.push(kind);
    for (let number = extra.between(kind.runsMin ?? 1, kind.runsMax); number > 0; number--) {
      const wanted = { name: `${name}-${number}`, kind, input: kind.input(extra), limits: undefined };
      this.#wanted.push(wanted);
      time.after(extra.between(0, 2_000), () => void users.begin(wanted));
    }
  }

  /** Sends a lot to all runs of a kind at once. */
  flood(kind: Kind, least: number, most: number): void {
    const { extra, ledger, users } = this.#world;
    for (const one of this.#wanted)
      if (one.kind === kind && ledger.begun.has(one.name))
        for (let count = extra.between(least, most); count > 0; count--)
          void users.send(this.#draw(one.name, kind, extra.chance(0.75)));
  }

  /** Sees to what needs a person, now and then: runs that are parked, and letters that nobody took. */
  operate(isCalm: () => boolean): void {
    const { time, random } = this.#world;
    time.after(random.between(2_000, 4_000), () => {
      for (const wanted of this.#wanted) if (isCalm() || random.chance(0.6)) this.#mend(wanted, isCalm());
      if (random.chance(0.3)) this.#tidy();
      this.operate(isCalm);
    });
  }

  #mend({ name, kind }: Wanted, isCalm: boolean): void {
    const { judge, users, random, time } = this.#world;
    const run = judge.model.find({ run: name });
    // In the end nobody holds anything still.
    if (run?.debug !== undefined && !hasEnded(run.head) && (isCalm || random.chance(0.4)))
      void users.travellers.stopAt(name, []);
    if (run?.head.status !== "parked") return;
    const park = run.entries.findLast(({ event }) => event.type === "park");
    const isHeld = park !== undefined && stopOf(park) !== undefined;
    if (isHeld && !isCalm && random.chance(0.4))
      return void users.travellers.advance(name, random.between(1, 3));
    if (!isHeld && kind.mends === undefined) return;
    // Some try without having fixed anything, and see it parked again.
    if (!isHeld && kind.mends !== undefined && random.chance(0.8))
      void users.send({ ...this.#draw(name, kind, true), type: kind.mends });
    time.after(random.between(0, 1_000), () => void users.retry(name));
  }

  #tidy(): void {
    const accounts = this.#wanted.filter(({ kind }) => kind === kinds.account);
    if (accounts.length === 0 && this.#world.random.chance(0.7)) return;
    // However often it is tried, a letter goes to the same account.
    void this.#world.users.tidy((number) => accounts[number % accounts.length]?.name ?? "nobody");
  }

  /** Does something with one run; mostly sends it a few things at once. */
  burst(): void {
    const { random, ledger, users, time } = this.#world;
    const { name, kind } = random.pick(this.#wanted);
    if (!ledger.begun.has(name)) return;
    const drawn = random.next();
    const mayWait = kind.cancellable && !users.waits.has(name);
    if (drawn < 0.04 && kind.cancellable) {
      // Somebody else wants to know how it ends.
      if (mayWait && random.chance(0.7)) void users.wait(name);
      return void users.cancel(name);
    }
    if (drawn < 0.1) return void users.read(name);
    if (drawn < 0.12 && kind.machine.definition.checkpoint !== undefined) return void users.checkpoint(name);
    if (drawn < 0.14 && mayWait) return void users.wait(name);
    if (drawn < 0.2 && !kind.asks)
      return void users.sendAll(
        Array.from({ length: drawBatch(random) }, () => this.#draw(name, kind, true)),
      );
    if (drawn < 0.4 && kind.speaks !== undefined) return void this.#listen(name, kind.speaks);
    // What comes a little later may meet what the first ones led to.
    const spreadMs = random.chance(0.3) ? random.pick([2, 20, 200]) : 0;
    for (let count = random.pick([1, 1, 1, 2, 2, 3, 5]); count > 0; count--) {
      const sent = this.#draw(name, kind, random.chance(0.75));
      const isTwice = !kind.asks && sent.key !== undefined && random.chance(0.15);
      const send = () => void (kind.asks ? users.ask(sent) : users.send(sent));
      if (spreadMs > 0) time.after(random.between(0, spreadMs), send);
      else send();
      if (isTwice) send();
    }
  }

  /** Takes a run somewhere else, or holds it still. */
  journey(): void {
    const { random, ledger, users, judge } = this.#world;
    const { travellers } = users;
    const begun = this.#wanted.filter(({ name, kind }) => kind.forks !== undefined && ledger.begun.has(name));
    if (begun.length === 0) return;
    // To take along what is under way is the hard part.
    const busy = begun.filter((wanted) => isUnderWay(judge.model.find({ run: wanted.name })));
    const { name, kind } = random.pick(busy.length > 0 && random.chance(0.6) ? busy : begun);
    const { stops, later } = kind;
    const seq = judge.model.find({ run: name })?.entries.length ?? 0;
    const back = () => travellers.goBack(name, drawTarget(random, seq));
    const fork = () => this.#fork(name, kind, random.chance(0.7) ? random.between(1, seq) : undefined);
    const migrate = () => travellers.migrate(name, random.chance(0.8) ? 2 : 1, random.chance(0.3));
    const pause = () => travellers.pause(name);
    const stop = () => travellers.stopAt(name, random.some(stops ?? [], random.between(1, 2)));
    const all = [
      ...(kind.goesBack && seq > 1 ? [back, back, back] : []),
      ...(seq > 0 ? [fork] : []),
      ...(later !== undefined && this.isDeployed ? [migrate, migrate, migrate] : []),
      ...(stops === undefined ? [] : [pause, stop]),
    ];
    if (all.length > 0) void random.pick(all)();
  }

  /** A fork is wanted like any other run once it has begun. */
  async #fork(run: string, kind: Kind, at: number | undefined): Promise<void> {
    const { random, ledger, users, judge } = this.#world;
    const name = `${run}-${++this.#forks}`;
    const status = judge.model.find({ run })?.entries[(at ?? 0) - 1]?.stepped.state.status ?? "active";
    // A run that has ended can be forked from where it had not.
    if (status !== "active") return;
    if (random.chance(0.5)) ledger.edits.add(name);
    if (!(await users.travellers.fork(name, run, kind, at))) return;
    this.#wanted.push({ name, kind, input: null, limits: undefined });
    ledger.begun.add(name);
  }

  /** Listens to something that the run has under way, or had. */
  #listen(name: string, tool: string): void {
    const { random, ledger, users } = this.#world;
    const keys = [...ledger.starts.values()]
      .map(([first]) => first)
      .filter((first) => first?.run === name && first.activity === tool)
      .map((first) => first?.key.slice(name.length + 1) as string);
    if (keys.length > 0) void users.listen(name, random.pick(keys.slice(-2)));
  }

  #draw(run: string, kind: Kind, keyed: boolean): Sent {
    const { random, ledger } = this.#world;
    const peers = this.#wanted
      .filter((one) => one.kind === kind && ledger.begun.has(one.name))
      .map((one) => one.name);
    const n = ++this.#sent;
    const key = keyed ? `key ${n}` : undefined;
    return { ...kind.order(n, random, peers), run, key, tries: 0, acked: undefined, over: false };
  }
}

/** Whether a run waits for activities or for children. */
function isUnderWay(run: ModelRun | undefined): boolean {
  return run !== undefined && run.state.activities.length + run.state.children.length > 0;
}

/** How often a run is limited: more often where it leaves something to be undone. */
function limited({ cancellable, machine }: Kind): number {
  if (!cancellable) return 0;
  return machine.chart.compensates ? 0.6 : 0.25;
}

/** A checkpoint to go back to, or how many to go back by. */
function drawTarget(random: Random, seq: number): { readonly to: number } | { readonly by: number } {
  if (random.chance(0.4)) return { to: random.between(1, seq) };
  return { by: random.between(1, Math.min(4, seq - 1)) };
}

/** Most batches fit into one turn. */
function drawBatch(random: Random): number {
  return random.chance(0.05) ? 70 : random.between(2, 6);
}

function drawLimits(random: Random): LimitSource {
  const [steps, time] = [random.between(3, 30), random.between(5_000, 60_000)];
  const [tokens, cost] = [random.between(1, 150), random.between(1, 30) / 4];
  return random.pick<LimitSource>([{ steps }, { time }, { tokens }, { cost }, { tokens, cost, steps }]);
}
