/**
 * One simulated world: a disk, processes that come and go, users, tools and weather, all drawn from one seed. First
 * there is a storm, then the weather clears, and everything must come to rest.
 */
import { createHash } from "node:crypto";
import type { Ids } from "../../src/runtime/ids.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { Airwaves } from "./airwaves.ts";
import { Crowd } from "./crowd.ts";
import { type Call, type Disk, memoryDisk, sharedDisk, sqliteDisk } from "./disk.ts";
import { checkRest } from "./invariants/rest.ts";
import { hasPolicy } from "./invariants/waiting.ts";
import { Judge, type Violation } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import { Life } from "./life.ts";
import { hasEnded } from "./model.ts";
import { Staff } from "./staff.ts";
import { clockOf, Time } from "./time.ts";
import { toolsOf } from "./tools/tools.ts";
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
/** How often all is to be committed: what a process is still reading comes after the first time. */
const flushesMax = 5;
/** How long a process stands still: for longer than its lease, and where others are there for about as long. */
const pauseMs = [9_000, 25_000] as const;
const fleetPauseMs = [500, 9_000] as const;
/** How long a process that leaves others to go on waits for what it has under way. */
const drainMs = 5_000;
/** How often a process that starts is a client. */
const clientChance = 0.1;
/** More than this cannot happen in one moment unless something goes round in circles. */
const turnsMax = 2_000;
/** Runs are compared with the store after every so many commits. */
const compareEvery = 10;

