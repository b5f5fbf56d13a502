/**
 * The harness: a machine under test, in a world where time passes when the test says so. Whatever is done through it is
 * remembered as the scenario, which `crashEverywhere` plays again and again.
 */
import type { MachineReference, MachineTypes } from "../core/definition.ts";
import type { Effect } from "../core/effect.ts";
import type { EventShape } from "../core/event.ts";
import type { MachineOutput } from "../core/infer-invoke.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import { nearest } from "../core/nearest.ts";
import type { State } from "../core/state.ts";
import { HoldfastError } from "../errors.ts";
import type { Handled } from "../runtime/live/live-run.ts";
import { defaultTenant } from "../runtime/name.ts";
import { scheduleMachine } from "../runtime/platform/schedule-machine.ts";
import type { AnyMachine } from "../runtime/registry.ts";
import type { Run, Runtime, StartOptions } from "../runtime/runtime.ts";
import { type CrashOptions, type CrashReport, crashEverywhere } from "./crash.ts";
import {
  type Evidence,
  type Expected,
  type ExpectedStep,
  expectCalls,
  expectEvent,
  expectRun,
} from "./expectation.ts";
import type { JournalStep, Recorded, Reflection } from "./mirror.ts";
import * as deeds from "./scenario.ts";
import type { Script } from "./script.ts";
import { type HarnessOptions, Stage } from "./stage.ts";
import type { Call, Scripts, World } from "./world.ts";

/**
 * What activities answer, by name: as their schemas say, where the machine has some, beside what children need. A function
 * makes them anew for each world, with whatever state they keep.
 */
export type ScriptsOf<Types extends MachineTypes = MachineTypes> =
  | ScriptsFor<Types["activities"]>
  | (() => ScriptsFor<Types["activities"]>);
type ScriptsFor<Activities> = [unknown] extends [Activities]
  ? Scripts
  : Scripts & { readonly [Name in keyof Activities]: Activities[Name] | Script<Given<Activities[Name]>> };
type Given<Code> = Code extends (...given: never) => infer Output ? Awaited<Output> : never;

/** The types of events there are, and what is sent along: by schemas, or as `defineMachine<…>` was told. */
type TypeOf<Ev extends EventShape, Sends> = [unknown] extends [Sends] ? Ev["type"] : keyof Sends & string;
type SendRest<Ev extends EventShape, Sends, Type, Options> = [unknown] extends [Sends]
  ? [data?: DataOf<Ev, Type>, options?: Options]
  : Type extends keyof Sends
    ? undefined extends Sends[Type]
      ? [data?: Sends[Type], options?: Options]
      : [data: Sends[Type], options?: Options]
    : never;
/** The data of an event of this type. */
type DataOf<Ev extends EventShape, Type> = string extends Ev["type"]
  ? Json
  : Extract<Ev, { readonly type: Type }> extends { readonly data?: infer Data }
    ? Data
    : undefined;

type StartRest<Input, Given> = [unknown] extends [Given]
  ? [input?: Input, options?: Omit<StartOptions, "input">]
  : undefined extends Given
    ? [input?: Given, options?: Omit<StartOptions, "input">]
    : [input: Given, options?: Omit<StartOptions, "input">];

export interface SendOptions {
  /** Another run than the one started last. */
  readonly run?: string;
  /** The harness gives every event a key of its own unless the test does. */
  readonly key?: string;
}

/** What became of an event; `waiting` while its run is parked. */
export type Sent = Handled | { readonly outcome: "waiting" };

/** A machine in a world of its own: the real runtime, scripted activities, and time that passes when the test says so. */
export async function harness<Context, Ev extends EventShape, Input, Types extends MachineTypes>(
  machine: Machine<Context, Ev, Input, Types>,
  scripts: ScriptsOf<Types> = {} as ScriptsOf<Types>,
  options: HarnessOptions = {},
): Promise<Harness<Context, Ev, Input, Types>> {
  const stage = new Stage(machine as unknown as AnyMachine, scripts as Scripts | (() => Scripts), options);
  const world = stage.makeWorld();
  await world.open();
  return new Harness<Context, Ev, Input, Types>(stage, world);
}

/** A machine under test. Made by `harness`. */
export class Harness<
  Context = JsonObject,
  Ev extends EventShape = EventShape,
  Input = Json,
  Types extends MachineTypes = MachineTypes,
