/**
 * A random world: runs with timers and schedules on one store, in virtual time, through lives of the process that end
 * well or badly, outages, and clocks that are set. Everything follows from the seed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createRuntime,
  defineMachine,
  isHoldfastError,
  type Json,
  type Machine,
  type Runtime,
} from "../../src/index.ts";
import { memory } from "../../src/store/memory/store.ts";
import { sqlite } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { VirtualClock } from "../../src/testing/virtual-clock.ts";
import { createRandom, type Random } from "../../test/generate/random.ts";
import { rules, zones } from "./almanac.ts";
import { Audit } from "./audit.ts";
import { Life, type LifeWorld } from "./life.ts";
import { machineOf } from "./machine.ts";
import { RunModel } from "./model.ts";
import { drawPlan, type Plan, policies, sendIds } from "./plan.ts";
import { ScheduleModel } from "./schedule-model.ts";
import { drawJump, drawSpan, hour, minute, second } from "./span.ts";

/** Times near which clocks are changed somewhere, and ends of years and Februaries. */
const beginnings = [
  ...["2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z", "2026-03-08T02:00:00Z", "2026-11-01T02:00:00Z"],
  ...["2026-04-04T10:00:00Z", "2026-10-03T10:00:00Z", "2027-12-31T20:00:00Z", "2028-02-28T20:00:00Z"],
].map((text) => Date.parse(text));

/** How long nothing may disturb a world that is looked at. */
const calmMs = 10 * second;
/** How long a dead owner may hold up the next: its lease, twice over when the clock was set back. */
const heldMs = 30 * second;

/** How often promises get their turns before a schedule must have fired all it has to. */
const restsMax = 1_000;

const notebook = defineMachine({ id: "notebook", initial: "open", states: { open: { on: { tick: {} } } } });
const mark = defineMachine({ id: "mark", initial: "made", states: { made: { type: "final" } } });

export class World implements LifeWorld {
  readonly random: Random;
  readonly clock: VirtualClock;
  readonly audit: Audit;
  readonly #setsBack: boolean;
  readonly #openStore: () => Store;
  readonly #folder: string | undefined;
  readonly #plans: readonly Plan[];
  readonly #machines: readonly Machine[];
  #numbers = 0;
  #aliveAt: number | undefined;
  #calmSince = 0;
  #draining = false;
  #life!: Life;
  #runtime!: Runtime;

