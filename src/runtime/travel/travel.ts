/** Travel: a run as it was, the way back to there, and other presents that begin there. */
import type { Draft } from "../../core/definition.ts";
import type { ActivityEffect, SpawnEffect } from "../../core/effect.ts";
import { type Event, forkEvent, rollbackEvent, sentBy } from "../../core/event.ts";
import type { JsonObject } from "../../core/json.ts";
import { restore } from "../../core/restore.ts";
import { beginFork, type Past as Place, rollBack } from "../../core/rewind.ts";
import type { State } from "../../core/state.ts";
import { type Outage, resumedDue } from "../../core/timer.ts";
import { HoldfastError } from "../../errors.ts";
import type { RunHead, RunName } from "../../store/records.ts";
import type { Clock } from "../clock.ts";
import type { Ids } from "../ids.ts";
import { type Delivery, type Handled, hasEnded, type LiveRun, newRun } from "../live/live-run.ts";
import type { Past } from "../live/past.ts";
import { type Actor, checkName } from "../name.ts";
import { checkEdit } from "../options.ts";
import { readParking } from "../park.ts";
import type { Registry } from "../registry.ts";
import { compareRuns, type Difference } from "./compare.ts";
import { type PrunedRun, type PruningWorld, pruneRun } from "./prune-run.ts";

/** What travelling needs of the rest. */
export interface TravelWorld extends PruningWorld {
  readonly past: Past;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The run at its newest checkpoint, nothing of it waiting for a commit. */
  settled(name: RunName): Promise<LiveRun>;
  /** Gives an event of the platform to a run; resolves when its step is durable, the one given or what it leads to. */
  deliver(run: LiveRun, event: Event, take?: NonNullable<Delivery["take"]>): Promise<Handled>;
  /** The run of that name; if there is none, the one that begins. */
  begin(name: RunName, make: () => Promise<LiveRun>): Promise<LiveRun>;
}

/** Where to go back to: a checkpoint, or so many before the newest one; `edit` changes the context to go on with. */
export type Target<Context = JsonObject> = ({ readonly to: number } | { readonly by: number }) & {
  readonly edit?: (draft: Draft<Context>) => void;
};

export interface ForkOptions<Context> extends Actor {
  /** The checkpoint to begin from; the newest one unless given. */
  readonly at?: number;
  /** The fork's own id. */
  readonly id?: string;
  /** Changes the context it begins with. */
  readonly edit?: (draft: Draft<Context>) => void;
}

export class Travel {
  readonly #world: TravelWorld;

  constructor(world: TravelWorld) {
    this.#world = world;
  }