/** The world of a seed: with one process at a time, or with as many members of a fleet. */
export async function simulate(seed: number, members = 0): Promise<Fate> {
  const world = new World(seed, members);
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
  readonly #users: Users;
  readonly #crowd: Crowd;
  readonly #staff: Staff;
  readonly #trace: Event[] = [];
  readonly #lives: Life[] = [];
  readonly #ids: Ids;
  readonly #airwaves: Airwaves;
  #weather: Weather;
  /** How many processes share the store; 0 where one at a time owns it. */
  readonly #members: number;
  /** Which of them is asked next. */
  readonly #turnsOf: Random;
  /** What they are: who only asks others to work, and who goes in good order. */
  readonly #manners: Random;
  /** Those that users are sent to. */
  #employed: readonly Life[] = [];
  #cuts = 0;
  #commits = 0;

  constructor(seed: number, members: number) {
    this.seed = seed;
    this.#members = members;
    const stream = (number: number): Random => createRandom(Math.imul(seed, 0x9e3779b1) + number);
    this.random = stream(1);
    this.#turnsOf = stream(5);
    this.#manners = stream(7);
    if (members > 0) this.disk = sharedDisk();
    else this.disk = seed % sqliteEvery === 0 ? sqliteDisk() : memoryDisk();
    this.#airwaves = new Airwaves({ time: this.time, random: stream(6), weather: () => this.#weather });
    this.#weather = drawWeather(this.random);
    const chance = stream(2);
    let ids = 0;
    this.#ids = { next: () => `id-${String(++ids).padStart(6, "0")}`, chance: () => chance.next() };
    this.#users = new Users({
      time: this.time,
      random: stream(3),
      ledger: this.ledger,
      judge: this.judge,
      current: () => this.#someone(),
      newest: (run, life) => this.#newest(run, life),
      doubt: (life) => this.#doubt(life),
      say: (life, text) => this.say(life, text),
    });
    // What only some worlds have is drawn apart: those without it are as if it had never been.
    const extra = stream(4);
    this.#crowd = new Crowd({
      ...{ time: this.time, random: this.random, ledger: this.ledger, judge: this.judge, users: this.#users },
      extra,
    });
    this.#staff = new Staff({
      ...{ time: this.time, disk: this.disk, random: extra, ledger: this.ledger, judge: this.judge },
      ...{ users: this.#users, crowd: this.#crowd },
      isShared: members > 0,
      current: () => this.#someone(),
      rest: () => this.#rest(),
      say: (life, text) => this.say(life, text),
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
    this.#staff.endow();
    for (let left = Math.max(1, this.#members); left > 0; left--) this.#boot();
    const storm = this.random.between(10_000, 90_000);
    this.#brew(storm);
    this.#crowd.operate(() => this.#weather === calm);
    await this.#until(storm);
    this.say(undefined, "the weather clears");
    this.#weather = calm;
    for (const life of this.#lives) this.#goOn(life);
    await this.#rest();
    await this.#staff.tidyUp();
    await this.#staff.upgrade();
    if (this.judge.violation === undefined) await this.#compareAll();
    await this.disk.dispose();
  }

  say(life: Life | undefined, text: string): void {
    this.#trace.push({ at: this.time.steady, life: life?.number, text });
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
    for (let flushes = 0; ; ) {
      await this.#until(this.time.steady + restEveryMs);
      if (this.judge.violation !== undefined) return;
      const waiting = { open: this.#users.open + this.#staff.open, waits: this.#users.waits };
      const left = checkRest(this.judge.model, waiting, this.#employed, this.time.now());
      const isFlushed = flushes === flushesMax || (flushes > 0 && this.judge.isFlushed());
      if (left === undefined && isFlushed) return this.judge.checkFlushed();
      if (left === undefined) {
        flushes++;
        this.#flush();
      } else if (this.time.steady >= end) return this.judge.report(8, left);
    }
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
    await this.#staff.compare();
  }

  // Processes.

  /** One of those that users are sent to; undefined while none is up. */
  #someone(): Life | undefined {
    return this.#employed.length > 1 ? this.#turnsOf.pick(this.#employed) : this.#employed[0];
  }

  #isShort(): boolean {
    return this.#employed.length < Math.max(1, this.#members);
  }

  /** What a process was told of is not forgotten by it; where several share the store, none is behind it. */
  #newest(run: string, { known }: Life): number {
    if (this.#members > 0) return this.judge.model.find({ run })?.head.seq ?? 0;
    return known.get(run) ?? 0;
  }

  /** Sees to it that enough processes are there: one that stood still and is not known to be of no use will do. */
  #boot(): void {
    if (!this.#isShort()) return;
    const idle = this.#lives.findLast((one) => isUp(one) && !one.isDoubted && !this.#employed.includes(one));
    if (idle === undefined) void this.#start(new Life(this.#lives.length + 1, this.disk.connect()));
    else this.#employ(idle);
  }

  /** One of them at most: the others must be enough to do all there is to do. */
  #mayBeClient(): boolean {
    return this.#members > 2 && this.#lives.every(({ isClient, status }) => !isClient || status === "dead");
  }

  async #start(life: Life): Promise<void> {
    life.isClient = this.#mayBeClient() && this.#manners.chance(clientChance);
    this.#lives.push(life);
    this.say(life, life.isClient ? "starts as a client" : "starts");
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
    const { slots } = this.#staff.traits;
    life.later = () => this.#crowd.later(tools, this.#staff.traits.deploying?.policy);
    try {
      life.wire = wireOf(this.#wire(), life);
      const runtime = await createRuntime({
        store: life.wire,
        clock: clockOf(this.time, life),
        ids: this.#ids,
        ...(life.isClient && { role: "client" }),
        ...(slots !== undefined && { flow: { slots } }),
        machines: [
          ...this.#crowd.kinds.map(({ machine }) => ({ machine, activities: tools })),
          ...(this.#crowd.isDeployed ? life.later() : []),
        ],
      });
      if (life.status === "dead") return;
      life.runtime = runtime;
      this.#staff.hire(life, runtime);
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

  #wire() {
    return {
      time: this.time,
      disk: this.disk,
      random: this.random,
      airwaves: this.#airwaves,
      weather: () => this.#weather,
      powerCuts: () => this.#cuts,
      crash: (life: Life, why: string) => this.#crash(life, why),
      asked: (life: Life, call: Call) => this.judge.asked(life, call),
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
    this.#employed = [...this.#employed, life];
    this.#probe(life);
  }

  #dismiss(life: Life): void {
    this.#employed = this.#employed.filter((one) => one !== life);
  }

  /** Looks after a process: whether it is still of use. */
  #probe(life: Life): void {
    this.time.after(5_000, () => {
      if (!this.#employed.includes(life) || life.status !== "alive") return;
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
    if (!this.#employed.includes(life)) return;
    this.#dismiss(life);
    this.time.after(this.random.between(100, 1_500), () => this.#boot());
  }

  /** Whoever keeps house stops before the process does. Some leave what is new to others, and end what they have first. */
  async #end({ keeper, runtime }: Life): Promise<void> {
    if (keeper !== undefined) await keeper.close();
    if (this.#members > 0 && this.#manners.chance(0.5)) await runtime?.drain(drainMs).catch(() => {});
    await runtime?.close().catch(() => {});
  }

  #crash(life: Life, why: string): void {
    if (life.status === "dead") return;
    this.say(life, `is killed ${why}`);
    life.kill();
    const known = this.random.chance(0.5);
    const isMissed = this.#employed.includes(life) || life.runtime === undefined;
    this.#dismiss(life);
    // Whoever finds a dead process on the same machine need not wait for its lease.
    if (known && life.epoch > 0 && this.#members === 0) this.#releaseFor(life);
    if (isMissed) this.time.after(this.random.between(50, 2_000), () => this.#boot());
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
    if (this.#staff.traits.deploying === undefined) this.#bringIn();
    else this.#staff.prepare(() => this.#bringIn());
  }

  #bringIn(): void {
    this.#crowd.isDeployed = true;
    const isDeployed = this.#staff.deploy();
    for (const life of this.#lives) {
      // Whoever is asked to deploy it does not have it before; where several could be, they all have.
      if (isDeployed && this.#members === 0 && this.#employed.includes(life)) continue;
      try {
        if (life.status !== "dead") life.deploy();
      } catch (error) {
        life.isBehind = true;
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
    this.#staff.plan(storm);
    const { kills, pauses, jumps, powerLosses, closes } = this.#weather;
    times(kills, () => this.#toSomeone((life) => this.#crash(life, "at some moment")));
    times(pauses, () => this.#pause());
    times(jumps, () => this.#jump());
    times(powerLosses, () => void this.#losePower());
    times(closes, () => this.#toSomeone((life) => this.#doubt(life)));
  }

  #toSomeone(happens: (life: Life) => void): void {
    const life = this.#someone();
    if (life !== undefined) happens(life);
  }

  /** The process stands still for longer than its lease, and another one takes its place. */
  #pause(): void {
    const life = this.#someone();
    if (life === undefined) return;
    // What it is about to do when it goes on, somebody else may have done by then.
    this.#crowd.burst();
    this.#staff.tidy();
    this.say(life, "stands still");
    life.pause();
    this.#dismiss(life);
    const [least, most] = this.#members > 0 ? fleetPauseMs : pauseMs;
    this.time.after(this.random.between(least, most), () => this.#goOn(life));
    this.time.after(this.random.between(100, 12_000), () => this.#boot());
  }

  #goOn(life: Life): void {
    if (life.status !== "paused") return;
    this.say(life, "goes on");
    life.resume((run) => this.time.after(0, run, life));
    if (isUp(life) && this.#isShort()) this.#employ(life);
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
    this.#employed = [];
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
