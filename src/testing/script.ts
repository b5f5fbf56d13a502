/**
 * Scripted activities: what they answer, in which order, and when.
 *
 * S1. The same attempt of the same activity gets the same answer, at the same time, however often it is made: as from a
 *     tool that knows the key it was given. So a crash does not use up answers.
 * S2. Each attempt takes the next answer; one that a crash cut off leaves its answer to the next attempt under its key.
 */
import { durationMs } from "../core/duration.ts";
import type { Json } from "../core/json.ts";
import type { Activity, ActivityScope } from "../runtime/activity/attempt.ts";

/** What a script may give: a value, an error to throw, code to run, or another script. */
export type Answer<Value = Json | undefined> = Value | Error | Activity | Script<Value>;

/** What stands for an activity in a test: code, or a script. */
export type Scripted = Activity | Script<unknown>;

/** Answers by plan: values of this type. */
export class Script<Value = Json | undefined> {
  /** The answer in this place; throws when there is none. */
  readonly at: (place: number) => Answer<Value>;
  /** How long after its attempt began the answer comes; infinite for never. */
  readonly delayMs: number;

  constructor(at: (place: number) => Answer<Value>, delayMs = 0) {
    this.at = at;
    this.delayMs = delayMs;
  }
}

/** Gives these answers, one to each attempt; errors are thrown. An attempt beyond the last is an error of its own. */
export function answers<Value extends Json | undefined>(...list: readonly Answer<Value>[]): Script<Value> {
  return new Script((place) => {
    if (place < list.length) return list[place] as Answer<Value>;
    const has = list.length === 1 ? "there is one answer" : `there are ${list.length} answers`;
    throw new OutOfAnswers(`This is attempt ${place + 1}, and ${has}`);
  });
}

/** Gives the answer so much later, in virtual time. */
export function later<Value extends Json | undefined = undefined>(
  duration: number | string,
  answer?: Answer<Value>,
): Script<Value> {
  return new Script(() => answer as Answer<Value>, durationMs(duration));
}

/** Throws at so many attempts, and then gives the answer to every other. */
export function failing<Value extends Json | undefined = undefined>(
  times: number,
  error: Error | string,
  answer?: Answer<Value>,
): Script<Value> {
  const thrown = typeof error === "string" ? new Error(error) : error;
  return new Script((place) => (place < times ? thrown : (answer as Answer<Value>)));
}

/** Never answers: what waits for it times out, is cancelled, or waits for ever. */
export function never(): Script<never> {
  return new Script<never>(() => new Error("never"), Number.POSITIVE_INFINITY);
}

/** An activity was asked more often than its script has answers. No retry helps. */
export class OutOfAnswers extends Error {
  override readonly name = "OutOfAnswers";
  readonly retryable = false;
}

/** One attempt, as scripts see it. */
export interface Attempt {
  readonly activity: string;
  readonly input: Json | undefined;
  readonly scope: ActivityScope;
}

/** Where attempts stand in their scripts, by the name of the attempt. */
export type Places = ReadonlyMap<string, number>;

/** What the answers of one world need of it. */
export interface AnswerWorld {
  now(): number;
  /** Resolves after so many milliseconds of the process that asks. */
  sleep(ms: number): Promise<void>;
}

/** The answers of one world, which outlive its processes. */
export class Answers {
  /** Those that attempts have taken here. */
  readonly places = new Map<string, number>();
  readonly #planned: Places;
  readonly #begun = new Map<string, number>();
  /** How many places of each activity are taken. */
  readonly #taken = new Map<string, number>();
  /** Places whose attempt has not failed, by activity and key. */
  readonly #open = new Map<string, number>();

  /** `planned` are the places of another world: attempts of the same name take the same here. */
  constructor(planned: Places = new Map()) {
    this.#planned = planned;
  }

  /** What an attempt gives. */
  async give(script: Scripted, attempt: Attempt, world: AnswerWorld): Promise<unknown> {
    const { activity, scope } = attempt;
    const of = JSON.stringify([activity, scope.key]);
    const name = JSON.stringify([activity, scope.key, scope.attempt]);
    const place = this.#place(activity, name, of);
    this.#open.set(of, place);
    // Whoever gives an attempt up will not take its answer; the next one is another.
    scope.signal.addEventListener("abort", () => this.#open.delete(of));
    const begun = this.#begun.get(name) ?? world.now();
    this.#begun.set(name, begun);
    let readyAt = begun;
    const wait = async (ms: number) => {
      readyAt += ms;
      if (readyAt > world.now()) await world.sleep(readyAt - world.now());
    };
    try {
      return await resolve(script, attempt, place, wait);
    } catch (error) {
      // Only after a failure is there another attempt of its own right; after an answer it means that this was lost.
      this.#open.delete(of);
      throw error;
    }
  }

  #place(activity: string, name: string, of: string): number {
    const next = this.#taken.get(activity) ?? 0;
    const place = this.places.get(name) ?? this.#open.get(of) ?? this.#planned.get(name) ?? next;
    this.places.set(name, place);
    this.#taken.set(activity, Math.max(next, place + 1));
    return place;
  }
}

async function resolve(
  answer: unknown,
  attempt: Attempt,
  place: number,
  wait: (ms: number) => Promise<void>,
): Promise<unknown> {
  if (answer instanceof Script) {
    if (answer.delayMs !== 0) await wait(answer.delayMs);
    return resolve(answer.at(place), attempt, place, wait);
  }
  if (typeof answer === "function") return answer(attempt.input as never, attempt.scope);
  if (answer instanceof Error) throw answer;
  return answer;
}