  constructor(seed: number) {
    const random = createRandom(seed);
    this.random = random;
    this.clock = new VirtualClock(random.pick(beginnings) + random.below(12 * hour));
    this.#setsBack = random.chance(0.4);
    this.audit = new Audit(!this.#setsBack);
    this.#plans = Array.from({ length: random.between(1, 3) }, (_, index) => drawPlan(random, `m${index}`));
    this.#machines = [...this.#plans.map(machineOf), notebook as Machine, mark as Machine];
    this.#folder = random.chance(0.1) ? mkdtempSync(join(tmpdir(), "holdfast-timers-")) : undefined;
    const one = memory();
    const path = join(this.#folder ?? "", "world.db");
    // A process that is killed loses nothing that SQLite was told, also without a flush to the disk.
    this.#openStore = this.#folder === undefined ? () => one : () => sqlite(path, { synchronous: "normal" });
  }

  /** Lives through it; what went wrong is in the audit's violations. */
  async run(): Promise<void> {
    const { random, audit } = this;
    try {
      await this.#boot(true);
      for (let acts = random.between(40, 120); acts > 0 && audit.violations.length === 0; acts--) {
        if (this.#life.alive) await this.#act();
        else await this.#comeBack(true);
      }
      if (audit.violations.length === 0) await this.#drain();
    } catch (error) {
      // Nothing here is meant to fail: a runtime that stops by itself is as bad as a timer that does not fire.
      this.violated("error", (error as Error).stack ?? String(error));
    } finally {
      audit.counts.outages = audit.outages.length;
      this.#life.kill();
      if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    }
  }

  /** What the clock shows, in whole milliseconds as real ones do. */
  now(): number {
    return Math.floor(this.clock.now());
  }

  // What lives tell.

  began(at: number): void {
    if (this.#aliveAt !== undefined && this.#aliveAt < at)
      this.audit.outages.push({ from: this.#aliveAt, until: at });
    this.#aliveAt = at;
  }

  sign(at: number): void {
    this.#aliveAt = at;
  }

  jump(): void {
    const back = this.#setsBack && this.random.chance(0.5);
    this.clock.jump(back ? -drawJump(this.random) : drawJump(this.random));
    this.audit.counts.jumps++;
    if (back) this.audit.counts.setBack++;
    this.#calmSince = this.now();
  }

  violated(rule: string, what: string): void {
    this.audit.violated(rule, what);
  }

  // Lives and deaths.

  async #comeBack(mayDie: boolean): Promise<void> {
    const { random, clock } = this;
    if (random.chance(0.6)) this.jump();
    // Never at the same moment: what happened before and after can then be told apart.
    clock.jump(1 + random.below(20 * second));
    const { lease } = this.#life;
    // Whoever knows that a process is gone need not wait for its lease; see `isGone`.
    if (lease !== undefined && random.chance(0.5)) {
      const store = this.#openStore();
      await store.open();
      await store.release(lease.worker, lease.epoch, undefined);
      if (this.#folder !== undefined) await store.close();
    }
    await this.#boot(mayDie);
  }

  /** The next life begins, as soon as the lease of the last one lets it; it may end right away. */
  async #boot(mayDie: boolean): Promise<void> {
    const { random, clock, audit } = this;
    for (let waited = 0; waited <= heldMs; waited += 2 * second) {
      const life = new Life(this.#openStore(), this);
      this.#life = life;
      if (mayDie && random.chance(0.1)) life.diesIn = random.between(1, 12);
      const runtime = await Promise.race([this.#create(life), life.died]);
      this.#calmSince = this.now();
      if (runtime === "died") {
        audit.counts.crashes++;
        return;
      }
      if (runtime !== undefined) {
        this.#runtime = runtime;
        audit.counts.lives++;
        return;
      }
      life.kill();
      await clock.advance(2 * second);
    }
    this.violated("lease", `a dead owner holds up the next for more than ${heldMs} ms`);
  }

  async #create({ store, clock }: Life): Promise<Runtime | undefined> {
    const ids = { next: () => `${this.#numbers++}`.padStart(12, "0"), chance: () => this.random.next() };
    try {
      return await createRuntime({ store, clock, ids, machines: this.#machines });
    } catch (error) {
      if (isHoldfastError(error) && error.code === "STORE_OWNED") return undefined;
      throw error;
    }
  }

  /** Does something with a runtime that may die on the way; says whether it lived. */
  async #try(work: () => Promise<unknown>): Promise<boolean> {
    const life = this.#life;
    await Promise.race([work(), life.died]);
    await this.clock.advance(0);
    return life.alive;
  }

  // What happens.

  async #act(): Promise<void> {
    const { random, clock, audit } = this;
    const life = this.#life;
    const dice = random.next();
    if (dice < 0.12 && audit.models.length < 20) await this.#startRun();
    else if (dice < 0.15 && audit.schedules.length < 3) await this.#setSchedule();
    else if (dice < 0.5) await this.#send();
    else if (dice < 0.75) await clock.advance(random.below(random.chance(0.2) ? 10 * minute : minute));
    else if (dice < 0.81) {
      this.jump();
      await clock.advance(random.below(20 * second));
    } else if (dice < 0.85) life.diesIn = random.between(1, 60);
    else if (dice < 0.88) life.jumpsIn = random.between(1, 40);
    else if (dice < 0.92) await this.#lookAtRest();
    else if (dice < 0.96) life.kill();
    else if (await this.#try(() => this.#runtime.close())) life.kill();
    if (!life.alive) audit.counts.crashes++;
  }

  async #startRun(): Promise<void> {
    const { random, audit } = this;
    const name = `run${audit.models.length}`;
    const peer = `run${random.below(audit.models.length + 1)}`;
    audit.models.push(new RunModel(random.pick(this.#plans), name, peer, audit));
    await this.#try(() => this.#ensureRuns());
  }

  /** Runs and schedules whose beginning was lost in a crash begin now. */
  async #ensureRuns(): Promise<void> {
    for (const { plan, name, peer } of this.audit.models) {
      const machine = this.#machines[this.#plans.indexOf(plan)] as Machine;
      await this.#runtime.start(machine, { id: name, input: { name, peer } });
    }
    for (const { spec } of this.#draining ? [] : this.audit.schedules) {
      const { id, rule, zone, catchUp, starts } = spec;
      await this.#runtime.start(notebook, { id: "notebook" });
      const what = starts ? { start: { machine: mark } } : { send: { run: "notebook", type: "tick" } };
      await this.#runtime.schedule(id, { cron: rule.cron, timezone: zone, catchUp, ...what });
    }
  }

  async #setSchedule(): Promise<void> {
    const { random, audit } = this;
    const catchUp = random.pick(["one", "one", "none", "all"] as const);
    // To make up for all of ten years takes a rare pattern.
    const rule = random.pick(catchUp === "all" ? rules.slice(-3) : rules);
    const id = `schedule${audit.schedules.length}`;
    const spec = { id, rule, zone: random.pick(zones), catchUp, starts: random.chance(0.3) };
    audit.schedules.push(
      new ScheduleModel(spec, audit.counts, (broken, what) => audit.violated(broken, what)),
    );
    audit.counts.schedules++;
    await this.#try(() => this.#ensureRuns());
  }

  async #send(): Promise<void> {
    const { random, audit } = this;
    if (audit.models.length === 0) return;
    const model = random.pick(audit.models);
    const n = `n${this.#numbers++}`;
    const [type, data] = this.#drawEvent(n);
    const options = random.chance(0.5) ? { key: n } : {};
    await this.#try(async () => {
      try {
        const run = await this.#runtime.run(model.name);
        await run.send(type, data, options);
        audit.acked.set(n, model);
      } catch (error) {
        if (!isHoldfastError(error) || !["RUN_UNKNOWN", "RUN_ENDED"].includes(error.code)) throw error;
      }
    });
  }

  #drawEvent(n: string): [string, Json] {
    const { random } = this;
    const id = random.pick(sendIds);
    const dice = random.next();
    if (dice < 0.55) {
      const to = random.chance(0.3) ? { to: random.pick(this.audit.models).name } : {};
      const named = random.chance(0.5) ? { id } : {};
      return ["set", { n, ms: drawSpan(random), policy: random.pick(policies), ...named, ...to }];
    }
    if (dice < 0.8) return ["go", { n, region: random.below(2), to: random.below(4) }];
    if (dice < 0.9) return ["cancel", { n, id }];
    return dice < 0.99 ? ["reset", { n, region: random.below(2) }] : ["finish", { n }];
  }

  /** Nothing disturbs it for a while; then everything must be as the models say. */
  async #lookAtRest(): Promise<void> {
    const { audit, clock, random } = this;
    const life = this.#life;
    life.diesIn = Number.POSITIVE_INFINITY;
    life.jumpsIn = Number.POSITIVE_INFINITY;
    // A timer fires whether or not somebody asks for its run.
    const told = random.chance(0.5);
    if (told) await this.#try(() => this.#ensureRuns());
    await clock.advance(calmMs);
    // To make up for years takes a while; that it comes to an end is part of the promise.
    for (let rests = 0; rests < restsMax && (await audit.isFiring(life.stored)); rests++)
      await clock.advance(0);
    for (let rests = 0; rests < 5; rests++) await clock.advance(0);
    await audit.check(life.stored, this.now(), { told, calmSince: this.#calmSince });
  }

  /** The end: no new timers are set, and the clock goes on until none is left. */
  async #drain(): Promise<void> {
    const { audit, clock, random } = this;
    while (!this.#life.alive) await this.#comeBack(false);
    await this.#lookAtRest();
    await this.#ensureRuns();
    this.#draining = true;
    for (const { name } of audit.models) {
      const run = await this.#runtime.run(name);
      if ((await run.head()).status === "active") await run.send("quiet");
    }
    for (const { spec } of audit.schedules) await (await this.#runtime.run(spec.id)).send("stop");
    const { stored } = this.#life;
    for (let rounds = 0; audit.violations.length === 0; rounds++) {
      await this.#lookAtRest();
      const dues = await audit.pending(stored);
      if (dues.length === 0) break;
      // Sometimes to the next one only, and to the last after a while.
      const until = rounds > 10 ? Math.max(...dues) : random.pick(dues);
      clock.jump(Math.max(0, until - this.now()));
      this.#calmSince = this.now();
    }
    if (audit.violations.length === 0) await audit.checkEnd(stored);
  }
}
