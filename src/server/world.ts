/** What the routes of a server have to work with. */

import type { State } from "../core/state.ts";
import { isHoldfastError } from "../errors.ts";
import type { Activity } from "../runtime/activity/attempt.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Ids } from "../runtime/ids.ts";
import type { Past } from "../runtime/live/past.ts";
import { type Actor, unknownRunError } from "../runtime/name.ts";
import type { BoundMachine } from "../runtime/registry.ts";
import type { Committed, CommittedStep, Run, Runtime } from "../runtime/run.ts";
import type { Seal } from "../runtime/seal.ts";
import type { Principal } from "../security/identity.ts";
import type { Keys } from "../security/keys.ts";
import type { RunHead, RunName } from "../store/records.ts";
import type { Store } from "../store/store.ts";
import type { AnswerOf, InputOf, RouteName, StreamName } from "./contract.ts";
import type { Feed } from "./feed.ts";
import type { Readiness } from "./readiness.ts";
import type { Sink, Sinks } from "./sink.ts";
import type { Tally } from "./tally.ts";

export interface World {
  readonly runtime: Runtime;
  readonly store: Store;
  readonly seal: Seal;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly past: Past;
  readonly keys: Keys;
  readonly feed: Feed;
  readonly sinks: Sinks;
  readonly tally: Tally;
  readonly readiness: Readiness;
  /** The server's own tenant: its admins make keys for others, and its developers upload machines. */
  readonly tenant: string;
  readonly isDev: boolean;
  readonly devToken: string | undefined;
  readonly version: string;
  /** Code that machines which are uploaded may use. */
  readonly activities: Readonly<Record<string, Activity>>;
  readonly storeKind: string;
  storeBytes(): Promise<number | undefined>;
  /** Told of what is wrong where nobody asked about it. */
  problem(error: unknown): void;
  isDraining(): boolean;
  /** Why it takes nothing new; undefined while it does. */
  unready(): string | undefined;
}

/** What a handler is told of a request besides its input. */
export interface Scope {
  readonly principal: Principal;
  readonly idempotencyKey: string | undefined;
  readonly lastEventId: string | undefined;
  /** The answer's status, where it is not that of the route. */
  status?: number;
}

/** Who asks, as the journal is to tell it. */
export const actorOf = ({ principal }: Scope): Required<Actor> => ({ by: principal.id });

/** Every route has one; a route without one does not compile. */
export type Handlers = {
  readonly [Name in RouteName]: Name extends StreamName
    ? (input: InputOf<Name>, scope: Scope, sink: Sink) => Promise<void>
    : (input: InputOf<Name>, scope: Scope) => Promise<AnswerOf<Name>> | AnswerOf<Name>;
};
export type Some<Prefix extends string> = Pick<Handlers, Extract<RouteName, `${Prefix}.${string}`>>;

/** A run of a principal's tenant; those of others are not there. */
export function findRun(world: World, { principal }: Scope, run: string): Promise<Run> {
  return world.runtime.run(run, { tenant: principal.tenant });
}

/** What can be said of a run, also where this process has not the code of its machine. */
export interface Seen {
  readonly head: RunHead;
  readonly state: State;
  readonly machine: BoundMachine | undefined;
}

export function seeRun(world: World, { principal }: Scope, run: string): Promise<Seen> {
  return seeNamed(world, { tenant: principal.tenant, run });
}

export async function seeNamed(
  world: Pick<World, "runtime" | "store" | "past">,
  name: RunName,
): Promise<Seen> {
  try {
    const run = await world.runtime.run(name.run, { tenant: name.tenant });
    const head = await run.head();
    return {
      head,
      state: await run.state(),
      machine: world.runtime.machines.read(head.machine, head.version),
    };
  } catch (error) {
    if (!isHoldfastError(error) || error.code !== "MACHINE_UNKNOWN") throw error;
    const head = await world.store.readHead(name);
    if (head === undefined) throw unknownRunError(name);
    const { state } = await world.past.at(head, head.seq);
    return { head, state: state as unknown as State, machine: undefined };
  }
}

/** A run as it is, with its steps after a checkpoint; of those that were pruned, none. */
export async function readSteps(world: World, name: RunName, since: number): Promise<Committed> {
  const { head, state } = await seeNamed(world, name);
  const steps: CommittedStep[] = [];
  for await (const { seq, at, event, outcome, effects } of world.past.entries(head, since + 1)) {
    // What came after the state was read comes with the next hint.
    if (seq > head.seq) break;
    steps.push({ seq, at, event, outcome, effects });
  }
  return { head, state, steps };
}
