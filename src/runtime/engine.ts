/**
 * The engine behind the façade: finds runs, hands them events, and sees to what follows from a commit. Every decision is
 * the step loop's, every promise the store's.
 */
import { type Event, type EventShape, startEvent } from "../core/event.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import { matches } from "../core/query.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import { decode, encode } from "../store/codec.ts";
import { type Entry, genesis, readEntry } from "../store/journal.ts";
import type { InboxRow, RunName } from "../store/records.ts";
import type { CommitOutcome, Store } from "../store/store.ts";
import { Activities } from "./activity.ts";
import { Alarm } from "./alarm.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type Clock, systemClock } from "./clock.ts";
import { hydrate } from "./hydrate.ts";
import { type Ids, systemIds } from "./ids.ts";
import { type Delivery, type Handled, hasEnded, type LiveRun, newRun } from "./live-run.ts";
import { checkName } from "./name.ts";
import { Ownership } from "./ownership.ts";
import { createRegistry, eventPriority, type Registry } from "./registry.ts";
import type { Receipt, Run, Runtime, RuntimeOptions, StartOptions } from "./run.ts";
import { noSeal, type Seal } from "./seal.ts";
import { fencedError, StepLoop } from "./step-loop.ts";
import { Watchers } from "./watchers.ts";
import { workerName } from "./worker.ts";

const defaultTenant = "default";
/** How many runs are looked for at a time when something is due. */
const dueMax = 1_000;

export class Engine implements Runtime {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #seal: Seal;
  readonly #registry: Registry;
  readonly #options: RuntimeOptions;
  readonly #loop: StepLoop;
  readonly #activities: Activities;
  /** Runs in memory, by tenant and id. */
  readonly #live = new Map<string, LiveRun>();
  readonly #loading = new Map<string, Promise<LiveRun | undefined>>();
  readonly #watchers = new Watchers();
  readonly #ownership: Ownership;
  readonly #alarm: Alarm;
  #closed = false;
  #failure: unknown;

