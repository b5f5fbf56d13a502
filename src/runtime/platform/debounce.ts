/**
 * Debounces: of calls that come in quick succession only the last takes effect, once it has been quiet for a while. The
 * calls of one key gather in a run of a machine that every runtime has, which is live until it has acted: so whatever
 * holds for runs, timers and singletons holds for it.
 *
 * W1. What it does has one name, made of its run and how often that has acted: however often it is tried, it takes effect
 *     once.
 */
import { durationMs } from "../../core/duration.ts";
import { type Json, toJson } from "../../core/json.ts";
import type { Machine } from "../../core/machine.ts";
import { isHoldfastError } from "../../errors.ts";
import type { ActivityScope } from "../activity/attempt.ts";
import { invalidFlow } from "../flow/flow.ts";
import { checkName, defaultTenant } from "../name.ts";
import { checkOptions } from "../options.ts";
import type { MachineEntry } from "../registry.ts";
import type { DebounceOptions, Run } from "../run.ts";
import { type DebounceCall, type DebounceContext, debounceMachine } from "./debounce-machine.ts";
import { type DeedWorld, deedOf, perform } from "./perform.ts";
import type { Singletons, Started } from "./singleton.ts";

export interface DebounceWorld extends DeedWorld {
  readonly singletons: Singletons;
}

export class Debounces {
  readonly #world: DebounceWorld;
  /** What the machine of debounces needs to run. */
  readonly entry: MachineEntry = {
    machine: debounceMachine,
    activities: { act: (acting: never, scope) => this.#act(acting, scope) },
  };

  constructor(world: DebounceWorld) {
    this.#world = world;
  }

  /** Makes a call; resolves when it is durable. */
  async call(key: string, options: DebounceOptions): Promise<Run<DebounceContext>> {
    checkName("key", key);
    checkOptions("debounce(key, { for, start })", options);
    const { tenant = defaultTenant } = options;
    const call = callOf(options);
    const subject = await this.#subjectOf(call, tenant);
    for (;;) {
      const started = await this.#world.singletons.start(debounceMachine as unknown as Machine, key, {
        ...{ tenant, attributes: { debounce: key }, input: { key, call } as unknown as Json },
        ...(subject === undefined ? undefined : { subject }),
      });
      if (started.begun || (await takes(started, call)))
        return started.run as unknown as Run<DebounceContext>;
    }
  }

  /** Whose data it holds; throws what would make it fail later. */
  async #subjectOf({ start, send }: DebounceCall, tenant: string): Promise<string | undefined> {
    if (send !== undefined) return (await (await this.#world.run(send.run, { tenant })).head()).subject;
    this.#world.machine((start as { machine: string }).machine);
    return start?.subject;
  }

  #act(
    { key, count, call }: { key: string; count: number; call: DebounceCall },
    { run, tenant }: ActivityScope,
  ): Promise<Json> {
    const name = `${run}@${count}`;
    return perform(this.#world, call, {
      ...{ by: { tenant, run }, name, attributes: { debounce: key }, given: undefined },
    });
  }
}

/** Whether a run that has been gathering takes one more call; not if it has ended meanwhile. */
async function takes({ run }: Started, call: DebounceCall): Promise<boolean> {
  try {
    const receipt = await run.send("call", call as unknown as Json);
    return (await receipt.handled()).outcome === "taken";
  } catch (error) {
    if (isHoldfastError(error) && error.code === "RUN_ENDED") return false;
    throw error;
  }
}

function callOf(options: DebounceOptions): DebounceCall {
  const { for: quiet, max } = options;
  const deed = deedOf(options);
  if (deed === undefined) throw invalidFlow("write either start: { machine } or send: { run, type }");
  const forMs = durationMs(quiet);
  const maxMs = max === undefined ? null : durationMs(max);
  if (maxMs !== null && maxMs < forMs)
    throw invalidFlow("max is shorter than the time it is to be quiet for");
  return toJson({ ...deed, forMs, maxMs }, [], "debounce") as unknown as DebounceCall;
}
