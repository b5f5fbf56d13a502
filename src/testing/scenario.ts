/** A scenario: what a test did, in order, so that it can be done again in another world. */
import type { MachineReference } from "../core/definition.ts";
import { durationMs } from "../core/duration.ts";
import type { Json } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import type { Handled } from "../runtime/live/live-run.ts";
import type { Runtime, StartOptions } from "../runtime/runtime.ts";
import type { World } from "./world.ts";

/** What came of a deed; one that waits has not been answered yet. */
export type Fate<Value = unknown> =
  | { readonly status: "waiting" }
  | { readonly status: "done"; readonly value: Value }
  | { readonly status: "failed"; readonly error: unknown };

/** A deed under way: what came of it so far, and of it in the end. */
export interface Doing<Value = unknown> {
  fate: Fate<Value>;
  readonly end: Promise<Value>;
}

/** One thing a test did. */
export interface Deed<Value = unknown> {
  /** As the test wrote it, more or less. */
  readonly name: string;
  /** Does it, and lets what follows come to rest. */
  readonly do: (world: World) => Promise<Doing<Value>>;
  /** What of its result is the same in every world. */
  readonly tell?: (value: unknown) => unknown;
}

/** Begins something and lets everything come to rest; it may still wait for something then. */
async function begin<Value>(world: World, work: (runtime: Runtime) => Promise<Value>): Promise<Doing<Value>> {
  const end = world.during(work);
  const doing: Doing<Value> = { fate: { status: "waiting" }, end };
  end.then(
    (value) => {
      doing.fate = { status: "done", value };
    },
    (error: unknown) => {
      doing.fate = { status: "failed", error };
    },
  );
  await world.rest();
  return doing;
}

export function startDeed(machine: MachineReference, options: StartOptions & { readonly id: string }): Deed {
  const { id, input } = options;
  return {
    name: `start ${machine.id} as ${JSON.stringify(id)}${shown(input)}`,
    do: (world) => begin(world, (runtime) => runtime.start(machine as Machine, options)),
  };
}

/** An event on its way. */
export interface Outgoing {
  readonly run: string;
  readonly type: string;
  readonly data: Json | undefined;
  readonly tenant: string;
  readonly key: string;
}

export function sendDeed({ run, type, data, tenant, key }: Outgoing): Deed<Handled> {
  return {
    name: `send ${type}${shown(data)}`,
    tell: (handled) => {
      const { outcome, error } = handled as Handled;
      return error === undefined ? outcome : `${outcome} (${error.code})`;
    },
    do: (world) =>
      begin(world, async (runtime) => {
        const receipt = await (await runtime.run(run, { tenant })).send(type, data, { key });
        return receipt.handled();
      }),
  };
}

export function askDeed(
  { run, type, data, tenant, key }: Outgoing,
  timeout: number | string | undefined,
): Deed<Json> {
  return {
    name: `ask ${type}${shown(data)}`,
    tell: (reply) => reply,
    do: (world) =>
      begin(world, async (runtime) => {
        const handle = await runtime.run(run, { tenant });
        return handle.ask(type, data, { key, ...(timeout === undefined ? undefined : { timeout }) });
      }),
  };
}

export function performDeed<Value>(
  work: (runtime: Runtime) => Promise<Value>,
  name = "perform",
): Deed<Value> {
  return { name, do: (world) => begin(world, work) };
}

const over: Doing<undefined> = {
  fate: { status: "done", value: undefined },
  end: Promise.resolve(undefined),
};

export function advanceDeed(duration: number | string): Deed {
  durationMs(duration);
  return {
    name: `advance ${duration}`,
    do: async (world) => {
      await world.clock.advance(duration);
      return over;
    },
  };
}

export function advanceToDeed(time: number): Deed {
  return {
    name: `advance to ${time}`,
    do: async (world) => {
      await world.clock.advance(Math.max(0, time - world.clock.now()));
      return over;
    },
  };
}

export function settleDeed(): Deed {
  return {
    name: "settle",
    do: async (world) => {
      await world.rest();
      return over;
    },
  };
}

export function crashDeed(): Deed {
  return {
    name: "crash",
    do: async (world) => {
      world.kill();
      await world.rest();
      return over;
    },
  };
}

/** How much of a payload a deed's name shows. */
const shownMax = 60;

function shown(data: Json | undefined): string {
  if (data === undefined) return "";
  const text = JSON.stringify(data);
  return ` ${text.length > shownMax ? `${text.slice(0, shownMax)}…` : text}`;
}
