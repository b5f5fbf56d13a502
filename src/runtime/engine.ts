/**
 * The engine behind the façade: finds runs, hands them events, and sees to what follows from a commit. Every decision is
 * the step loop's, every promise the store's.
 */
import { type Event, type EventShape, startEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Machine, MachineTypes } from "../core/machine.ts";
import { closedError, HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import type { RunHead, RunName } from "../store/records.ts";
import type { LoadedRun, Store } from "../store/store.ts";
import { Activities } from "./activity.ts";
import { checkAttributes } from "./attributes.ts";
import { checkLimits, limitsOf } from "./budget.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { type Clock, systemClock } from "./clock.ts";
import { DeadLetters } from "./dead-letters.ts";
import type { DebounceContext } from "./debounce-machine.ts";
import { findRuns } from "./find.ts";
import { slotsOf } from "./flow/flow.ts";
import { type Access, type Admitted, Handle, replyName } from "./handle.ts";
import { hydrate } from "./hydrate.ts";
import { type Ids, systemIds } from "./ids.ts";
import { Inboxes } from "./inboxes.ts";
import { type Delivery, type Handled, hasEnded, type LiveRun, newRun } from "./live-run.ts";
import { checkName, defaultTenant, unknownRunError } from "./name.ts";
import { Observers } from "./observers.ts";
import { Ownership } from "./ownership.ts";
import { Parking } from "./parking.ts";
import { Past } from "./past.ts";
import { Platform } from "./platform.ts";
import { Receipts } from "./receipts.ts";
import { Recovery } from "./recovery.ts";
import { createRegistry, eventPriority, type Registry } from "./registry.ts";
import { Residents } from "./residents.ts";
import type {
  DebounceOptions,
  FindQuery,
  Receipt,
  Run,
  Runtime,
  RuntimeOptions,
  Schedule,
  ScheduleOptions,
  StartOptions,
  StartRest,
} from "./run.ts";
import { checkSame } from "./same-run.ts";
import { noSeal } from "./seal.ts";
import { Settling } from "./settling.ts";
import { StepLoop } from "./step-loop.ts";
import { Streams } from "./stream.ts";
import { Waiters } from "./waiters.ts";
import { Waker } from "./waker.ts";
import { Watchers } from "./watchers.ts";
import { workerName } from "./worker.ts";

export class Engine implements Runtime, Access {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly past: Past;
  readonly streams: Streams;
  readonly replies = new Waiters<Json>();
  readonly deadLetters: DeadLetters;
  readonly #observers: Observers;
  readonly #store: Store;
  readonly #registry: Registry;
  readonly #loop: StepLoop;
  readonly #residents: Residents;
  readonly #inboxes: Inboxes;
  readonly #receipts: Receipts;
  readonly #activities: Activities;
  readonly #watchers = new Watchers();
  readonly #ownership: Ownership;
  readonly #waker: Waker;
  readonly #platform: Platform;
  #closed = false;
  #failure: unknown;
  readonly #stopping = new Waiters<unknown>();
  readonly stopped = this.#stopping.wait("stopped").told;

  constructor(options: RuntimeOptions) {
    const { store, clock = systemClock, ids = systemIds, seal = noSeal } = options;
    this.#observers = new Observers(options);
    this.#store = store;
    this.clock = clock;
    this.ids = ids;
    const problem = (name: RunName, error: unknown) => this.#observers.problem(name, error);
    this.#platform = new Platform({
      ...{ store, clock, ids, problem },
      start: (machine, ...given) => this.start(machine, ...given),
      run: (id, given) => this.run(id, given),
      machine: (id) => this.#registry.read(id).machine,
    });
    this.#registry = createRegistry([...options.machines, ...this.#platform.entries]);
    this.past = new Past(store, seal);
    this.streams = new Streams(store, clock, seal);
    const arrived = (name: RunName) => void this.#inboxes.fetch(name);
    this.deadLetters = new DeadLetters({ store, seal, check: () => this.#check(), arrived });
    const failed = (error: unknown) => this.#fail(error);
    this.#ownership = new Ownership(store, clock, workerName(ids.next()), failed);
    const epoch = () => this.#ownership.epoch;
    this.#loop = new StepLoop({
      ...{ store, clock, seal, ids, epoch, failed, registry: this.#registry },
      published: (checkpoint) => this.#publish(checkpoint),
      refused: (run, deliveries, outcome) => recovery.refused(run, deliveries, outcome),
      unknown: (checkpoint, deliveries, error) => recovery.unknown(checkpoint, deliveries, error),
      left: (run, deliveries) => recovery.left(run, deliveries),
    });
    const find = (name: RunName) => this.#find(name);
    const deliver = (run: LiveRun, delivery: Delivery) => this.#loop.deliver(run, delivery);
    const isTaking = (run: LiveRun) => this.#loop.isTaking(run);
    const { park } = new Parking({ find, problem, deliver: (run, event) => this.deliver(run, event) });
    const isBusy = (run: LiveRun) => this.#loop.isBusy(run);
    this.#residents = new Residents(isBusy);
    this.#inboxes = new Inboxes({
      ...{ store, clock, ids, seal, find, deliver, park, isBusy, isTaking },
      checkpoint: (run) => this.#loop.checkpoint(run),
      wakeLater: () => this.#waker.wakeLater(),
      live: (name) => this.#residents.read(name),
      readReceipt: (name, key) => this.readReceipt(name, key),
    });
    this.#receipts = new Receipts({
      ...{ store, past: this.past, read: (name) => this.#readStored(name) },
      waitFor: (name, key) => this.#inboxes.waitFor(name, key),
      ended: (name) => this.#inboxes.ended(name),
    });
    const recovery = new Recovery({
      ...{ park, deliver, fail: failed },
      read: (name) => this.#readStored(name),
      refill: (run) => this.#inboxes.refill(run),
      forget: (run) => this.#residents.remove(run),
      readReceipt: (name, key) => this.readReceipt(name, key),
      wakeLater: (names) => this.#waker.wakeLater(names),
    });
    this.#waker = new Waker({
      ...{ store, clock, find, park, isTaking, problem },
      deliver: (run, event) => this.deliver(run, event),
      refill: (run) => this.#inboxes.refill(run),
    });
    const settling = new Settling({
      ...{ clock, find, park },
      isClosed: () => this.#closed || this.#failure !== undefined,
      deliver: (run, event, spent) => this.#deliver(run, { event, ...(spent && { spent }) }),
    });
    this.#activities = new Activities({
      ...{ store, clock, ids, seal, epoch, past: this.past, streams: this.streams },
      slots: slotsOf(options.flow),
      settle: (name, event, spent) => settling.settle(name, event, spent),
    });
  }

  async open(): Promise<void> {
    await this.#store.open();
    try {
      const aliveAt = await this.#ownership.take();
      await this.#waker.open(aliveAt);
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stop(closedError());
    await this.#loop.close(closedError());
    await this.#ownership.giveBack().catch(() => {});
    await this.#store.close();
  }

  #fail(error: unknown): void {
    if (this.#closed || this.#failure !== undefined) return;
    this.#failure = error;
    this.#stop(error);
    void this.#loop.close(error);
  }

  #stop(error: unknown): void {
    this.#stopping.tell("stopped", this.#failure);
    this.#waker.close();
    this.#activities.close();
    this.#ownership.stop();
    this.#watchers.close(error);
    this.replies.close(error);
    this.streams.close(error);
    this.#inboxes.close(error);
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#closed) throw closedError();
  }

  // Runs, as users ask for them.

  async start<Context, Ev extends EventShape, Input, Types extends MachineTypes>(
    machine: Machine<Context, Ev, Input, Types>,
    ...[given]: StartRest<Types["input"]>
  ): Promise<Run<Context, Types>> {
    this.#check();
    const { singleton, ...options } = (given ?? {}) as StartOptions;
    if (singleton !== undefined) {
      const { run } = await this.#platform.singletons.start(
        machine as unknown as Machine,
        singleton,
        options,
      );
      return run as unknown as Run<Context, Types>;
    }
    const { id = this.ids.next(), tenant = defaultTenant, subject = id, input } = options;
    for (const [what, name] of Object.entries({ run: id, tenant, subject })) checkName(what, name);
    checkLimits(options.limits);
    checkAttributes(options.attributes ?? {});
    const name: RunName = { tenant, run: id };
    let begun = false;
    const begin = async () => {
      const loaded = await this.#load(name);
      begun = loaded === undefined;
      return loaded ?? this.#begin(name, machine.id, machine.version, { ...options, subject });
    };
    // Somebody may have looked for it just before it began.
    const run = (await this.#residents.find(name, begin)) ?? (await this.#residents.find(name, begin));
    if (!begun) await checkSame(run as LiveRun, machine.id, input, this.past);
    return new Handle(name, this) as unknown as Run<Context, Types>;
  }

  async #begin(name: RunName, machine: string, version: number, options: StartOptions): Promise<LiveRun> {
    const bound = this.#registry.read(machine, version);
    const { subject = name.run, attributes = {} } = options;
    const allowed = limitsOf(bound.machine.definition.limits, options.limits);
    const parts = { subject, attributes, ...(allowed && { limits: allowed }) };
    const run = newRun(name, bound, parts, this.clock.now());
    await this.deliver(run, startEvent(options.input));
    return run;
  }

  async run(id: string, { tenant = defaultTenant }: { readonly tenant?: string } = {}): Promise<Run> {
    checkName("run", id);
    checkName("tenant", tenant);
    const name = { tenant, run: id };
    await this.read(name);
    return new Handle(name, this);
  }

  async schedule(id: string, options: ScheduleOptions): Promise<Schedule> {
    this.#check();
    return this.#platform.schedules.set(id, options);
  }

  async debounce(key: string, options: DebounceOptions): Promise<Run<DebounceContext>> {
    this.#check();
    return this.#platform.debounces.call(key, options);
  }

  async *find(query: FindQuery = {}): AsyncGenerator<RunHead> {
    this.#check();
    checkAttributes(query.attributes ?? {});
    yield* findRuns(this.#store, query);
  }

  // What handles need.

  read(name: RunName): Promise<LiveRun> | LiveRun {
    this.#check();
    return this.#residents.read(name) ?? this.#readStored(name);
  }

  async #readStored(name: RunName): Promise<LiveRun> {
    const run = await this.#find(name);
    if (run !== undefined) return run;
    throw unknownRunError(name);
  }

  deliver(run: LiveRun, event: Event, key?: string): Promise<Handled> {
    return this.#deliver(run, key === undefined ? { event } : { event, key });
  }

  #deliver(run: LiveRun, parts: Pick<Delivery, "event" | "key" | "spent">): Promise<Handled> {
    return new Promise((handled, failed) => {
      this.#check();
      const priority = eventPriority(run.machine.machine.chart, parts.event);
      this.#loop.deliver(this.#inMemory(run), { ...parts, priority, handled, failed });
    });
  }

  /** There is one of each run: whoever holds one that was put out meanwhile means the one that is in. */
  #inMemory(run: LiveRun): LiveRun {
    const current = this.#residents.read(run.name);
    if (current === undefined && run.head.seq > 0) this.#residents.add(run);
    return current ?? run;
  }

  enqueue(run: LiveRun, events: readonly Admitted[]): Promise<readonly Receipt[]> {
    return this.#inboxes.enqueue(run, events);
  }

  readReceipt(name: RunName, key: string): Promise<Receipt | undefined> {
    return this.#receipts.read(name, key);
  }

  watch(name: RunName, holds: Parameters<Watchers["watch"]>[1]): ReturnType<Watchers["watch"]> {
    return this.#watchers.watch(name, holds);
  }

  checkpoint(run: LiveRun): Promise<void> {
    return this.#loop.checkpoint(run);
  }

  // What happens after a commit.

  #publish(checkpoint: Checkpoint): void {
    const { run, taken, sends, starts, begun } = checkpoint;
    for (const child of starts) this.#publish(child);
    const active = run.head.status === "active";
    if (hasEnded(run)) {
      this.#residents.remove(run);
      this.#inboxes.ended(run.name);
    } else if (run.head.seq === taken.length) this.#residents.add(run);
    for (const { step } of taken) {
      if (step.effects.length > 0) this.#tell(run, step.effects);
      for (const event of step.dropped) this.#refuseReply(run, event);
    }
    for (const one of begun.values()) this.#activities.start(one, run.machine.activities, run.head);
    for (const { row } of sends) this.#inboxes.arrived(row);
    if (active && run.head.wakeAt !== undefined) this.#waker.wakeAt(run.head.wakeAt);
    if (run.head.status === "parked") this.#observers.problem(run.name, checkpoint.reason);
    this.#watchers.tell(run.name, run);
    if (checkpoint.returns) {
      run.more = true;
      void this.#revive(run);
    }
    if (active && run.more && run.inbox.length === 0) this.#inboxes.refill(run);
  }

  /** A run that was parked is active again: what it waits for is taken up, as if it had been read anew. */
  async #revive(run: LiveRun): Promise<void> {
    try {
      const loaded = await this.#store.load(run.name);
      if (run.head.status === "active" && loaded !== undefined) await this.#takeUp(run, loaded);
    } catch {
      this.#residents.remove(run);
      this.#waker.wakeLater([run.name]);
    }
  }

  #tell({ name }: LiveRun, effects: Checkpoint["taken"][number]["step"]["effects"]): void {
    for (const effect of effects) {
      if (effect.type === "log" || effect.type === "emit") this.#observers.tell(name, effect);
      else if (effect.type === "reply") this.replies.tell(replyName(name, effect.to), effect.data ?? null);
      else if (effect.type === "cancel" && effect.of === "activity")
        this.#activities.cancel(name, effect.key);
    }
  }

  /** An event that asked and will never be taken gets no reply. */
  #refuseReply({ name }: LiveRun, { replyTo, type }: Event): void {
    if (replyTo === undefined) return;
    const dropped = `The run ${JSON.stringify(name.run)} deferred ${JSON.stringify(type)}, and no state takes it any more`;
    this.replies.refuse(replyName(name, replyTo), new HoldfastError("ASK_UNANSWERED", dropped));
  }

  register(machine: Parameters<Registry["register"]>[0]): void {
    this.#check();
    this.#registry.register(machine);
    this.#waker.lookAgain();
  }

  // Finding runs.

  /** The live run; reads it from the store if it is not in memory. */
  async #find(name: RunName): Promise<LiveRun | undefined> {
    return this.#residents.find(name, () => this.#load(name));
  }

  async #load(name: RunName): Promise<LiveRun | undefined> {
    const loaded = await this.#store.load(name);
    if (loaded === undefined) return undefined;
    const run = await hydrate(loaded, this.#registry, this.past, this.#observers.problem);
    this.#activities.keepOnly(name, loaded.activities);
    // Its newest step may be one whose commit was not answered.
    this.#watchers.tell(name, run);
    if (hasEnded(run)) this.#inboxes.ended(name);
    if (run.head.status === "active") await this.#takeUp(run, loaded);
    // From here on what comes for it finds it, and comes after what has waited.
    if (!hasEnded(run)) this.#residents.add(run);
    if (run.head.status !== "active") return run;
    run.more = loaded.inbox.length >= limits.inboxLoadedMax;
    for (const row of loaded.inbox) this.#inboxes.bring(run, row);
    return run;
  }

  /** Goes on with a run that is active: with its activities and its timers. */
  async #takeUp(run: LiveRun, { activities }: LoadedRun): Promise<void> {
    await this.#activities.startAll(activities, run);
    this.#waker.resume(run);
  }
}
