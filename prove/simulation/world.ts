/**
 * One simulated world: a disk, processes that come and go, users, tools and weather, all drawn from one seed. First
 * there is a storm, then the weather clears, and everything must come to rest.
 */
import { createHash } from "node:crypto";
import { Housekeeper } from "../../src/runtime/housekeeping/index.ts";
import type { Ids } from "../../src/runtime/ids.ts";
import { createRuntime, type Runtime } from "../../src/runtime/runtime.ts";
import { noSeal } from "../../src/runtime/seal.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { Backups } from "./backups.ts";
import { Crowd } from "./crowd.ts";
import { Deployers } from "./deployers.ts";
import { type Call, type Disk, memoryDisk, sqliteDisk } from "./disk.ts";
import type { Tidy } from "./invariants/keeping.ts";
import { checkRest, type Waiting } from "./invariants/rest.ts";
import { compareJournal, compareRows } from "./invariants/stored.ts";
import { checkUpgraded } from "./invariants/travel.ts";
import { hasPolicy } from "./invariants/waiting.ts";
import { Judge, type Violation } from "./judge.ts";
import { Keepers } from "./keepers.ts";
import { Ledger } from "./ledger.ts";
import { Life } from "./life.ts";
import { guests, kinds } from "./machines/kinds.ts";
import { hasEnded } from "./model.ts";
import { clockOf, Time } from "./time.ts";
import { toolsOf } from "./tools/tools.ts";
import { drawTraits, type Traits } from "./traits.ts";
import { Users } from "./users.ts";
import { calm, drawWeather, type Weather } from "./weather.ts";
import { wireOf } from "./wire.ts";

/** What became of a world. */
export interface Fate {
  readonly seed: number;
  readonly violation: Violation | undefined;
  readonly steps: number;
  readonly lives: number;
  readonly acked: number;
  readonly trace: readonly Event[];
}

/** Something that happened in a world, and the process it happened to. */
export interface Event {
  readonly at: number;
  readonly life: number | undefined;
  readonly text: string;
}

export function showEvent({ at, life, text }: Event): string {
  const time = (at / 1_000).toFixed(3).padStart(8);
  return life === undefined ? `${time} ${text}` : `${time} life ${life}: ${text}`;
}

/** Every so many worlds one is on SQLite. */
const sqliteEvery = 50;
/** How long things may take to come to rest: longer than any wait in the machines, and all the clock was set back. */
const restMsMax = 600_000;
const restEveryMs = 4_000;
/** More than this cannot happen in one moment unless something goes round in circles. */
const turnsMax = 2_000;
/** What goes with one tidying may keep others from going with the same. */
const tidiesMax = 4;
/** Runs are compared with the store after every so many commits. */
const compareEvery = 10;

export async function simulate(seed: number): Promise<Fate> {
  const world = new World(seed);
  // Errors are part of the weather; where they come from costs more than the rest of the world.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const unhandled = (error: unknown) =>
    world.judge.report(8, `a process dies of a promise nobody heeds: ${error}`);
  process.on("unhandledRejection", unhandled);
  try {
    await world.live();
  } finally {
    process.off("unhandledRejection", unhandled);
    Error.stackTraceLimit = stackTraceLimit;
  }
  return world.fate();
}

export function traceHash({ trace }: Fate): string {
  return createHash("sha256").update(trace.map(showEvent).join("\n")).digest("base64url");
}

class World {
  readonly seed: number;
  readonly time = new Time();
  readonly ledger = new Ledger();
  readonly judge = new Judge(this.ledger, this.time);
  readonly disk: Disk;
  readonly random: Random;
  /** For what only some worlds have: those without it are as if it had never been. */
  readonly #extra: Random;
  readonly #users: Users;
  readonly #crowd: Crowd;
  readonly #keepers: Keepers;
  readonly #deployers: Deployers;
  readonly #backups: Backups;
  readonly #trace: Event[] = [];
  readonly #lives: Life[] = [];
  readonly #ids: Ids;
  #traits!: Traits;
  #weather: Weather;
  #current: Life | undefined;
  #cuts = 0;
  #commits = 0;

