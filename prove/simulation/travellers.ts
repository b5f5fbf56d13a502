/**
 * Users who travel and look closely: they take runs back, fork them, take them to another version, and hold them still.
 * Whoever takes a run back is not sure to have done it unless told, and does not try again.
 */
import { isHoldfastError } from "../../src/errors.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Breakpoint } from "../../src/store/records.ts";
import type { Judge } from "./judge.ts";
import type { Journey, Ledger } from "./ledger.ts";
import type { Life } from "./life.ts";
import type { Kind } from "./machines/kind.ts";

/** What a process answered; undefined if it did not. */
export type Answer<Value> = { readonly life: Life; readonly value: Value } | undefined;

export interface TravelWorld {
  readonly ledger: Ledger;
  readonly judge: Judge;
  /** One call to whichever process is there; undefined if it has no answer. */
  ask<Value>(call: (runtime: Runtime) => Promise<Value>): Promise<Answer<Value>>;
  /** The same until there is an answer. */
  insist<Value>(
    call: (runtime: Runtime) => Promise<Value>,
  ): Promise<{ readonly life: Life; readonly value: Value }>;
  say(life: Life | undefined, text: string): void;
}

/** What refuses a journey, or a breakpoint that a later version has no place for: nothing has happened then. */
const refusals: ReadonlySet<string> = new Set(["RUN_ENDED", "MIGRATION_REFUSED", "STATE_UNKNOWN"]);

/** The value, or the code of the refusal. */
async function unless<Value>(promise: Promise<Value>, codes = refusals): Promise<Value | string> {
  try {
    return await promise;
  } catch (error) {
    if (isHoldfastError(error) && codes.has(error.code)) return error.code;
    throw error;
  }
}

export class Travellers {
  readonly #world: TravelWorld;
  /** What is under way, for the judge to see that it ends. */
  open = 0;

  constructor(world: TravelWorld) {
    this.#world = world;
  }

  /** Takes a run back to a checkpoint, or by some; once. */
  async goBack(run: string, target: { readonly to: number } | { readonly by: number }): Promise<void> {
    const { ledger, judge, say, ask, insist } = this.#world;
    this.open++;
    await insist((runtime) => runtime.run(run));
    const journey: Journey = {
      ...{ run, type: "rollback", acked: undefined },
      to: "to" in target ? target.to : undefined,
    };
    ledger.journeys.push(journey);
    const answer = await ask(async (runtime) => unless((await runtime.run(run)).rollback(target)));
    if (typeof answer?.value === "number") judge.wentBack(journey, answer.value);
    if (answer !== undefined) say(answer.life, `${run} goes back: ${answer.value}`);
    this.open--;
  }

  /** Takes a run to a version; once. */
  async migrate(run: string, to: number, drop: boolean): Promise<void> {
    const { ledger, judge, say, ask, insist } = this.#world;
    this.open++;
    await insist((runtime) => runtime.run(run));
    const journey: Journey = { run, type: "migrate", to, acked: undefined };
    ledger.journeys.push(journey);
    const answer = await ask(async (runtime) => unless((await runtime.run(run)).migrate({ to, drop })));
    const moved = answer?.value;
    if (moved !== undefined && typeof moved !== "string") judge.migrated(journey, moved.reports.length);
    if (answer !== undefined)
      say(answer.life, `${run} goes to version ${to}: ${typeof moved === "string" ? moved : "moved"}`);
    this.open--;
  }

  /** Forks a run, and tries until it has begun; true if it has. */
  async fork(name: string, run: string, { forks }: Kind, at: number | undefined): Promise<boolean> {
    const { ledger, judge, say, insist } = this.#world;
    this.open++;
    ledger.forks.set(name, { run, at });
    const edit = ledger.edits.has(name) ? forks : undefined;
    const options = { id: name, ...(at !== undefined && { at }), ...(edit && { edit }) };
    // The newest checkpoint may be another one when it is tried again, and one at which the run had ended.
    const codes = new Set(["RUN_DIFFERS", "STATE_INVALID"]);
    const { life, value } = await insist(async (runtime) =>
      unless((await runtime.run(run)).fork(options), at === undefined ? codes : undefined),
    );
    const begun = value !== "STATE_INVALID";
    if (begun) judge.forked(name);
    say(life, `${name} is forked from ${run}: ${begun}`);
    this.open--;
    return begun;
  }

  /** Holds a run still, and tries until it is. */
  pause(run: string): Promise<void> {
    return this.#hold(run, "is paused", async (runtime) => unless((await runtime.run(run)).pause()));
  }

  /** Sets where a run stops, and tries until it does. */
  stopAt(run: string, breakpoints: readonly Breakpoint[]): Promise<void> {
    const what = `stops at ${JSON.stringify(breakpoints)}`;
    return this.#hold(run, what, async (runtime) =>
      unless((await runtime.run(run)).breakpoints(breakpoints)),
    );
  }

  /** Lets a run that is held take some events, and tries until it may. */
  advance(run: string, events: number): Promise<void> {
    return this.#hold(run, `takes ${events}`, async (runtime) =>
      unless((await runtime.run(run)).advance(events)),
    );
  }

  async #hold(run: string, what: string, call: (runtime: Runtime) => Promise<unknown>): Promise<void> {
    this.open++;
    this.#world.ledger.held.add(run);
    const { life } = await this.#world.insist(call);
    this.#world.say(life, `${run} ${what}`);
    this.open--;
  }
}
