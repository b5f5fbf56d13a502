/**
 * One machine run twice, by XState itself and here after import, event by event. After every move both are asked for
 * the same things; what they answer differently is returned, never judged here.
 */
import { type AnyActorRef, type AnyStateMachine, createActor, fromPromise, SimulatedClock } from "xstate";
import { fromXStateEvent } from "../../src/core/formats/xstate/event.ts";
import { fromXState, type XStateImport } from "../../src/core/formats/xstate/import.ts";
import type { XStateEvent } from "../../src/core/formats/xstate/source.ts";
import type { Json } from "../../src/core/json.ts";
import { defineMachine, type Machine } from "../../src/core/machine.ts";
import { type Simulation, simulate } from "../../src/core/simulate.ts";
import { isHoldfastError } from "../../src/errors.ts";

/** An event by its type, an event, or a number of milliseconds to let pass. */
export type Move = string | XStateEvent | number;

/** What is compared after every move. Everything that happened is listed since the move before. */
export interface Sight {
  readonly status: string;
  /** The paths of the active leaves. */
  readonly configuration: readonly string[];
  readonly context: unknown;
  readonly output: unknown;
  /** The user's own actions, with their params, in order. */
  readonly actions: readonly unknown[];
  readonly logs: readonly unknown[];
  readonly emitted: readonly unknown[];
  /** What is under way, by id; for a child machine its active leaves. */
  readonly children: Readonly<Record<string, unknown>>;
  readonly tags: readonly string[];
}

export type Aspect = keyof Sight;

export interface Difference {
  /** Undefined for the start. */
  readonly move: Move | undefined;
  readonly aspect: Aspect;
  readonly xstate: unknown;
  readonly holdfast: unknown;
}

export interface Comparison {
  readonly differences: readonly Difference[];
  readonly imported: XStateImport;
  /** How many of XState's sights differ from the one before: a scenario in which nothing happens shows nothing. */
  readonly changes: number;
}

/** Time moves in steps of this many milliseconds on both sides; delays in scenarios are multiples of it. */
const tickMs = 10;

/** Runs the moves on both sides. */
export async function compare(
  machine: AnyStateMachine,
  moves: readonly Move[],
  input?: unknown,
): Promise<Comparison> {
  const imported = fromXState(machine);
  const theirs = runXState(machine, input);
  const ours = runHoldfast(imported, input as Json | undefined);
  const differences: Difference[] = [];
  let changes = 0;
  let before = "";
  for (const move of [undefined, ...moves]) {
    for (const side of [theirs, ours])
      if (move === undefined) side.start();
      else side.make(move);
    await new Promise((resolve) => setImmediate(resolve));
    const xstate = theirs.look();
    const holdfast = ours.look();
    const text = JSON.stringify(xstate);
    if (text !== before) changes++;
    before = text;
    for (const aspect of Object.keys(xstate) as Aspect[])
      if (textOf(xstate[aspect]) !== textOf(holdfast[aspect]))
        differences.push({ move, aspect, xstate: xstate[aspect], holdfast: holdfast[aspect] });
  }
  theirs.stop();
  return { differences, imported, changes };
}

interface Side {
  start(): void;
  make(move: Move): void;
  look(): Sight;
  stop(): void;
}

function runXState(machine: AnyStateMachine, input: unknown): Side {
  const clock = new SimulatedClock();
  const logs: unknown[] = [];
  const actions: unknown[] = [];
  const emitted: unknown[] = [];
  const actor = createActor(machine, {
    clock: clock as never,
    input: input as never,
    logger: (...given: unknown[]) => void logs.push(plain(given.length > 1 ? given : given[0])),
    inspect: (seen) => {
      if (seen.type !== "@xstate.action" || seen.actorRef !== actor) return;
      const { type, params } = seen.action;
      if (!type.startsWith("xstate.")) actions.push(params === undefined ? [type] : [type, plain(params)]);
    },
  });
  // An actor that ends in an error tells whoever listens, and otherwise everybody.
  actor.subscribe({ error: () => undefined });
  actor.on("*", (event) => void emitted.push(plain(event)));
  return {
    start: () => void actor.start(),
    make(move) {
      if (typeof move !== "number") actor.send((typeof move === "string" ? { type: move } : move) as never);
      else
        for (let passed = 0; passed < move || passed === 0; passed += tickMs)
          clock.increment(move === 0 ? 0 : tickMs);
    },
    look() {
      const snapshot = actor.getSnapshot();
      return {
        status: snapshot.status,
        configuration: leavesOf(snapshot.value).sort(),
        context: plain(snapshot.context),
        output: plain(snapshot.output),
        actions: actions.splice(0),
        logs: logs.splice(0),
        emitted: emitted.splice(0),
        children: xstateChildren(snapshot.children),
        tags: [...snapshot.tags].sort(),
      };
    },
    stop: () => void actor.stop(),
  };
}

function xstateChildren(
  children: Readonly<Record<string, AnyActorRef | undefined>>,
): Record<string, unknown> {
  const active = Object.entries(children).flatMap(([id, child]) => {
    const snapshot = child?.getSnapshot();
    if (snapshot?.status !== "active") return [];
    return [[id, "value" in snapshot ? leavesOf(snapshot.value).sort() : "busy"] as const];
  });
  return Object.fromEntries(active.sort(byId));
}

const byId = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : 1;

