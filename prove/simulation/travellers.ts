/**
 * Users who travel and look closely: they take runs back, fork them, take them to another version, and hold them still.
 * Whoever takes a run back is not sure to have done it unless told, and does not try again.
 */
import { isHoldfastError } from "../../src/errors.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { Target } from "../../src/runtime/travel/travel.ts";
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
  /** Does something with a run until it is done, or the run is gone. */
  doing(run: string, work: () => Promise<void>): Promise<void>;
  say(life: Life | undefined, text: string): void;
}

/** What refuses a journey, or a breakpoint that a later version has no place for: nothing has happened then. */
const refusals: ReadonlySet<string> = new Set([
  ...["RUN_ENDED", "MIGRATION_REFUSED", "STATE_UNKNOWN"],
  ...["JOURNAL_PRUNED", "CHECKPOINT_UNKNOWN"],
]);

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

  constructor(world: TravelWorld) {
    this.#world = world;
  }

  /** Takes a run back to a checkpoint, or by some; once. */
  goBack(run: string, target: Target): Promise<void> {
    const { ledger, judge, say, ask, insist, doing } = this.#world;
    return doing(run, async () => {
      await insist((runtime) => runtime.run(run));
      const journey: Journey = {
        ...{ run, type: "rollback", acked: undefined },
        to: "to" in target ? target.to : undefined,
      };
      ledger.journeys.push(journey);
      const answer = await ask(async (runtime) => unless((await runtime.run(run)).rollback(target)));
      if (typeof answer?.value === "number") judge.wentBack(journey, answer.value);
      if (answer?.value === "JOURNAL_PRUNED") judge.isPruned(run);
      if (answer?.value === "CHECKPOINT_UNKNOWN") judge.wentTooFar(answer.life, run, target);
      if (answer !== undefined) say(answer.life, `${run} goes back: ${answer.value}`);
    });
  }

  /** Takes a run to a version; once. */
  migrate(run: string, to: number, drop: boolean): Promise<void> {
    const { ledger, judge, say, ask, insist, doing } = this.#world;
    return doing(run, async () => {
      await insist((runtime) => runtime.run(run));
      const journey: Journey = { run, type: "migrate", to, drop, acked: undefined };
      ledger.journeys.push(journey);
      const answer = await ask(async (runtime) => unless((await runtime.run(run)).migrate({ to, drop })));
      const moved = answer?.value;
      if (moved !== undefined && typeof moved !== "string") judge.migrated(journey, moved.reports.length);
      if (answer !== undefined)
        say(answer.life, `${run} goes to version ${to}: ${typeof moved === "string" ? moved : "moved"}`);
    });
  }

  /** Forks a run, and tries until it has begun; true if it has. */
  async fork(name: string, run: string, { forks }: Kind, at: number | undefined): Promise<boolean> {
    const { ledger, judge, say, insist, doing } = this.#world;
    const edit = ledger.edits.has(name) ? forks : undefined;
    const options = { id: name, ...(at !== undefined && { at }), ...(edit && { edit }) };
    // The newest checkpoint may be another one when it is tried again, and one at which the run had ended.
    const codes = new Set(["RUN_DIFFERS", "STATE_INVALID", "JOURNAL_PRUNED"]);
    let begun = false;
    await doing(run, async () => {
      const { life, value } = await insist(async (runtime) => {
        // What has begun, ended and been removed before anybody said so begins once more.
        ledger.forks.set(name, { run, at });
        if (edit !== undefined) ledger.edits.add(name);
        return unless((await runtime.run(run)).fork(options), at === undefined ? codes : undefined);
      });
      if (value === "JOURNAL_PRUNED") judge.isPruned(run);
      if (value === "CHECKPOINT_UNKNOWN" && at !== undefined) judge.wentTooFar(life, run, { to: at });
      begun = !["STATE_INVALID", "JOURNAL_PRUNED", "CHECKPOINT_UNKNOWN"].includes(value as string);
      if (begun) judge.forked(name);
      say(life, `${name} is forked from ${run}: ${begun}`);
    });
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

  #hold(run: string, what: string, call: (runtime: Runtime) => Promise<unknown>): Promise<void> {
    const { ledger, insist, say, doing } = this.#world;
    return doing(run, async () => {
      ledger.held.add(run);
      const { life } = await insist(call);
      say(life, `${run} ${what}`);
    });
  }
}