  /** The state of a run at a checkpoint. */
  async at(name: RunName, seq: number): Promise<State> {
    const { head, state } = await this.#world.settled(name);
    return head.seq === seq ? state : ((await this.#world.past.at(head, seq)).state as unknown as State);
  }

  /** The state of a run when one of its activities began. */
  async beginning(name: RunName, key: string): Promise<State> {
    const { head, state } = await this.#world.settled(name);
    const stepsSince = state.seq - Number.parseInt(key, 10);
    if (stepsSince === 0) return state;
    // Each step has an entry, and so has what was refused.
    const { state: before } = await this.#world.past.beginning(head, key, head.seq - stepsSince);
    return before as unknown as State;
  }

  /** What two runs have in common, and where they part. */
  async compare(one: RunName, other: RunName): Promise<Difference> {
    const { past, settled } = this.#world;
    return compareRuns(past, (await settled(one)).head, (await settled(other)).head);
  }

  /** Takes a run back, in a new step; gives the checkpoint of that step. */
  async rollBack(name: RunName, target: Target, actor: Actor): Promise<number> {
    checkEdit(target.edit);
    const run = await this.#world.settled(name);
    if (hasEnded(run)) {
      throw new HoldfastError(
        "RUN_ENDED",
        `The run ${JSON.stringify(name.run)} is ${run.head.status} and cannot go back; fork it from where it should go on`,
      );
    }
    const { head } = run;
    const { edit } = target;
    const { by } = actor;
    const seq = "to" in target ? target.to : head.seq - target.by;
    const place = await this.#place(head, seq);
    const machine = this.#world.registry.read(place.state.machine, place.state.version).machine;
    // What came to its end with a result that the run could not take is not under way any more.
    const parking = head.status === "parked" ? await readParking(this.#world.past, head) : undefined;
    const event = sentBy(rollbackEvent(seq), by);
    let isStale = false;
    const take: NonNullable<Delivery["take"]> = (state, at, now) => {
      isStale = now.status !== head.status || (parking !== undefined && now.seq !== head.seq);
      if (isStale) throw new HoldfastError("STATE_INVALID", "The run was parked or brought back meanwhile");
      const still = withoutInvocation(state, parking?.result?.invocation);
      // The time it was parked is an outage for the timers that go on, as it is when it is brought back.
      const current = parking === undefined ? still : afterOutage(still, { from: parking.at, until: at });
      const options = { at, run: name.run, ...(edit && { edit }), ...(by !== undefined && { by }) };
      const step = rollBack(machine, current, place, options);
      // Where it was before nothing was broken: it is the edit that is refused, and then nothing has happened.
      if (step.error !== undefined) throw step.error;
      return { event, step };
    };
    try {
      return (await this.#world.deliver(run, event, take)).seq;
    } catch (error) {
      if (isStale) return this.rollBack(name, { to: seq, ...(edit && { edit }) }, actor);
      throw error;
    }
  }

  /** Lets nobody go back: what a run was before now is gone. */
  prune(name: RunName, actor: Actor): Promise<PrunedRun> {
    return pruneRun(this.#world, name, actor);
  }

  /** Begins a run from a checkpoint of another; a fork of that id and origin that is there already is meant. */
  async fork(source: RunName, options: ForkOptions<JsonObject>): Promise<RunName> {
    const { id = this.#world.ids.next() } = options;
    checkName("run", id);
    checkEdit(options.edit);
    const { head } = await this.#world.settled(source);
    const seq = options.at ?? head.seq;
    const name = { tenant: source.tenant, run: id };
    const run = await this.#world.begin(name, () => this.#beginFork(name, head, seq, options));
    const { fork } = run.head;
    if (fork?.run === source.run && fork.seq === seq) return name;
    throw new HoldfastError(
      "RUN_DIFFERS",
      `The run ${JSON.stringify(id)} exists already, and is no fork of ${JSON.stringify(source.run)} at ${seq}; choose another id`,
    );
  }

  async #beginFork(
    name: RunName,
    source: RunHead,
    seq: number,
    { edit, by }: ForkOptions<JsonObject>,
  ): Promise<LiveRun> {
    const { clock, registry, deliver } = this.#world;
    const { digest, ...place } = await this.#place(source, seq);
    const { subject, attributes, limits } = source;
    const parts = { subject, attributes, fork: { run: source.run, seq, digest }, ...(limits && { limits }) };
    const machine = registry.read(place.state.machine, place.state.version);
    const run: LiveRun = { ...newRun(name, machine, parts, clock.now()), state: place.state };
    const event = sentBy(forkEvent(source.run, seq), by);
    const asked = { run: name.run, ...(edit && { edit }), ...(by !== undefined && { by }) };
    await deliver(run, event, (_, at) => {
      const options = { at, ...asked };
      return { event, step: beginFork(machine.machine, source.run, place, options) };
    });
    return run;
  }

  /** A checkpoint as a place to go on from, and the digest there. */
  async #place(head: RunHead, seq: number): Promise<Place & { readonly digest: string }> {
    const { past, registry } = this.#world;
    const { at } = await past.checkpoint(head, seq);
    const rebuilt = await past.at(head, seq);
    const { digest } = rebuilt;
    const stored = rebuilt.state as unknown as State;
    const state = restore(registry.read(stored.machine, stored.version).machine, stored) as State;
    return { state, seq, at, begun: await this.#begun(head, seq, state), digest };
  }

  /** What the invocations under way at a checkpoint were begun with: most began not long before it. */
  async #begun(head: RunHead, seq: number, { activities, children }: State): Promise<Place["begun"]> {
    const wanted = new Set([...activities, ...children].map(({ key }) => key));
    const begun = new Map<string, ActivityEffect | SpawnEffect>();
    if (wanted.size === 0) return begun;
    for await (const { effects } of this.#world.past.back(head, seq)) {
      for (const effect of effects)
        if ((effect.type === "activity" || effect.type === "spawn") && wanted.delete(effect.key))
          begun.set(effect.key, effect);
      if (wanted.size === 0) break;
    }
    return begun;
  }
}

function withoutInvocation(state: State, ended: string | undefined): State {
  const isLeft = ({ key }: { readonly key: string }) => key !== ended;
  return { ...state, activities: state.activities.filter(isLeft), children: state.children.filter(isLeft) };
}

function afterOutage(state: State, outage: Outage): State {
  const timers = state.timers.map((timer) =>
    timer.resume === undefined ? timer : { ...timer, ...resumedDue(timer, [outage]) },
  );
  return { ...state, timers };
}
