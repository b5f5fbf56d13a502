/**
 * The engine behind the façade: finds runs, hands them events, and sees to what follows from a commit. Every decision is
 * the step loop's, every promise the store's.
 */
import { durationMs } from "../core/duration.ts";
import type { Event, EventShape } from "../core/event.ts";
import type { Machine, MachineTypes } from "../core/machine.ts";
import { closedError } from "../errors.ts";
import type { ActivityRow, RunHead, RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import { Activities } from "./activity/activity.ts";
import { type SettlingWorld, settleWith } from "./activity/settling.ts";
import { Streams } from "./activity/stream.ts";
import { announceWith } from "./announce.ts";
import { boundTo } from "./bound-entry.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Catalog } from "./evolution/catalog.ts";
import { Evolution } from "./evolution/evolution.ts";
import { type FindQuery, findAlive, findRuns } from "./find.ts";
import { type Parts, standWith } from "./fleet/stand.ts";
import { slotsOf } from "./flow/flow.ts";
import { type Access, Handle } from "./handle.ts";
import { Housekeeper, houseName } from "./housekeeping/housekeeper.ts";
import { type Ids, systemIds } from "./ids.ts";
import type { Admitted } from "./inbox/admitted.ts";
import { DeadLetters } from "./inbox/dead-letters.ts";
import { Inboxes } from "./inbox/inboxes.ts";
import { Receipts } from "./inbox/receipts.ts";
import { Replies, replyName } from "./inbox/replies.ts";
import { Life } from "./life.ts";
import { followReading } from "./live/after-reading.ts";
import { hydrate } from "./live/hydrate.ts";
import type { Delivery, Handled, LiveRun } from "./live/live-run.ts";
import { Past } from "./live/past.ts";
import { Runs, type RunsWorld } from "./live/runs.ts";
import { checkName, defaultTenant } from "./name.ts";
import { Observers } from "./observers.ts";
import { asAgent, asListener, checkOptions, nameOf } from "./options.ts";
import { parkWith } from "./park.ts";
import type { DebounceContext } from "./platform/debounce-machine.ts";
import { Platform } from "./platform/platform.ts";
import type { Profiler } from "./profile/profiler.ts";
import { publishWith } from "./publish.ts";
import { Recovery } from "./recovery.ts";
import { createRegistry, eventPriority, type Registry } from "./registry.ts";
import type {
  DebounceOptions,
  Run,
  Runtime,
  RuntimeOptions,
  Schedule,
  ScheduleOptions,
  StartOptions,
  StartRest,
} from "./run.ts";
import { noSeal } from "./seal.ts";
import type { Standing } from "./standing.ts";
import { checkStart, Starts } from "./starts.ts";
import { StepLoop } from "./step-loop.ts";
import { closeStore, openStore, readWhile } from "./store-use.ts";
import { Debugger } from "./travel/debugger.ts";
import { Travel } from "./travel/travel.ts";
import { Waker } from "./waker.ts";
import { Watchers } from "./watchers.ts";

export class Engine implements Runtime, Access {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly past: Past;
  readonly streams: Streams;
  readonly replies = new Replies(this);
  readonly watchers = new Watchers((name) => this.read(name));
  readonly registry: Registry;
  readonly travel: Travel;
  readonly debugger: Debugger;
  readonly evolution: Evolution;
  readonly machines: Catalog;
  readonly deadLetters: DeadLetters;
  readonly profile: Runtime["profile"];
  readonly #observers: Observers;
  readonly #store: Store;
  readonly #loop: StepLoop;
  readonly #runs: Runs;
  readonly #inboxes: Inboxes;
  readonly #receipts: Receipts;
  readonly #activities: Activities;
  readonly standing: Standing;
  readonly #waker: Waker;
  readonly #platform: Platform;
  readonly #starts: Starts;
  readonly #life = new Life();
  readonly stopped = this.#life.stopped;
  readonly #housekeeper: Housekeeper | undefined;

  constructor(options: RuntimeOptions, profiler?: Profiler) {
    const { store, clock = systemClock, ids = systemIds, seal = noSeal, mustKnowAll = false, role } = options;
    this.#observers = new Observers(options);
    this.profile = () => profiler?.read();
    this.#store = store;
    this.clock = clock;
    this.ids = ids;
    const { check } = this.#life;
    const problem = this.#life.unlessOver(this.#observers.problem);
    this.#platform = this.#makePlatform(problem);
    const machines = options.machines.map((given) => boundTo(this, given));
    this.registry = createRegistry([...machines, ...this.#platform.entries], seal);
    this.past = new Past(readWhile(store, check), seal);
    const arrived = (name: RunName) => void this.#inboxes.fetch(name);
    this.deadLetters = new DeadLetters({ store, seal, check, arrived });
    const standing = standWith({ store, clock, ids, role, lost: this.#fail, parts: () => this.#parts() });
    this.standing = standing;
    this.streams = new Streams(store, clock, seal, standing);
    this.#loop = new StepLoop({
      ...{ store, clock, seal, ids, standing, profiler, failed: this.#fail, registry: this.registry },
      published: (turn) => publish(turn),
      refused: (run, deliveries, outcome) => recovery.refused(run, deliveries, outcome),
      unknown: (turn, deliveries, error) => recovery.unknown(turn, deliveries, error),
      left: (run, deliveries) => recovery.left(run, deliveries),
    });
    const find = (name: RunName) => this.#runs.find(name);
    const deliver = (run: LiveRun, delivery: Delivery) => this.#loop.deliver(run, delivery);
    const isTaking = (run: LiveRun) => this.#loop.isTaking(run);
    const isClosed = () => this.#life.isOver;
    const park = parkWith({ isClosed, find, problem, deliver: (run, event) => this.deliver(run, event) });
    const isBusy = (run: LiveRun) => this.#loop.isBusy(run);
    this.#runs = this.#makeRuns({ isBusy, park, profiler });
    this.#inboxes = new Inboxes({
      ...{ store, clock, ids, seal, standing, find, deliver, park, problem, isBusy, isTaking },
      checkpoint: async (run) => void (await this.#loop.checkpoint(run)),
      wakeLater: () => this.#waker.wakeLater(),
      live: (name) => this.#runs.live(name),
      readReceipt: (name, key) => this.readReceipt(name, key),
      readTaken: (event) => this.#receipts.readTaken(event),
    });
    this.#receipts = new Receipts({
      ...{ standing, past: this.past, reach: (name) => this.#runs.reach(name) },
      waitFor: (name, key) => this.#inboxes.waitFor(name, key),
      replied: (name, { to, data = null }) => this.replies.tell(replyName(name, to), data),
    });
    const recovery = new Recovery({
      ...{ park, deliver, fail: this.#fail },
      read: (name) => this.#runs.readAnew(name),
      refill: (run) => this.#inboxes.refill(run),
      forget: (run) => this.#runs.remove(run),
      doubt: (name) => this.#activities.doubt(name),
      readReceipt: (name, key) => this.readReceipt(name, key),
      wakeLater: (names) => this.#waker.wakeLater(names),
    });
    this.#waker = new Waker({
      ...{ standing, clock, park, problem, isTaking, isBusy },
      attend: (...given) => this.#runs.attend(...given),
      deliver: (run, event) => this.deliver(run, event),
      refill: (run) => this.#inboxes.refill(run),
    });
    this.#activities = this.#makeActivities(options, profiler, this.#makeSettle(find, park));
    const world = this.#makeWorld(problem);
    this.travel = new Travel(world);
    this.debugger = new Debugger(world);
    this.evolution = new Evolution(world);
    const publish = this.#makePublish();
    this.#starts = new Starts(this, { platform: this.#platform, runs: this.#runs, problem });
    this.#housekeeper = this.#makeHousekeeper(options);
    this.machines = new Catalog({ ...world, check, evolution: this.evolution, mustKnow: mustKnowAll });
  }

  #makeRuns(given: Pick<RunsWorld, "isBusy" | "park" | "profiler">): Runs {
    return new Runs({
      ...{ ...given, store: this.#store, standing: this.standing, now: () => this.clock.now() },
      hydrate: (loaded) => hydrate(loaded, this.registry, this.past, this.#observers.problem),
      hasten: (run) => void this.#loop.hasten(run),
      ...followReading(() => ({ ...this.#parts(), standing: this.standing, evolution: this.evolution })),
      bring: (run, row) => this.#inboxes.bring(run, row),
      isReading: (run) => this.#inboxes.isReading(run),
      wakeLater: (names) => this.#waker.wakeLater(names),
    });
  }

  #makePlatform(problem: (name: RunName, error: unknown) => void): Platform {
    return new Platform({
      ...{ store: this.#store, clock: this.clock, ids: this.ids, problem },
      start: (machine, ...given) => this.start(machine, ...given),
      run: (id, given) => this.run(id, given),
      machine: (id) => this.registry.read(id).machine,
    });
  }

  #makeActivities(
    { flow, seal = noSeal }: RuntimeOptions,
    profiler: Profiler | undefined,
    settle: ReturnType<typeof settleWith>,
  ): Activities {
    const { clock, ids, standing, past, streams } = this;
    const world = { clock, ids, seal, standing, profiler, past, streams, settle, slots: slotsOf(flow) };
    const stateAtBeginning = (row: ActivityRow) => this.travel.beginning(row, row.key);
    return new Activities({ ...world, store: this.#store, observers: this.#observers, stateAtBeginning });
  }

  #makeSettle(find: SettlingWorld["find"], park: SettlingWorld["park"]): ReturnType<typeof settleWith> {
    const { problem } = this.#observers;
    return settleWith({
      ...{ clock: this.clock, find, park, problem, isClosed: () => this.#life.isOver },
      deliver: (run, event, spent) => this.deliver(run, event, spent && { spent }),
    });
  }

  #parts(): Parts {
    const [runs, inboxes, waker, activities] = [this.#runs, this.#inboxes, this.#waker, this.#activities];
    return { runs, inboxes, waker, activities, watchers: this.watchers };
  }

  #makePublish(): ReturnType<typeof publishWith> {
    const { standing, evolution } = this;
    return publishWith({
      ...{ ...this.#parts(), standing, evolution, observers: this.#observers },
      announce: announceWith({
        replies: this.replies,
        tell: (name, effect) => this.#observers.tell(name, effect),
        cancel: (name, key) => this.#activities.cancel(name, key),
      }),
    });
  }

  #makeHousekeeper({ housekeeping, seal = noSeal }: RuntimeOptions): Housekeeper | undefined {
    const { standing, clock } = this;
    const world = {
      ...{ store: this.#store, clock, seal, epoch: () => standing.epoch, runtime: this },
      problem: (error: unknown) => this.#observers.problem(houseName, error),
      isOurs: () => standing.isHome(houseName),
    };
    return housekeeping && new Housekeeper(world, housekeeping);
  }

  /** What the parts that look at runs from outside need of this one. */
  #makeWorld(problem: (name: RunName, error: unknown) => void) {
    const { past, registry, clock, ids } = this;
    return {
      ...{ store: this.#store, past, registry, clock, ids, problem, epoch: () => this.standing.epoch },
      read: (name: RunName) => this.read(name),
      see: (...given: Parameters<Watchers["see"]>) => this.watchers.see(...given),
      settled: (name: RunName) => this.settled(name),
      deliver: (run: LiveRun, event: Event, take?: Delivery["take"]) =>
        this.deliver(run, event, take && { take }),
      begin: (...given: Parameters<Runs["findOrBegin"]>) => this.#runs.findOrBegin(...given),
      alive: (machine?: string) => findAlive(this.#store, machine),
      bound: (given: Parameters<Runtime["register"]>[0]) => boundTo(this, given),
      lookAgain: () => this.#waker.lookAgain(),
    };
  }

  async open(): Promise<void> {
    await openStore(this.#store);
    this.#waker.heed(await this.standing.take());
    await this.machines.open();
    await this.#waker.open();
    this.#housekeeper?.start();
  }

  async drain(within: number | string = Number.POSITIVE_INFINITY): Promise<boolean> {
    this.#life.check();
    const withinMs = within === Number.POSITIVE_INFINITY ? within : durationMs(within);
    await this.standing.yield();
    return this.#activities.settled(withinMs);
  }

  close(): Promise<void> {
    return this.#life.close(async () => {
      this.#stop(closedError());
      await this.#housekeeper?.close();
      await this.#loop.close(closedError());
      await this.standing.giveBack().catch(() => {});
      await closeStore(this.#store);
    });
  }

  readonly #fail = (error: unknown): void => {
    if (!this.#life.fail(error)) return;
    this.#stop(error);
    void this.#loop.close(error);
  };

  #stop(error: unknown): void {
    void this.#housekeeper?.close();
    this.#waker.close();
    this.#activities.close();
    this.standing.stop();
    this.watchers.close(error);
    this.replies.close(error);
    this.streams.close(error);
    this.#inboxes.close(error);
  }

  // Runs, as users ask for them.

  readonly thread: Runtime["thread"] = async (agent, options) => asAgent(agent).openThread(this, options);
  readonly observe: Runtime["observe"] = (listener) => this.#observers.observe(asListener(listener));
  readonly hear: Runtime["hear"] = (listener) => this.standing.hear(asListener(listener));
  readonly members: Runtime["members"] = () => this.standing.members();
  readonly diff: Runtime["diff"] = async (one, other) => this.travel.compare(nameOf(one), nameOf(other));

  async start<Context, Ev extends EventShape, Input, Types extends MachineTypes>(
    machine: Machine<Context, Ev, Input, Types>,
    ...[given]: StartRest<Types["input"]>
  ): Promise<Run<Context, Types>> {
    this.#life.check();
    checkStart(machine, given);
    const bound = machine as unknown as Machine;
    return (await this.#starts.start(bound, (given ?? {}) as StartOptions)) as unknown as Run<Context, Types>;
  }

  async run(id: string, options: { readonly tenant?: string } = {}): Promise<Run> {
    checkName("run", id);
    checkOptions("run(id, { tenant })", options, { tenant: true });
    const name = { tenant: options.tenant === undefined ? defaultTenant : options.tenant, run: id };
    checkName("tenant", name.tenant);
    await this.read(name);
    return new Handle(name, this);
  }

  async schedule(id: string, options: ScheduleOptions): Promise<Schedule> {
    this.#life.check();
    return this.#platform.schedules.set(id, options);
  }

  async debounce(key: string, options: DebounceOptions): Promise<Run<DebounceContext>> {
    this.#life.check();
    return this.#platform.debounces.call(key, options);
  }

  async *find(query: FindQuery = {}): AsyncGenerator<RunHead> {
    this.#life.check();
    yield* findRuns(readWhile(this.#store, this.#life.check), query);
  }

  // What handles need.

  read(name: RunName): Promise<LiveRun> | LiveRun {
    this.#life.check();
    return this.#runs.newest(name);
  }

  reach(name: RunName): Promise<LiveRun> | LiveRun {
    this.#life.check();
    return this.#runs.reach(name);
  }

  /** The run at its newest checkpoint, nothing of it waiting for a commit. */
  async settled(name: RunName): Promise<LiveRun> {
    this.#life.check();
    while (!(await this.#loop.checkpoint(await this.#runs.taking(name))));
    return this.read(name);
  }

  deliver(run: LiveRun, event: Event, parts?: Pick<Delivery, "spent" | "take">): Promise<Handled> {
    return new Promise((handled, failed) => {
      this.#life.check();
      const priority = eventPriority(run.machine.machine.chart, event);
      this.#loop.deliver(this.#runs.current(run), { event, ...parts, priority, handled, failed });
    });
  }

  hand(run: LiveRun, event: Admitted): ReturnType<Access["hand"]> {
    this.#life.check();
    return this.#inboxes.hand(this.#runs.current(run), event);
  }

  readonly enqueue: Access["enqueue"] = (run, events) => this.#inboxes.enqueue(run, events);
  readonly readReceipt: Access["readReceipt"] = (name, key) => this.#receipts.read(name, key);

  register(machine: Parameters<Runtime["register"]>[0]): void {
    this.#life.check();
    this.registry.register(boundTo(this, machine));
    this.#waker.lookAgain();
    // A store that cannot be reached now is told at the next opening.
    this.machines.note().catch(() => {});
  }
}
