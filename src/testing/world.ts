/**
 * The world a test lives in: the real runtime, a store, a clock that stands still, scripted activities, and processes
 * that come and go.
 *
 * W1. A crash is a real one for the runtime: its store never answers again, its clock never rings, and what it had in
 *     memory is gone. The next process takes over in the same moment.
 * W2. Nothing is left to chance: ids are counted, and what is random follows from the seed and the time, so that neither
 *     a repetition nor a crash changes it.
 */
import { describeError } from "../core/describe-error.ts";
import type { Json } from "../core/json.ts";
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { Activity, ActivityScope } from "../runtime/activity/attempt.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import type { Ids } from "../runtime/ids.ts";
import type { AnyMachine, MachineEntry } from "../runtime/registry.ts";
import { createRuntime, type Problem, type Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";
import { Mirror } from "./mirror.ts";
import { type Blow, type Life, newLife, Traffic } from "./mortal-store.ts";
import { Answers, type Places, type Scripted } from "./script.ts";
import { VirtualClock } from "./virtual-clock.ts";

export type Scripts = Readonly<Record<string, Scripted>>;

export interface WorldOptions {
  readonly machines: readonly (AnyMachine | MachineEntry)[];
  readonly scripts: Scripts;
  /** A store on the data of this world, made anew for each of its processes. */
  readonly connect: () => Store;
  readonly seed: number;
  /** What the clock shows in the beginning. */
  readonly at: number;
  readonly blow?: Blow;
  readonly places?: Places;
}

/** One attempt of an activity, as the test saw it. */
export interface Call {
  readonly activity: string;
  readonly input: Json | undefined;
  readonly run: string;
  /** The same for every attempt. */
  readonly key: string;
  readonly attempt: number;
  readonly at: number;
  /** Which process made it; 1 is the first. */
  readonly process: number;
  /** `given up`: it took too long, or was cancelled. `cut off`: its process died first. */
  readonly outcome: "running" | "done" | "failed" | "given up" | "cut off";
  readonly output?: unknown;
  readonly error?: unknown;
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };

interface Process {
  readonly life: Life;
  readonly runtime: Runtime;
}

/** So many turns of the event loop without anything happening are taken for rest. */
const quietTurns = 4;

export class World {
  readonly clock: VirtualClock;
  readonly traffic: Traffic;
  readonly mirror = new Mirror();
  readonly answers: Answers;
  readonly calls: Writable<Call>[] = [];
  readonly problems: Problem[] = [];
  /** How many processes there have been. */
  processes = 0;
  readonly #options: WorldOptions;
  #store: Store;
  #life: Life = newLife();
  #living = Promise.withResolvers<Process>();
  #ids = 0;
  #soons = 0;
  /** Counts whatever happens that is no call of the store. */
  #happened = 0;

  constructor(options: WorldOptions) {
    this.#options = options;
    this.traffic = new Traffic(options.blow);
    this.answers = new Answers(options.places);
    this.#store = options.connect();
    const nextDue = () => this.#store.nextDue(Number.NEGATIVE_INFINITY);
    this.clock = new VirtualClock(options.at, { rest: () => this.rest(), nextDue });
  }

  /** The names of all activities there are. */
  get activities(): readonly string[] {
    const { machines, scripts } = this.#options;
    const own = machines.flatMap((given) => ("chart" in given ? [] : Object.keys(given.activities ?? {})));
    return [...new Set([...Object.keys(scripts), ...own])];
  }

  /** A machine by its name, child machines included. */
  machine(id: string): AnyMachine | undefined {
    const search = (machines: readonly AnyMachine[]): AnyMachine | undefined => {
      for (const machine of machines) {
        const found = machine.id === id ? machine : search(Object.values(machine.machines) as AnyMachine[]);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return search(this.#options.machines.map((given) => ("chart" in given ? given : given.machine)));
  }

  /** Starts the first process. */
  async open(): Promise<void> {
    await this.#boot();
    await this.settle();
  }

  async close(): Promise<void> {
    if (this.#life.dead) return this.#store.close();
    await (await this.#living.promise).runtime.close();
  }

  /** Does something with the runtime; if its process dies meanwhile, it is done again with that of the next. */
  async during<Value>(work: (runtime: Runtime) => Promise<Value>): Promise<Value> {
    for (;;) {
      const { runtime, life } = await this.#living.promise;
      const done = work(runtime).then((value) => ({ value }));
      const result = await Promise.race([done, life.death]);
      if (result !== undefined) return result.value;
    }
  }

  /** Kills the process that is running; the next one starts with the next rest. */
  kill(): void {
    this.#life.die();
  }

  /** Lets everything come to rest, and looks at what is stored then. */
  async settle(): Promise<void> {
    await this.rest();
    await this.look();
  }

  async look(): Promise<void> {
    await this.mirror.refresh(this.#store, this.traffic.runs.values());
  }

  /** Resolves when nothing is under way any more, and a process is there. */
  async rest(): Promise<void> {
    let seen = -1;
    let noise = 0;
    for (let quiet = 0; quiet < quietTurns; ) {
      await turn();
      if (this.#life.dead) await this.#reboot();
      const sum = this.traffic.made + this.#happened;
      const isQuiet = this.traffic.pending === 0 && this.#soons === 0 && sum === seen;
      quiet = isQuiet ? quiet + 1 : 0;
      if (sum !== seen && ++noise > limits.restTurnsMax) throw restless();
      seen = sum;
    }
  }

  async #reboot(): Promise<void> {
    const { lease } = this.#life;
    while (this.traffic.pending > 0) await turn();
    if (lease !== undefined) {
      // It was there until now, however long ago it was asked to say so; and its successor sees that it is gone.
      await this.#store.own(lease.worker, lease.ms, this.clock.now());
      await this.#store.release(lease.worker, lease.epoch, undefined);
    }
    await this.#store.close();
    this.#store = this.#options.connect();
    await this.#boot();
  }

  async #boot(): Promise<void> {
    const life = newLife();
    this.#life = life;
    this.processes++;
    const soons = { pending: 0 };
    let booted = false;
    void life.death.then(() => {
      this.#soons -= soons.pending;
      for (const call of this.calls) if (call.outcome === "running") call.outcome = "cut off";
      if (booted) this.#living = Promise.withResolvers();
    });
    const clock = this.#clockOf(life, soons);
    const runtime = await Promise.race([
      createRuntime({
        ...{ store: this.traffic.over(this.#store, life), clock, ids: this.#makeIds() },
        machines: this.#options.machines.map((given) => this.#bind(given, life, clock)),
        onProblem: (problem) => void this.problems.push(problem),
      }),
      life.death,
    ]);
    if (runtime === undefined || life.dead) return;
    booted = true;
    this.#living.resolve({ life, runtime });
  }

  /** The common clock, as one process sees it while it lives. */
  #clockOf(life: Life, soons: { pending: number }): Clock {
    return {
      now: () => this.clock.now(),
      after: (ms, run) => {
        const ring = () => {
          if (!life.dead) run();
        };
        // Saying that one is alive matters to nobody here.
        const isRenewal = life.lease !== undefined && ms === life.lease.ms / 3;
        return isRenewal ? this.clock.whenIdleAfter(ms, ring) : this.clock.after(ms, ring);
      },
      soon: (run) => {
        this.#soons++;
        soons.pending++;
        systemClock.soon(() => {
          if (life.dead) return;
          this.#soons--;
          soons.pending--;
          run();
        });
      },
    };
  }

  #makeIds(): Ids {
    const { seed } = this.#options;
    return {
      next: () => `id-${String(++this.#ids).padStart(12, "0")}`,
      chance: () => chanceOf(seed, this.clock.now()),
    };
  }

  /** A machine whose activities are the scripted ones, unless it brings its own; all of them are recorded. */
  #bind(given: AnyMachine | MachineEntry, life: Life, clock: Clock): MachineEntry {
    const { scripts } = this.#options;
    const entry: MachineEntry = "chart" in given ? { machine: given } : given;
    const all: Scripts = { ...scripts, ...entry.activities };
    const activities = Object.fromEntries(
      Object.entries(all).map(([name, script]): [string, Activity] => [
        name,
        (input, scope) => this.#call(name, script, { input, scope, life, clock }),
      ]),
    );
    return { ...entry, activities };
  }

  async #call(
    activity: string,
    script: Scripted,
    given: { input: Json | undefined; scope: ActivityScope; life: Life; clock: Clock },
  ): Promise<unknown> {
    const { input, scope, life, clock } = given;
    const { run, key, attempt } = scope;
    const call: Writable<Call> = {
      ...{ activity, input, run, key, attempt, at: this.clock.now(), process: this.processes },
      outcome: "running",
    };
    this.calls.push(call);
    this.#happened++;
    scope.signal.addEventListener("abort", () => {
      if (call.outcome === "running" && !life.dead) call.outcome = "given up";
    });
    const sleep = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
    const world = { now: () => this.clock.now(), sleep };
    try {
      const output = await this.answers.give(script, { activity, input, scope }, world);
      if (call.outcome === "running") Object.assign(call, { outcome: "done", output });
      return output;
    } catch (error) {
      if (call.outcome === "running") Object.assign(call, { outcome: "failed", error: describeError(error) });
      throw error;
    } finally {
      this.#happened++;
    }
  }
}

/** The next turn of the event loop. */
function turn(): Promise<void> {
  return new Promise((resolve) => systemClock.soon(resolve));
}

/** A number from 0 up to 1 that follows from the seed and the time. */
function chanceOf(seed: number, now: number): number {
  let mixed = Math.imul(seed ^ (now | 0), 0x9e37_79b1) ^ Math.imul(Math.floor(now / 2 ** 32), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b_3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a_2d39);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

function restless(): HoldfastError {
  return new HoldfastError(
    "SIMULATION_UNBOUNDED",
    `The test did not come to rest after ${limits.restTurnsMax} turns; put a delay between sends that go on for ever`,
  );
}