> {
  readonly #stage: Stage;
  readonly #world: World;
  readonly #scenario: deeds.Deed[] = [];
  #id: string | undefined;
  #tenant = defaultTenant;
  #keys = 0;
  #handle:
    | { readonly run: Run<Context, Types>; readonly runtime: Runtime; readonly process: number }
    | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(stage: Stage, world: World, id?: string) {
    this.#stage = stage;
    this.#world = world;
    this.#id = id;
  }

  // What a test does. All of it is part of the scenario.

  /** Starts a run, which the other methods are about from now on. Its id is that of the machine unless given. */
  async start(...[input, options = {}]: StartRest<Input, Types["input"]>): Promise<void> {
    const { machine } = this.#stage;
    const { id = machine.id, tenant = defaultTenant } = options;
    const given = input === undefined ? undefined : { input: input as Json };
    await this.#do(deeds.startDeed(machine, { ...options, ...given, id })).then(({ end }) => end);
    this.#id = id;
    this.#tenant = tenant;
    await this.#hold();
  }

  /** Sends an event, lets everything come to rest, and tells what became of the event. */
  async send<Type extends TypeOf<Ev, Types["sends"]>>(
    type: Type,
    ...rest: SendRest<Ev, Types["sends"], Type, SendOptions>
  ): Promise<Sent> {
    const [data, options = {}] = rest;
    const { fate, end } = await this.#do(deeds.sendDeed(this.#outgoing(type, data as Json, options)));
    return fate.status === "waiting" ? { outcome: "waiting" } : end;
  }

  /** Sends an event and resolves with the reply to it, which may come only when time has passed. */
  ask<Type extends TypeOf<Ev, Types["sends"]>>(
    type: Type,
    ...rest: SendRest<Ev, Types["sends"], Type, SendOptions & { readonly timeout?: number | string }>
  ): Promise<Json> {
    const [data, options = {}] = rest;
    const asked = deeds.askDeed(this.#outgoing(type, data as Json, options), options.timeout);
    const reply = this.#do(asked).then(({ end }) => end);
    // The test may look at it only after time has passed.
    reply.catch(() => {});
    return reply;
  }

  /** Lets time pass, with all that follows. */
  async advance(duration: number | string): Promise<void> {
    await this.#do(deeds.advanceDeed(duration));
  }

  /** Lets time pass until the clock shows this, in milliseconds since 1970. */
  async advanceTo(time: number): Promise<void> {
    await this.#do(deeds.advanceToDeed(time));
  }

  /** Lets everything come to rest, and looks at it again: after something was done past the harness. */
  async settle(): Promise<void> {
    await this.#do(deeds.settleDeed());
  }

  /** Kills the process and starts the next one. */
  async crash(): Promise<void> {
    await this.#do(deeds.crashDeed());
  }

  /** Ends the run. */
  async cancel(): Promise<void> {
    const [id, tenant] = [this.#running(), this.#tenant];
    const cancel = async (runtime: Runtime) => (await runtime.run(id, { tenant })).cancel();
    await this.#do(deeds.performDeed(cancel, "cancel")).then(({ end }) => end);
  }

  /** Does something else with the runtime. After a crash it is done again, so it must be repeatable. */
  async perform<Value>(work: (runtime: Runtime) => Promise<Value>, name?: string): Promise<Value> {
    return this.#do(deeds.performDeed(work, name)).then(({ end }) => end);
  }

  // What there is to see, as it was when everything last came to rest.

  /** The run itself, for whatever the harness has no method for; that is then no part of the scenario. */
  get run(): Run<Context, Types> {
    this.#running();
    return (this.#handle as { readonly run: Run<Context, Types> }).run;
  }

  get runtime(): Runtime {
    this.#running();
    return (this.#handle as { readonly runtime: Runtime }).runtime;
  }

  get state(): State<Context> {
    return this.#reflect().state as unknown as State<Context>;
  }

  get context(): Context {
    return this.state.context;
  }

  get output(): MachineOutput<MachineReference<Types>> | undefined {
    return this.state.output as MachineOutput<MachineReference<Types>> | undefined;
  }

  /** What the clock shows. */
  get now(): number {
    return this.#world.clock.now();
  }

  /** The steps of the run. */
  get journal(): readonly JournalStep[] {
    return this.#reflect().journal;
  }

  /** Every attempt of every activity. */
  get calls(): readonly Call[] {
    return this.#world.calls;
  }

  /** What runs sent, and to whom. */
  get sends(): readonly Recorded<"send">[] {
    return this.effects("send");
  }

  get emits(): readonly Recorded<"emit">[] {
    return this.effects("emit");
  }

  get logs(): readonly Recorded<"log">[] {
    return this.effects("log");
  }

  /** Timers that were set, whatever became of them; those that are pending are in the state. */
  get timers(): readonly Recorded<"timer">[] {
    return this.effects("timer");
  }

  /** What the steps of all runs asked for, of one kind. */
  effects<Kind extends Effect["type"]>(kind: Kind): readonly Recorded<Kind>[] {
    return this.#world.mirror.effects(kind);
  }

  /** The ids of all runs: the ones that were started, and their children. */
  get runs(): readonly string[] {
    return this.#world.mirror.runs.map(({ head }) => head.run);
  }

  /** The state of any run. */
  stateOf(run: string): State {
    return this.#reflect(run).state;
  }

  // What a test expects.

  /** Throws unless the run is in this state, or is all that is named here. */
  expect(expected: string | Expected<Context>): void {
    const run = typeof expected === "string" ? undefined : expected.run;
    expectRun(expected as string | Expected, this.#evidence(run));
  }

  /** Throws unless an activity was called so often, or with these inputs in this order; gives the calls. */
  expectCalls(activity: string, expected: number | readonly unknown[]): readonly Call[] {
    return expectCalls(activity, expected, this.calls, this.#world.activities);
  }

  /** Throws unless the run took such an event; gives its last such step. */
  expectEvent(type: string, expected: ExpectedStep & { readonly run?: string } = {}): JournalStep {
    return expectEvent(type, expected, this.#evidence(expected.run));
  }

  /**
   * Plays the scenario again, in a world of its own for each point, kills the process there and goes on with the next
   * one; throws if it ends differently anywhere. The points are before and after every call of the store, and between
   * what the test did.
   */
  async crashEverywhere(
    options: CrashOptions<Harness<Context, Ev, Input, Types>> = {},
  ): Promise<CrashReport> {
    await this.#last.catch(() => {});
    const id = this.#running();
    return crashEverywhere({
      ...{ stage: this.#stage, original: this.#world, scenario: [...this.#scenario], options, run: id },
      view: async (world) => {
        const test = new Harness<Context, Ev, Input, Types>(this.#stage, world, id);
        await test.#hold();
        return test;
      },
    });
  }

  /** Ends the runtime in good order. */
  async close(): Promise<void> {
    await this.#world.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** One thing after the other, in the order they were asked for. */
  #do<Value>(deed: deeds.Deed<Value>): Promise<deeds.Doing<Value>> {
    this.#scenario.push(deed);
    const done = this.#last
      .catch(() => {})
      .then(async () => {
        const doing = await deed.do(this.#world);
        await this.#world.look();
        this.#checkScripts();
        await this.#hold();
        return doing;
      });
    this.#last = done;
    return done;
  }

  #checkScripts(): void {
    const { mirror, activities } = this.#world;
    // Schedules bring their own.
    const isScripted = ({ activity, run }: Recorded<"activity">) =>
      activities.includes(activity) || mirror.find(run)?.head.machine === scheduleMachine.id;
    const missing = mirror.effects("activity").find((effect) => !isScripted(effect));
    if (missing === undefined) return;
    const meant = nearest(missing.activity, activities) ?? (activities.join(", ") || "none");
    throw new HoldfastError(
      "ACTIVITY_UNKNOWN",
      `The run ${JSON.stringify(missing.run)} calls ${JSON.stringify(missing.activity)}, which has no script; there is ${meant}`,
    );
  }

  /** Takes hold of the run in the process that is there now. */
  async #hold(): Promise<void> {
    const [id, tenant, process] = [this.#id, this.#tenant, this.#world.processes];
    if (id === undefined || (this.#handle?.process === process && this.#handle.run.id === id)) return;
    this.#handle = await this.#world.during(async (runtime) => ({
      ...{ runtime, process },
      run: (await runtime.run(id, { tenant })) as unknown as Run<Context, Types>,
    }));
  }

  #outgoing(type: string, data: Json | undefined, { run, key }: SendOptions): deeds.Outgoing {
    return {
      ...{ type, data, run: run ?? this.#running(), tenant: this.#tenant },
      key: key ?? `harness ${++this.#keys}`,
    };
  }

  #running(): string {
    if (this.#id !== undefined) return this.#id;
    throw new HoldfastError("RUN_UNKNOWN", "No run has been started in this test; call start() first");
  }

  #reflect(run: string = this.#running()): Reflection {
    const { mirror } = this.#world;
    const found = mirror.find(run);
    if (found !== undefined) return found;
    const meant = nearest(run, this.runs) ?? this.runs.join(", ");
    throw new HoldfastError(
      "RUN_UNKNOWN",
      `There is no run ${JSON.stringify(run)} in this test; there is ${meant || "none"}`,
    );
  }

  #evidence(run?: string): Evidence {
    const reflection = this.#reflect(run);
    const machine = this.#world.machine(reflection.head.machine);
    return { reflection, machine, calls: this.calls, now: this.now };
  }
}
