/** A run, as its users hold it: a name and what can be done with it. It keeps nothing itself. */
import { durationMs } from "../core/duration.ts";
import { cancelEvent, type Event, sentBy } from "../core/event.ts";
import { type Json, type JsonObject, showValue } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import type { Patch } from "../core/patch.ts";
import { matches } from "../core/query.ts";
import type { State } from "../core/state.ts";
import { HoldfastError, isHoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { encode } from "../store/codec.ts";
import type { Entry } from "../store/journal.ts";
import type { Breakpoint, RunHead, RunName } from "../store/records.ts";
import type { Chunk, Streams } from "./activity/stream.ts";
import type { Evolution, Migrated, MigrateOptions } from "./evolution/evolution.ts";
import { followJournal, untilAborted } from "./follow.ts";
import type { Ids } from "./ids.ts";
import { type Admitted, admit, admitAll } from "./inbox/admitted.ts";
import { Asking, type AskWorld } from "./inbox/asking.ts";
import type { Hearing } from "./inbox/hearings.ts";
import { type Handled, hasEnded, type LiveRun } from "./live/live-run.ts";
import { type Actor, checkActor } from "./name.ts";
import { checkMachine, checkNumber, checkOptions, type Names, signalOf } from "./options.ts";
import { ParkedError } from "./park.ts";
import { type RunProfile, readProfile } from "./profile/journal.ts";
import type { AnyMachine, Registry } from "./registry.ts";
import type { AskOptions, End, FollowOptions, Outgoing, Receipt, Run, SendOptions, Stopped } from "./run.ts";
import type { Standing } from "./standing.ts";
import { statePath } from "./state-path.ts";
import { compareCheckpoints } from "./travel/compare.ts";
import type { Debugger } from "./travel/debugger.ts";
import { findLastChange } from "./travel/last-change.ts";
import type { Told } from "./travel/lineage.ts";
import type { PrunedRun } from "./travel/prune-run.ts";
import { type Replay, replay } from "./travel/replay.ts";
import type { ForkOptions, Target, Travel } from "./travel/travel.ts";
import { endedError } from "./watchers.ts";

/** What a handle needs of the runtime. */
export interface Access extends AskWorld {
  readonly ids: Ids;
  readonly streams: Streams;
  readonly registry: Registry;
  readonly travel: Travel;
  readonly debugger: Debugger;
  readonly evolution: Evolution;
  readonly standing: Pick<Standing, "isShared" | "isHome">;
  /** The run at its newest checkpoint; throws RUN_UNKNOWN. */
  read(name: RunName): Promise<LiveRun> | LiveRun;
  /** The run as it is in memory, which is good enough to give it something; read from the store if it is not there. */
  reach(name: RunName): Promise<LiveRun> | LiveRun;
  /** Gives an event of the platform to a run; resolves when its step is durable. */
  deliver(run: LiveRun, event: Event): Promise<Handled>;
  /** Gives an event to a run that takes them now; resolves when it is durable. Throws ParkedError if it takes none after all. */
  hand(run: LiveRun, event: Admitted): Promise<Hearing>;
  /** Puts events into the inbox of a run that does not take them at once. */
  enqueue(run: LiveRun, events: readonly Admitted[]): Promise<readonly Hearing[]>;
  /** The run at its newest checkpoint, after what waited for that was committed. */
  settled(name: RunName): Promise<LiveRun>;
}

export class Handle implements Run {
  readonly id: string;
  readonly tenant: string;
  readonly #name: RunName;
  readonly #access: Access;

  constructor(name: RunName, access: Access) {
    this.id = name.run;
    this.tenant = name.tenant;
    this.#name = name;
    this.#access = access;
  }

  async state(): Promise<State> {
    return (await this.#access.read(this.#name)).state;
  }

  async head(): Promise<RunHead> {
    return (await this.#access.read(this.#name)).head;
  }

  async send(type: string, data?: Json, options: SendOptions = {}): Promise<Receipt> {
    checkOptions("send(type, data, { key, by })", options, sendNames);
    const { key, by } = options;
    const admitted = admit(data === undefined ? { type } : { type, data }, key, by);
    const reached = this.#access.reach(this.#name);
    return await this.#hand(reached instanceof Promise ? await reached : reached, admitted);
  }

  /** Hands an event to the run, or to its inbox if it does not take events now; resolves when it is durable. */
  async #hand(run: LiveRun, admitted: Admitted): Promise<Hearing> {
    // Those that wait in the store come before it, and a run that somebody else sees to takes what is in its inbox.
    if (run.head.status !== "active" || run.more || !this.#access.standing.isHome(this.#name))
      return this.#sendAside(run, admitted);
    try {
      return await this.#access.hand(run, admitted);
    } catch (error) {
      if (!(error instanceof ParkedError)) throw error;
      return this.#sendAside(await this.#access.read(this.#name), admitted);
    }
  }

  /** An event for a run that is parked waits in its inbox; one that has ended takes none. */
  async #sendAside(run: LiveRun, admitted: Admitted): Promise<Hearing> {
    if (!hasEnded(run)) {
      const [receipt] = await this.#access.enqueue(run, [admitted]);
      return receipt as Hearing;
    }
    const { key, event } = admitted;
    const before = key === undefined ? undefined : await this.#access.readReceipt(this.#name, key);
    if (before !== undefined) return before;
    throw endedError(run, `takes no ${JSON.stringify(event.type)}`, "RUN_ENDED");
  }

  async sendAll(events: readonly Outgoing[]): Promise<readonly Receipt[]> {
    const admitted = admitAll(events);
    const run = await this.#access.reach(this.#name);
    if (hasEnded(run)) return Promise.all(admitted.map((one) => this.#sendAside(run, one)));
    const isAside = run.head.status === "parked" || run.more || !this.#access.standing.isHome(this.#name);
    // What fits into one turn becomes durable with its steps; more than that first of all becomes durable.
    if (isAside || run.inbox.length + events.length > limits.stepsPerTurnMax)
      return this.#access.enqueue(run, admitted);
    // As the inbox would, before any of them is taken.
    for (const { event } of admitted) encode(event as unknown as JsonObject);
    const handed = admitted.map((one) => this.#access.hand(run, one));
    const fates = await Promise.allSettled(handed);
    const [first] = fates;
    if (first?.status === "rejected" && fates.every(({ status }) => status === "rejected")) {
      if (!(first.reason instanceof ParkedError)) throw first.reason;
      return this.#access.enqueue(await this.#access.read(this.#name), admitted);
    }
    return handed.map((receipt) => ({ handled: async () => (await receipt).handled() }));
  }

  async ask(type: string, data?: Json, options: AskOptions = {}): Promise<Json> {
    checkOptions("ask(type, data, { key, by, timeout })", options, askNames);
    const { key, by, timeout } = options;
    if (timeout !== undefined) durationMs(timeout);
    const replyTo = key ?? this.#access.ids.next();
    const admitted = admit({ type, replyTo, ...(data === undefined ? undefined : { data }) }, key, by);
    const run = await this.#access.reach(this.#name);
    return new Asking(this.#access, run, admitted).ask(() => this.#hand(run, admitted), timeout);
  }

  async waitFor(name: string): Promise<State> {
    const path = statePath((await this.#access.read(this.#name)).machine.machine, name);
    const { state } = await this.#access.watchers.see(this.#name, (sight) => {
      if (matches(sight.state, path)) return true;
      if (hasEnded(sight)) throw endedError(sight, `never came to ${JSON.stringify(path)}`, "RUN_ENDED");
      return false;
    });
    return state;
  }

  async finished(): Promise<End> {
    const { head, state } = await this.#access.watchers.see(this.#name, hasEnded);
    const { output, reason, configuration } = state;
    const where = configuration.join(", ");
    if (head.status === "done") return { status: "done", state: where, output, reason: undefined };
    const status = head.status as Stopped["status"];
    return { status, state: undefined, stoppedIn: where, output: undefined, reason };
  }

  async cancel(actor: Actor = {}): Promise<void> {
    const { by } = actorOf("cancel({ by })", actor);
    const run = await this.#access.read(this.#name);
    if (hasEnded(run)) return;
    try {
      await this.#access.deliver(run, sentBy(cancelEvent(), by));
    } catch (error) {
      // It ended by itself, or somebody else was faster.
      if (!isHoldfastError(error) || error.code !== "RUN_ENDED") throw error;
    }
  }

  async retry(actor: Actor = {}): Promise<void> {
    await this.#access.debugger.goOn(this.#name, actorOf("retry({ by })", actor));
  }

  async checkpoint(): Promise<void> {
    await this.#access.settled(this.#name);
  }

  at(seq: number): Promise<State> {
    return this.#access.travel.at(this.#name, seq);
  }

  async rollback(target: Target, actor: Actor = {}): Promise<number> {
    const usage = "rollback({ to: checkpoint, edit }) or rollback({ by: steps, edit })";
    checkOptions(usage, target, targetNames);
    checkNumber(usage, "to" in target ? target.to : target.by);
    return this.#access.travel.rollBack(this.#name, target, actorOf("rollback(target, { by })", actor));
  }

  async prune(actor: Actor = {}): Promise<PrunedRun> {
    return this.#access.travel.prune(this.#name, actorOf("prune({ by })", actor));
  }

  async fork(options: ForkOptions<JsonObject> = {}): Promise<Run> {
    actorOf("fork({ at, id, edit, by })", options, forkNames);
    return new Handle(await this.#access.travel.fork(this.#name, options), this.#access);
  }

  async diff(from: number, to?: number): Promise<readonly Patch[]> {
    const { head } = await this.#access.read(this.#name);
    return compareCheckpoints(this.#access.past, head, from, to ?? head.seq);
  }

  async lastChange(path: string): Promise<Told | undefined> {
    return findLastChange(this.#access.past, (await this.#access.read(this.#name)).head, path);
  }

  async replay(options: { readonly machine?: AnyMachine } = {}): Promise<Replay> {
    checkOptions("replay({ machine })", options, { machine: true });
    const { machine } = options;
    if (machine !== undefined) checkMachine(machine);
    const { head } = await this.#access.read(this.#name);
    return replay(this.#access.past, this.#access.registry, head, machine as Machine | undefined);
  }

  async migrate(options: MigrateOptions = {}): Promise<Migrated> {
    return this.#access.evolution.migrate(this.#name, options);
  }

  async pause(actor: Actor = {}): Promise<void> {
    await this.#access.debugger.pause(this.#name, actorOf("pause({ by })", actor));
  }

  async breakpoints(breakpoints: readonly Breakpoint[], actor: Actor = {}): Promise<void> {
    const usage = "breakpoints([{ state }, { event }], { by })";
    await this.#access.debugger.set(this.#name, breakpoints, actorOf(usage, actor));
  }

  async advance(events = 1, actor: Actor = {}): Promise<void> {
    await this.#access.debugger.goOn(this.#name, actorOf("advance(events, { by })", actor), events);
  }

  parked(): Promise<JsonObject> {
    return this.#access.debugger.parked(this.#name);
  }

  async *stream(
    activity: string,
    from = 0,
    options: Pick<FollowOptions, "signal"> = {},
  ): AsyncGenerator<Chunk> {
    const signal = signalOf("stream(activity, from, { signal })", from, options);
    const { head, state } = await this.#access.read(this.#name);
    const key = state.activities.find((one) => one.id === activity)?.key ?? activity;
    if (typeof key !== "string" || !/^\d+\.\d+$/.test(key)) {
      throw new HoldfastError(
        "ACTIVITY_UNKNOWN",
        `The run ${JSON.stringify(this.id)} has no activity ${showValue(activity)} under way; one that is over is found by its key`,
      );
    }
    const over = this.#access.watchers.look(this.#name, (sight) =>
      sight.state.activities.every((one) => one.key !== key),
    );
    const aborted = untilAborted(signal);
    const either = Promise.race([over.seen, aborted.told]);
    try {
      if (signal?.aborted !== true)
        yield* this.#access.streams.read({ ...this.#name, key }, head, from, either);
    } finally {
      aborted.cancel();
      over.cancel();
    }
  }

  async profile(): Promise<RunProfile> {
    const { past, clock } = this.#access;
    return readProfile(past, (await this.#access.read(this.#name)).head, clock.now());
  }

  async *journal(from = 1): AsyncGenerator<Entry> {
    checkNumber("journal(from), the number of a checkpoint", from);
    const { head } = await this.#access.read(this.#name);
    yield* this.#access.past.entries(head, from);
  }

  async *follow(from = 1, options: FollowOptions = {}): AsyncGenerator<Entry> {
    const signal = signalOf("follow(from, { signal }), from the number of a checkpoint", from, options);
    yield* followJournal(this.#access, this.#name, { from, signal });
  }
}

const sendNames: Names<SendOptions> = { key: true, by: true };
const askNames: Names<AskOptions> = { ...sendNames, timeout: true };
const forkNames: Names<ForkOptions<JsonObject>> = { at: true, id: true, edit: true, by: true };
const targetNames = { to: true, by: true, edit: true } as const;

/** Who acts, as the options of a call say; throws OPTIONS_INVALID or NAME_INVALID before anything is done. */
function actorOf(usage: string, options: Actor, names: Names<Actor> = { by: true }): Actor {
  checkOptions(usage, options, names);
  checkActor(options.by);
  return options;
}