  constructor(options: RuntimeOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? systemIds;
    this.#seal = options.seal ?? noSeal;
    this.#registry = createRegistry(options.machines);
    const fail = (error: unknown) => this.#fail(error);
    this.#ownership = new Ownership(this.#store, this.#clock, workerName(this.#ids.next()), fail);
    this.#alarm = new Alarm(this.#clock, () => void this.#wakeDue().catch(fail));
    this.#loop = new StepLoop({
      store: this.#store,
      clock: this.#clock,
      seal: this.#seal,
      epoch: () => this.#ownership.epoch,
      ids: this.#ids,
      registry: this.#registry,
      published: (checkpoint) => this.#publish(checkpoint),
      lost: (run, deliveries, outcome) => void this.#recover(run, deliveries, outcome),
      failed: (error) => this.#fail(error),
    });
    this.#activities = new Activities({
      clock: this.#clock,
      ids: this.#ids,
      record: (row) => this.#store.recordActivity(row, this.#ownership.epoch),
      settle: (name, event) => void this.#settle(name, event),
      encode: (name, value) => this.#seal.close(encode(value), this.#owner(name)),
      decode: (name, bytes) => decode(this.#seal.open(bytes, this.#owner(name)), "an activity") as JsonObject,
    });
  }

  async open(): Promise<void> {
    await this.#store.open();
    await this.#ownership.take();
    await this.#wakeDue();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#alarm.stop();
    this.#loop.close();
    this.#activities.close();
    this.#watchers.fail(closedError());
    await this.#ownership.giveBack();
    await this.#store.close();
  }

  async start<Context, Ev extends EventShape, Input>(
    machine: Machine<Context, Ev, Input>,
    options: StartOptions = {},
  ): Promise<Run<Context>> {
    this.#check();
    const { id = this.#ids.next(), tenant = defaultTenant, input } = options;
    checkName("run", id);
    checkName("tenant", tenant);
    if (options.subject !== undefined) checkName("subject", options.subject);
    const name: RunName = { tenant, run: id };
    const existing = await this.#find(name);
    if (existing === undefined) await this.#begin(name, machine.id, machine.version, options);
    else await this.#checkSame(existing, machine.id, input);
    return this.#handle(name) as Run<Context>;
  }

  async run(id: string, { tenant = defaultTenant }: { readonly tenant?: string } = {}): Promise<Run> {
    this.#check();
    await this.#read({ tenant, run: id });
    return this.#handle({ tenant, run: id });
  }

  #begin(name: RunName, machine: string, version: number, options: StartOptions): Promise<Handled> {
    const bound = this.#registry.read(machine, version);
    const { subject = name.run, attributes = {} } = options;
    const run = newRun(name, bound, { subject, attributes }, this.#clock.now());
    this.#live.set(keyOf(name), run);
    return this.#deliver(run, startEvent(options.input)).catch((error: unknown) => {
      this.#live.delete(keyOf(name));
      throw error;
    });
  }

  /** The same id with another machine or input is a mistake, not the same run. */
  async #checkSame({ head }: LiveRun, machine: string, input: Json | undefined): Promise<void> {
    const [row] = await this.#store.readJournal(head, 1, 1);
    const first =
      row && readEntry(row, genesis, (bytes) => this.#seal.open(bytes, head), `the run ${head.run}`);
    const same = head.machine === machine && JSON.stringify(first?.event.data) === JSON.stringify(input);
    if (same) return;
    throw new HoldfastError(
      "RUN_DIFFERS",
      `The run ${JSON.stringify(head.run)} exists already, as ${head.machine}@${head.version} with another input; choose another id`,
    );
  }

  #handle(name: RunName): Run {
    return {
      id: name.run,
      tenant: name.tenant,
      state: async () => (await this.#read(name)).state,
      head: async () => (await this.#read(name)).head,
      send: (type, data, options) => this.#send(name, type, data, options?.key),
      waitFor: (path) => this.#watch(name, (state) => matches(state, path)),
      finished: async () => {
        const state = await this.#watch(name, ({ status }) => status !== "active");
        return { state: state.configuration.join(", "), output: state.output };
      },
      cancel: async () => {
        await this.#deliver(await this.#read(name), { type: "cancel", kind: "platform" });
      },
      journal: (from = 1) => this.#journal(name, from),
    };
  }

  async #send(
    name: RunName,
    type: string,
    data: Json | undefined,
    key: string | undefined,
  ): Promise<Receipt> {
    if (key !== undefined) checkName("key", key);
    const run = await this.#read(name);
    const event: Event = data === undefined ? { type } : { type, data };
    if (key !== undefined && (await this.#store.readKeys(name, [key])).length > 0) {
      const repeated: Handled = { seq: run.head.seq, outcome: "ignored", error: undefined };
      return { handled: async () => repeated };
    }
    const handled = await this.#deliver(run, event, key);
    return { handled: async () => handled };
  }

  /** Resolves when the event's step is durable. */
  #deliver(run: LiveRun, event: Event, key?: string): Promise<Handled> {
    this.#check();
    return new Promise((handled, failed) => {
      const priority = eventPriority(run.machine.machine.chart, event.type);
      this.#loop.deliver(run, { event, priority, handled, failed, ...(key === undefined ? {} : { key }) });
    });
  }

  async *#journal(name: RunName, from: number): AsyncIterable<Entry> {
    const { head } = await this.#read(name);
    const before = from > 1 ? await this.#store.readJournal(name, from - 1, 1) : [];
    let digest = before[0]?.digest ?? genesis;
    for (let seq = from; ; ) {
      const rows = await this.#store.readJournal(name, seq, 100);
      for (const row of rows) {
        yield readEntry(row, digest, (bytes) => this.#seal.open(bytes, head), `the run ${name.run}`);
        digest = row.digest;
        seq = row.seq + 1;
      }
      if (rows.length === 0) return;
    }
  }

  async #watch(name: RunName, holds: (state: State) => boolean): Promise<State> {
    const { state } = await this.#read(name);
    return holds(state) ? state : this.#watchers.watch(keyOf(name), holds);
  }

  // What happens after a commit.

  #publish({ run, taken, sends, starts }: Checkpoint): void {
    for (const child of starts) {
      this.#live.set(keyOf(child.run.name), child.run);
      this.#publish(child);
    }
    for (const { step } of taken) {
      for (const effect of step.effects) {
        if (effect.type === "log") this.#options.onLog?.({ ...effect, run: run.name.run });
        else if (effect.type === "emit") this.#options.onEmit?.({ ...effect, run: run.name.run });
        else if (effect.type === "cancel" && effect.of === "activity")
          this.#activities.cancel(run.name, effect.key);
      }
    }
    if (taken.some(({ step }) => step.effects.some(({ type }) => type === "activity")))
      void this.#startActivities(run);
    for (const { row, event } of sends) this.#bring(row, event);
    if (run.head.wakeAt !== undefined) this.#alarm.set(run.head.wakeAt);
    const key = keyOf(run.name);
    this.#watchers.tell(key, run.state);
    if (hasEnded(run)) this.#live.delete(key);
  }

  /** An event is in a run's inbox: the run takes it from there, now if it is in memory, else when it has been read. */
  #bring(row: InboxRow, event: Event): void {
    const live = this.#live.get(keyOf(row));
    if (live === undefined) void this.#find(row).catch((error: unknown) => this.#fail(error));
    else this.#loop.deliver(live, { event, row: row.id, priority: row.priority });
  }

  async #startActivities(run: LiveRun): Promise<void> {
    const loaded = await this.#store.load(run.name);
    for (const row of loaded?.activities ?? [])
      this.#activities.start(row, run.machine.activities[row.activity]);
  }

  async #settle(name: RunName, event: Event): Promise<void> {
    const run = await this.#find(name);
    if (run !== undefined && !this.#closed) this.#deliver(run, event).catch(() => {});
  }

  /** The store is ahead of memory: read again, and take up what was only in memory. */
  async #recover(run: LiveRun, deliveries: readonly Delivery[], outcome: CommitOutcome): Promise<void> {
    this.#live.delete(keyOf(run.name));
    if (outcome.outcome === "fenced") {
      this.#fail(fencedError(run.name));
      for (const { failed } of deliveries) failed?.(this.#failure);
      return;
    }
    const fresh = await this.#read(run.name);
    for (const delivery of deliveries) {
      if (outcome.outcome === "duplicate" && delivery.key === outcome.key) {
        delivery.handled?.({ seq: fresh.head.seq, outcome: "ignored", error: undefined });
      } else if (delivery.row === undefined) this.#loop.deliver(fresh, delivery);
    }
  }

  // Finding runs.

  /** The live run; reads it from the store if it is not in memory. */
  async #find(name: RunName): Promise<LiveRun | undefined> {
    const key = keyOf(name);
    const live = this.#live.get(key);
    if (live !== undefined) return live;
    const loading = this.#loading.get(key) ?? this.#load(name).finally(() => this.#loading.delete(key));
    this.#loading.set(key, loading);
    return loading;
  }

  async #load(name: RunName): Promise<LiveRun | undefined> {
    const loaded = await this.#store.load(name);
    if (loaded === undefined) return undefined;
    const run = hydrate(loaded, this.#registry, this.#seal);
    if (hasEnded(run)) return run;
    this.#live.set(keyOf(name), run);
    for (const row of loaded.activities) this.#activities.start(row, run.machine.activities[row.activity]);
    if (run.inbox.length > 0) this.#loop.wake(run);
    if (run.head.wakeAt !== undefined) this.#alarm.set(run.head.wakeAt);
    return run;
  }

  async #read(name: RunName): Promise<LiveRun> {
    const run = await this.#find(name);
    if (run !== undefined) return run;
    throw new HoldfastError(
      "RUN_UNKNOWN",
      `There is no run ${JSON.stringify(name.run)} for the tenant ${JSON.stringify(name.tenant)}`,
    );
  }

  #owner(name: RunName): { tenant: string; subject: string } {
    return this.#live.get(keyOf(name))?.head ?? { tenant: name.tenant, subject: name.run };
  }

  // Time.

  /** Brings every run that has something to do into memory and lets its due timers fire. */
  async #wakeDue(): Promise<void> {
    const now = this.#clock.now();
    for (const name of await this.#store.due(now, dueMax)) {
      const run = await this.#find(name);
      if (run !== undefined && !hasEnded(run)) this.#fireTimers(run, now);
    }
    if (this.#closed) return;
    const next = await this.#store.nextDue();
    if (next !== undefined) this.#alarm.set(next);
  }

  #fireTimers(run: LiveRun, now: number): void {
    const waiting = new Set(run.inbox.map(({ event }) => event.timer));
    for (const { key, due, event } of run.state.timers.toSorted((one, other) => one.due - other.due)) {
      if (due <= now && !waiting.has(key)) this.#deliver(run, { ...event, timer: key }).catch(() => {});
    }
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw closedError();
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    this.#failure ??= error;
    this.#alarm.stop();
    this.#watchers.fail(this.#failure);
    this.#loop.close();
    this.#activities.close();
  }
}

function keyOf({ tenant, run }: RunName): string {
  return `${tenant}\n${run}`;
}

function closedError(): HoldfastError {
  return new HoldfastError("RUNTIME_CLOSED", "The runtime was closed; create another one");
}