function runHoldfast(imported: XStateImport, input: Json | undefined): Side {
  const machine = defineMachine(imported.definition);
  const activities = Object.fromEntries(
    Object.entries(imported.activities).map(([name, code]) => [
      name,
      (given: Json | undefined) => atOnce(code, given),
    ]),
  );
  for (const [name, code] of Object.entries(imported.activities))
    if (isPending(code)) delete activities[name];
  let simulation: Simulation | undefined;
  let refused: string | undefined;
  const attempt = (act: () => void) => {
    try {
      act();
      const error = simulation?.last.error;
      if (error !== undefined && error.code !== "RUN_ENDED") refused = error.code;
    } catch (error) {
      if (!isHoldfastError(error)) throw error;
      refused = error.code;
    }
  };
  const seen = { logs: 0, emitted: 0 };
  return {
    start: () =>
      attempt(() => {
        simulation = simulate(machine, { activities, run: "run", ...(input === undefined ? {} : { input }) });
      }),
    make: (move) =>
      attempt(() => {
        if (typeof move === "string") simulation?.send(move);
        else if (typeof move !== "number") simulation?.send(fromXStateEvent(move));
        else
          for (let passed = 0; passed < move || passed === 0; passed += tickMs)
            simulation?.advance(move === 0 ? 0 : tickMs);
      }),
    look: () => sightOf(simulation, machine, refused, seen),
    stop: () => undefined,
  };
}

function sightOf(
  simulation: Simulation | undefined,
  machine: Machine,
  refused: string | undefined,
  seen: { logs: number; emitted: number },
): Sight {
  if (simulation === undefined)
    return {
      status: refused ?? "none",
      configuration: [],
      context: {},
      output: undefined,
      actions: [],
      logs: [],
      emitted: [],
      children: {},
      tags: [],
    };
  const { state } = simulation;
  const logs = simulation.logs.slice(seen.logs);
  const emitted = simulation.emitted.slice(seen.emitted).filter(({ run }) => run === "run");
  seen.logs = simulation.logs.length;
  seen.emitted = simulation.emitted.length;
  const isAction = ({ event }: (typeof emitted)[number]) => event.type.startsWith("action.");
  return {
    status: refused ?? state.status,
    configuration: [...state.configuration].sort(),
    context: state.context,
    output: state.output,
    actions: emitted.filter(isAction).map(({ event }) => {
      const name = event.type.slice("action.".length);
      return event.data === undefined ? [name] : [name, event.data];
    }),
    logs: logs.map(({ label, data }) => (label === undefined ? data : [label, data])),
    emitted: emitted
      .filter((one) => !isAction(one))
      .map(({ event: { type, data } }) => ({ type, ...(data as object) })),
    children: holdfastChildren(simulation),
    tags: [...new Set(activeTags(machine, state.configuration))].sort(),
  };
}

function activeTags(machine: Machine, configuration: readonly string[]): string[] {
  const active = machine.chart.nodes.filter(
    ({ path }) => path === "" || configuration.some((leaf) => leaf === path || leaf.startsWith(`${path}.`)),
  );
  return active.flatMap(({ tags }) => [...tags]);
}

function holdfastChildren(simulation: Simulation): Record<string, unknown> {
  const { activities, children } = simulation.state;
  const machines = children.map(
    ({ id, key }) => [id, [...(simulation.run(`run/${id}:${key}`)?.configuration ?? [])].sort()] as const,
  );
  return Object.fromEntries([...activities.map(({ id }) => [id, "busy"] as const), ...machines].sort(byId));
}

/** The leaves of a state value, as paths. */
export function leavesOf(value: unknown, path = ""): string[] {
  const join = (key: string) => (path === "" ? key : `${path}.${key}`);
  if (typeof value === "string") return [join(value)];
  const entries = Object.entries((value ?? {}) as object);
  if (entries.length === 0) return path === "" ? [] : [path];
  return entries.flatMap(([key, inner]) => leavesOf(inner, join(key)));
}

/** A value as text that does not depend on the order of keys. */
function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, item) =>
      typeof item === "object" && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(byId))
        : item,
    ) ?? "undefined"
  );
}

/** A value as JSON has it: what is undefined is not there, and an error is its name and message. */
function plain(value: unknown): unknown {
  const text = JSON.stringify(value, (_, item) =>
    item instanceof Error ? { name: item.name, message: item.message } : item,
  );
  return text === undefined ? undefined : JSON.parse(text);
}

// Promise actors that both sides can run in the same order.

const pending = Symbol("pending");

/** A promise actor that gives what the function gives for its input, or fails as it fails. */
export function promised<Input>(work: (input: Input) => unknown) {
  return fromPromise<unknown, Input>(({ input }) => immediately(() => work(input)));
}

/** A promise actor that never ends. */
export const endless = fromPromise<unknown>(() =>
  Object.assign(new Promise(() => undefined), { [pending]: true }),
);

/** A promise that tells at once, to whoever asks at once. */
function immediately(work: () => unknown): PromiseLike<never> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: this is a promise, and one that does not wait.
    then(resolve: (value: never) => never, reject: (error: unknown) => never) {
      let value: unknown;
      try {
        value = work();
      } catch (error) {
        return reject(error) as never;
      }
      return resolve(value as never) as never;
    },
  } as PromiseLike<never>;
}

type ActivityCode = XStateImport["activities"][string];
const scope = { signal: new AbortController().signal };

function isPending(code: ActivityCode): boolean {
  try {
    return (
      typeof (code as (input: unknown, scope: unknown) => object)(undefined, scope) === "object" &&
      pending in (code as (input: unknown, scope: unknown) => object)(undefined, scope)
    );
  } catch {
    return false;
  }
}

function atOnce(code: ActivityCode, input: Json | undefined): Json | undefined {
  const promise = (code as (input: unknown, scope: unknown) => PromiseLike<unknown>)(input, scope);
  let end: { readonly value?: unknown; readonly error?: unknown } = {};
  promise.then(
    (value) => {
      end = { value };
    },
    (error) => {
      end = { error };
    },
  );
  if ("error" in end) throw end.error;
  return end.value as Json | undefined;
}