  constructor(seed: number) {
    this.seed = seed;
    const stream = (number: number): Random => createRandom(Math.imul(seed, 0x9e3779b1) + number);
    this.random = stream(1);
    this.#extra = stream(4);
    this.disk = seed % sqliteEvery === 0 ? sqliteDisk() : memoryDisk();
    this.#weather = drawWeather(this.random);
    const chance = stream(2);
    let ids = 0;
    this.#ids = { next: () => `id-${String(++ids).padStart(6, "0")}`, chance: () => chance.next() };
    this.#users = new Users({
      time: this.time,
      random: stream(3),
      ledger: this.ledger,
      judge: this.judge,
      current: () => this.#current,
      doubt: (life) => this.#doubt(life),
      say: (life, text) => this.say(life, text),
    });
    this.#keepers = new Keepers({
      ...{ time: this.time, random: this.#extra, ledger: this.ledger, judge: this.judge },
      current: () => this.#current,
      insist: (call) => this.#users.insist(call),
      say: (life, text) => this.say(life, text),
    });
    this.#backups = new Backups({
      ...{ time: this.time, disk: this.disk, ledger: this.ledger, judge: this.judge },
      current: () => this.#current,
      say: (life, text) => this.say(life, text),
    });
    this.#deployers = new Deployers({
      judge: this.judge,
      insist: (call) => this.#users.insist(call),
      say: (life, text) => this.say(life, text),
    });
    this.#crowd = new Crowd({
      ...{ time: this.time, random: this.random, ledger: this.ledger, judge: this.judge, users: this.#users },
      extra: this.#extra,
    });
  }

  fate(): Fate {
    const { seed, judge, ledger } = this;
    return {
      seed,
      violation: judge.violation,
      steps: judge.steps,
      lives: this.#lives.length,
      acked: ledger.sent.filter(({ acked }) => acked !== undefined).length,
      trace: this.#trace,
    };
  }

  async live(): Promise<void> {
    await this.disk.reader.open();
    this.#crowd.settle();
    this.#endow();
    this.#boot();
    const storm = this.random.between(10_000, 90_000);
    this.#brew(storm);
    this.#crowd.operate(() => this.#weather === calm);
    await this.#until(storm);
    this.say(undefined, "the weather clears");
    this.#weather = calm;
    for (const life of this.#lives) this.#goOn(life);
    await this.#rest();
    await this.#tidyUp();
    await this.#upgrade();
    if (this.judge.violation === undefined) await this.#compareAll();
    await this.disk.dispose();
  }

  say(life: Life | undefined, text: string): void {
    this.#trace.push({ at: this.time.steady, life: life?.number, text });
  }

  /** Draws what this world has and others have not. */
  #endow(): void {
    const ending = this.#crowd.kinds.filter(({ cancellable }) => cancellable);
    this.#traits = drawTraits(
      this.#extra,
      [...ending, guests.archive].map(({ machine }) => machine.id),
    );
    const { floods, slots, house, deploying } = this.#traits;
    this.judge.slots = slots;
    this.judge.keeping.house = house;
    if (floods > 0) this.#crowd.invite("mill", guests.mill);
    if (house !== undefined) this.#crowd.invite("archive", guests.archive);
    if (deploying === undefined || this.#crowd.kinds.some(({ later }) => later !== undefined)) return;
    const [name, kind] = this.#extra.pick(
      Object.entries(kinds).filter(([, { later }]) => later !== undefined),
    );
    this.#crowd.invite(name, kind);
  }

  // Time.

  async #until(steady: number): Promise<void> {
    let [moment, turns] = [this.time.steady, 0];
    while (this.judge.violation === undefined && this.time.advance(steady)) {
      await turn();
      for (; this.disk.busy !== undefined; await turn()) await this.disk.busy.catch(() => {});
      turns = this.time.steady === moment ? turns + 1 : 0;
      moment = this.time.steady;
      if (turns > turnsMax) this.judge.report(8, "something goes round in circles and time stands still");
    }
    await turn();
  }

  async #rest(): Promise<void> {
    const end = this.time.steady + restMsMax;
    for (let isFlushed = false; ; ) {
      await this.#until(this.time.steady + restEveryMs);
      if (this.judge.violation !== undefined) return;
      const left = checkRest(this.judge.model, this.#waiting(), this.#current, this.time.now());
      if (left === undefined && isFlushed) return this.judge.checkFlushed();
      if (left === undefined) {
        isFlushed = true;
        this.#flush();
      } else if (this.time.steady >= end) return this.judge.report(8, left);
    }
  }

  /** What somebody still waits for. */
  #waiting(): Waiting {
    const open = [this.#users, this.#keepers, this.#deployers, this.#backups].reduce(
      (sum, one) => sum + one.open,
      0,
    );
    return { open, waits: this.#users.waits };
  }

  /** In the end the house is tidied until nothing is left that may go. */
  async #tidyUp(): Promise<void> {
    if (this.#traits.house === undefined) return;
    let tidied: Tidy | undefined;
    for (let times = 0; times < tidiesMax && this.judge.violation === undefined; times++) {
      void this.#keepers.tidy().then((tidy) => {
        tidied = tidy;
      });
      await this.#rest();
    }
    if (this.judge.violation !== undefined) return;
    if (tidied === undefined) return this.judge.report(8, "nobody tidies in fine weather");
    this.judge.keeping.tidied(tidied);
  }

  /** In the end whatever can go to a later version goes, where runs are upgraded. */
  async #upgrade(): Promise<void> {
    if (this.ledger.upgrades === undefined || this.judge.violation !== undefined) return;
    for (const { machine, later } of this.#crowd.kinds)
      if (later !== undefined) void this.#deployers.deploy(machine.id, { leave: true });
    await this.#rest();
    const { model, report } = this.judge;
    for (const run of model.runs.values()) checkUpgraded(run, report);
  }

  /** Has everything committed that may wait for it. */
  #flush(): void {
    for (const run of this.judge.model.runs.values())
      if (hasPolicy(run) && !hasEnded(run.head)) void this.#users.checkpoint(run.head.run);
  }

  async #compareAll(): Promise<void> {
    this.judge.checkKept();
    await this.judge.compareLetters(this.disk.reader);
    for (const run of this.judge.model.runs.values()) await this.judge.compare(this.disk.reader, run);
    if (this.#traits.house === undefined || this.judge.violation !== undefined) return;
    const { model, report } = this.judge;
    for (const run of model.runs.values()) await compareJournal(this.disk.reader, run, report);
    await compareRows(this.disk.reader, model, report);
  }

  // Processes.

  /** Sees to it that a process is there: one that stood still and is not known to be of no use will do. */
  #boot(): void {
    if (this.#current !== undefined) return;
    const idle = this.#lives.findLast((one) => isUp(one) && !one.isDoubted);
    if (idle === undefined) void this.#start(new Life(this.#lives.length + 1, this.disk.connect()));
    else this.#employ(idle);
  }

  async #start(life: Life): Promise<void> {
    this.#lives.push(life);
    this.say(life, "starts");
    const tools = toolsOf(
      {
        time: this.time,
        random: this.random,
        ledger: this.ledger,
        judge: this.judge,
        isCalm: () => this.#weather === calm,
        say: (who, text) => this.say(who, text),
      },
      life,
    );
    life.later = () => this.#crowd.later(tools, this.#traits.deploying?.policy);
    try {
      life.wire = wireOf(this.#wire(), life);
      const runtime = await createRuntime({
        store: life.wire,
        clock: clockOf(this.time, life),
        ids: this.#ids,
        ...(this.#traits.slots !== undefined && { flow: { slots: this.#traits.slots } }),
        machines: [
          ...this.#crowd.kinds.map(({ machine }) => ({ machine, activities: tools })),
          ...(this.#crowd.isDeployed ? life.later() : []),
        ],
      });
      if (life.status === "dead") return;
      life.runtime = runtime;
      this.#hire(life, runtime);
      life.deploy = () => {
        for (const later of life.later()) runtime.register(later);
      };
      if (this.#crowd.isDeployed) life.deploy();
      this.say(life, "is up");
      void runtime.stopped.then((error) => {
        if (error !== undefined && life.status !== "dead") this.#doubt(life);
      });
      this.#employ(life);
    } catch (error) {
      if (life.status === "dead") return;
      this.say(life, `cannot start: ${(error as { code?: string }).code ?? error}`);
      life.kill();
      // Whoever keeps trying while somebody else's lease is good only costs time.
      this.time.after(this.random.between(2_000, 9_000), () => this.#boot());
    }
  }

  /** Somebody who keeps house in a process, in a world where somebody does. */
  #hire(life: Life, runtime: Runtime): void {
    const { house } = this.#traits;
    if (house === undefined) return;
    life.keeper = new Housekeeper(
      {
        ...{ store: life.wire, clock: clockOf(this.time, life), seal: noSeal, epoch: () => life.epoch },
        ...{ runtime, problem: (error) => this.judge.report(8, `keeping house gave ${error}`) },
      },
      { expire: house.expire, retain: house.retain, prune: house.prune },
    );
  }

  #wire() {
    return {
      time: this.time,
      disk: this.disk,
      random: this.random,
      weather: () => this.#weather,
      powerCuts: () => this.#cuts,
      crash: (life: Life, why: string) => this.#crash(life, why),
      performed: (life: Life, call: Call, result: unknown) => this.#performed(life, call, result),
      // A process knows what it was told once it has had time to think about it.
      answered: (life: Life, call: Call, result: unknown) =>
        void this.time.after(0, () => this.judge.answered(life, call, result)),
      say: (life: Life, text: string) => this.say(life, text),
    };
  }

  #performed(life: Life, call: Call, result: unknown): void {
    this.judge.keeping.performed(life, call, result);
    this.judge.performed(call, result);
    if (call.verb !== "commit") return;
    this.say(life, `commit ${showCommit(call, result)}`);
    if (++this.#commits % compareEvery > 0) return;
    const runs = [...this.judge.model.runs.values()];
    const run = runs[this.#commits % runs.length];
    if (run !== undefined && this.disk.underway === 1) void this.judge.compare(this.disk.reader, run);
  }

  /** Users are sent to this process from now on. */
  #employ(life: Life): void {
    this.#current = life;
    this.#probe(life);
  }

  /** Looks after a process: whether it is still of use. */
  #probe(life: Life): void {
    this.time.after(5_000, () => {
      if (life !== this.#current || life.status !== "alive") return;
      void this.#users.probe();
      this.#probe(life);
    });
  }

  /** A process that says it is of no use is ended, one way or another, and another one is started. */
  #doubt(life: Life): void {
    if (life.isDoubted) return;
    life.isDoubted = true;
    this.say(life, "is of no use");
    if (this.random.chance(0.5)) life.kill();
    else void this.#end(life);
    if (life !== this.#current) return;
    this.#current = undefined;
    this.time.after(this.random.between(100, 1_500), () => this.#boot());
  }

  /** Whoever keeps house stops before the process does. */
  async #end({ keeper, runtime }: Life): Promise<void> {
    if (keeper !== undefined) await keeper.close();
    await runtime?.close().catch(() => {});
  }

  #crash(life: Life, why: string): void {
    if (life.status === "dead") return;
    this.say(life, `is killed ${why}`);
    life.kill();
    const known = this.random.chance(0.5);
    const isCurrent = life === this.#current || life.runtime === undefined;
    if (life === this.#current) this.#current = undefined;
    // Whoever finds a dead process on the same machine need not wait for its lease.
    if (known && life.epoch > 0) this.#releaseFor(life);
    if (isCurrent) this.time.after(this.random.between(50, 2_000), () => this.#boot());
  }

  #releaseFor({ worker, epoch }: Life): void {
    const call: Call = { verb: "release", args: [worker, epoch, undefined] };
    void this.disk.reader.release(worker, epoch, undefined).then(() => {
      this.disk.wrote({ ...call, result: undefined });
      this.judge.performed(call, undefined);
    });
  }

  /** Later versions of machines come into processes that are up, and into all that start from now on. */
  #deploy(): void {
    if (this.#traits.deploying === undefined) {
      this.#bringIn();
      return;
    }
    // So that something is under way when it comes.
    for (const kind of this.#crowd.kinds) if (kind.later !== undefined) this.#crowd.flood(kind, 2, 5);
    this.time.after(this.#extra.between(50, 1_500), () => this.#bringIn());
  }

  #bringIn(): void {
    const { deploying } = this.#traits;
    this.#crowd.isDeployed = true;
    if (deploying?.policy === "upgrade") this.ledger.upgrades = { drop: deploying.options.drop === true };
    if (deploying !== undefined)
      for (const { machine, later } of this.#crowd.kinds)
        if (later !== undefined) void this.#deployers.deploy(machine.id, deploying.options);
    for (const life of this.#lives) {
      // Whoever is asked to deploy it does not have it before.
      if (deploying !== undefined && life === this.#current) continue;
      try {
        if (life.status !== "dead") life.deploy();
      } catch (error) {
        this.say(life, `takes no later versions: ${(error as { code?: string }).code ?? error}`);
      }
    }
  }

  // Weather.

  #brew(storm: number): void {
    const { random, time } = this;
    const sometime = (run: () => void) => time.after(random.next() * storm, run);
    const times = (count: number, run: () => void) => {
      for (let left = count; left > 0; left--) sometime(run);
    };
    // Where little happens, what was forgotten is not found again by accident.
    times(random.pick([3, 6, 12, 20, 30]), () => this.#crowd.burst());
    times(random.pick([0, 1, 2, 4, 7]), () => this.#crowd.journey());
    if (random.chance(0.8)) time.after((random.next() * storm) / 2, () => this.#deploy());
    this.#brewMore(storm);
    const { kills, pauses, jumps, powerLosses, closes } = this.#weather;
    times(kills, () => this.#current && this.#crash(this.#current, "at some moment"));
    times(pauses, () => this.#pause());
    times(jumps, () => this.#jump());
    times(powerLosses, () => void this.#losePower());
    times(closes, () => this.#current && this.#doubt(this.#current));
  }

  /** What only some worlds have. */
  #brewMore(storm: number): void {
    const extra = this.#extra;
    const times = (count: number, run: () => void) => {
      for (let left = count; left > 0; left--) this.time.after(extra.next() * storm, run);
    };
    const { floods, house, backups } = this.#traits;
    if (this.disk.folder !== undefined) times(backups, () => void this.#backups.make());
    times(floods, () => this.#crowd.flood(guests.mill, 3, 6));
    if (house === undefined) return;
    times(extra.between(2, 4), () => this.#crowd.flood(guests.archive, 2, 5));
    times(house.tidies, () => void this.#keepers.tidy());
    times(house.holds, () => void this.#keepers.mind([...this.ledger.begun]));
  }

  /** The process stands still for longer than its lease, and another one takes its place. */
  #pause(): void {
    const life = this.#current;
    if (life === undefined) return;
    // What it is about to do when it goes on, somebody else may have done by then.
    this.#crowd.burst();
    if (this.#traits.house !== undefined) void this.#keepers.tidy();
    this.say(life, "stands still");
    life.pause();
    this.#current = undefined;
    this.time.after(this.random.between(9_000, 25_000), () => this.#goOn(life));
    this.time.after(this.random.between(100, 12_000), () => this.#boot());
  }

  #goOn(life: Life): void {
    if (life.status !== "paused") return;
    this.say(life, "goes on");
    life.resume();
    if (isUp(life) && this.#current === undefined) this.#employ(life);
  }

  #jump(): void {
    const ms = this.random.pick([-60_000, -5_000, -1, 1, 5_000, 60_000, 300_000]);
    this.say(undefined, `the clock jumps by ${ms} ms`);
    this.time.jump(ms);
  }

  async #losePower(): Promise<void> {
    const left = this.disk.losePower(this.random);
    if (left === undefined) return;
    this.#cuts++;
    this.say(undefined, "the power fails");
    this.#current = undefined;
    for (const life of this.#lives) life.kill();
    this.judge.powerFailed(await left);
    this.#boot();
  }
}

function isUp({ status, runtime }: Life): boolean {
  return status === "alive" && runtime !== undefined;
}

/** Lets everything that follows from what just happened run to its end. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function showCommit({ args }: Call, result: unknown): string {
  const commits = args[0] as { head: { run: string; seq: number }; expect: number }[];
  const outcomes = result as { outcome: string }[];
  return commits
    .map(({ head, expect }, index) => `${head.run} ${expect}→${head.seq} ${outcomes[index]?.outcome}`)
    .join(", ");
}
