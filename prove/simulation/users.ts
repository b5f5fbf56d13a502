/**
 * The users of the simulated world: they begin runs, send, cancel, read and wait, often many at once, and know only what
 * they are told. What has a key is sent again until it is acknowledged, and sometimes after; what has none is not.
 */

import type { Json } from "holdfast";
import { isHoldfastError } from "../../src/errors.ts";
import { limits } from "../../src/limits.ts";
import type { LimitSource } from "../../src/runtime/budget.ts";
import type { Handled } from "../../src/runtime/live/live-run.ts";
import type { Run, Runtime } from "../../src/runtime/runtime.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Judge } from "./judge.ts";
import type { Ledger, Sent } from "./ledger.ts";
import type { Life } from "./life.ts";
import type { Kind } from "./machines/kind.ts";
import { hasEnded } from "./model.ts";
import type { Time } from "./time.ts";
import { type Answer, Travellers } from "./travellers.ts";

export interface UserWorld {
  readonly time: Time;
  readonly random: Random;
  readonly ledger: Ledger;
  readonly judge: Judge;
  /** The process that users are sent to; undefined while none is up. */
  current(): Life | undefined;
  /** The checkpoint of a run that whoever reads it now has to see. */
  newest(run: string, life: Life): number;
  /** A process gave an error that says it is of no use any more. */
  doubt(life: Life): void;
  say(life: Life | undefined, text: string): void;
}

/** A run that a user wants. */
export interface Wanted {
  readonly name: string;
  readonly kind: Kind;
  readonly input: Json;
  readonly limits: LimitSource | undefined;
}

/** How long a user waits for an answer before trying again. */
const patienceMs = 40_000;
const pauseMs = 700;

/** Errors that say nothing about what was asked for: this process may do better later, or another one. */
const passing: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "STORE_OWNED", "RUNTIME_CLOSED"]);

/** Errors that say that there is no reply to be had. */
const unanswered: ReadonlySet<string> = new Set(["ASK_UNANSWERED", "RUN_ENDED"]);

/** Errors that say that a dead letter is gone, or cannot go where it was sent. */
const undeliverable: ReadonlySet<string> = new Set(["LETTER_UNKNOWN", "RUN_UNKNOWN", "RUN_ENDED"]);

/** The run that something was asked of was removed. */
class Gone extends Error {}

const codeOf = (error: unknown): string | undefined => (isHoldfastError(error) ? error.code : undefined);

export class Users {
  readonly #world: UserWorld;
  /** What is under way, for the judge to see that it ends. */
  #open = 0;
  /** Waits for the end of a run, by its name; true once it was told. */
  readonly waits = new Map<string, { readonly life: Life; told: boolean }>();

  readonly travellers: Travellers;

  constructor(world: UserWorld) {
    this.#world = world;
    this.travellers = new Travellers({
      ledger: world.ledger,
      judge: world.judge,
      ask: (call) => this.#ask(call),
      insist: (call) => this.insist(call),
      doing: (run, work) => this.#doing(run, work),
      say: (life, text) => world.say(life, text),
    });
  }

  /** How many calls are not over. */
  get open(): number {
    return this.#open;
  }

  /** Does something with a run that somebody may remove meanwhile: then there is no more to do. */
  async #doing(run: string, work: () => Promise<void>): Promise<void> {
    this.#open++;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      this.#world.judge.missing(run);
      this.#world.say(undefined, `${run} is gone`);
    }
    this.#open--;
  }

  /** Begins a run, and tries until it has begun. */
  async begin({ name, kind, input, limits }: Wanted): Promise<void> {
    return this.#doing(name, async () => {
      while (
        !(await this.#ask((runtime) =>
          runtime.start(kind.machine, { id: name, input, ...(limits && { limits }) }),
        ))
      ) {
        // It may have begun, ended and been removed before anybody said so.
        if (this.#world.judge.isGone(name)) return;
        await this.#pause();
      }
      this.#world.ledger.begun.add(name);
      this.#world.say(undefined, `${name} has begun`);
    });
  }

  /** Sends something, again and again if it has a key. */
  async send(sent: Sent): Promise<void> {
    const { ledger, random } = this.#world;
    if (sent.tries === 0) ledger.sent.push(sent);
    await this.#doing(sent.run, async () => {
      for (;;) {
        sent.tries++;
        const answer = await this.#ask(async (runtime) => {
          const run = await runtime.run(sent.run);
          try {
            const receipt = await run.send(
              sent.type,
              sent.data,
              sent.key === undefined ? {} : { key: sent.key },
            );
            return await receipt.handled();
          } catch (error) {
            if (codeOf(error) === "RUN_ENDED") return "ended";
            if (codeOf(error) === "JOURNAL_PRUNED") return "pruned";
            throw error;
          }
        }, sent.run);
        // It was taken before, and what became of it is not known any more.
        if (answer?.value === "pruned") {
          this.#world.judge.isPruned(sent.run);
          break;
        }
        if (answer?.value === "ended") {
          this.#world.say(answer.life, `${sent.type} ${sent.data.n} is too late`);
          this.#world.judge.tooLate(sent);
          break;
        }
        if (answer !== undefined) this.#told(sent, answer.life, answer.value);
        // Some repeat what they know to be kept, and some give up before they know.
        if (sent.key === undefined || random.chance(sent.acked === undefined ? 0.25 : 0.8)) break;
        await this.#pause();
      }
    });
    sent.over = true;
  }

  #told(sent: Sent, life: Life, handled: Handled): void {
    this.#world.say(life, `${sent.type} ${sent.data.n} is ${handled.outcome} at ${handled.seq}`);
    this.#world.judge.acked(sent, handled);
    sent.acked ??= handled;
  }

  /** Asks until there is a reply; what has no key is asked once. */
  async ask(sent: Sent): Promise<void> {
    const { ledger, judge, say } = this.#world;
    ledger.sent.push(sent);
    return this.#doing(sent.run, async () => {
      for (;;) {
        sent.tries++;
        const answer = await this.#ask(async (runtime) => {
          const run = await runtime.run(sent.run);
          try {
            const key = sent.key === undefined ? {} : { key: sent.key };
            return { reply: await run.ask(sent.type, sent.data, { ...key, timeout: "15s" }) };
          } catch (error) {
            if (!unanswered.has(codeOf(error) ?? "")) throw error;
            return { reply: undefined };
          }
        });
        if (answer?.value.reply !== undefined) {
          say(answer.life, `${sent.type} ${sent.data.n} is replied to`);
          judge.replied(sent, answer.value.reply);
          sent.replied = true;
          break;
        }
        const head = judge.model.find(sent)?.head;
        if (sent.key === undefined || (head !== undefined && hasEnded(head))) break;
        await this.#pause();
      }
      sent.over = true;
    });
  }

  /** Sends several together, again and again until it is known what became of each. */
  async sendAll(batch: readonly Sent[]): Promise<void> {
    const { ledger, judge, say } = this.#world;
    const [{ run: name }] = batch as [Sent];
    ledger.sent.push(...batch);
    ledger.batches.add(batch);
    await this.#doing(name, async () => {
      for (let told = false; !told; ) {
        for (const sent of batch) sent.tries++;
        const answer = await this.#ask(async (runtime) => {
          const run = await runtime.run(name);
          try {
            const receipts = await run.sendAll(
              batch.map(({ type, data, key }) => ({ type, data, key: key as string })),
            );
            const fates = await Promise.allSettled(receipts.map((receipt) => receipt.handled()));
            // What was to share a commit with its step, and came after the end of the run, was never kept.
            const small = batch.length <= limits.stepsPerTurnMax;
            batch.forEach((sent, index) => {
              if (!small || fates[index]?.status === "fulfilled") judge.kept(sent);
            });
            return await Promise.all(receipts.map((receipt) => receipt.handled()));
          } catch (error) {
            if (codeOf(error) === "JOURNAL_PRUNED") judge.isPruned(name);
            if (codeOf(error) === "RUN_ENDED" || codeOf(error) === "JOURNAL_PRUNED") return [];
            throw error;
          }
        }, name);
        const head = judge.model.find({ run: name })?.head;
        told = answer !== undefined || (head !== undefined && hasEnded(head));
        if (answer !== undefined) {
          say(answer.life, `${batch.length} events for ${name} are handled`);
          batch.forEach((sent, index) => {
            const handled = answer.value[index];
            if (handled !== undefined) this.#told(sent, answer.life, handled);
          });
        } else await this.#pause();
      }
    });
    ledger.batches.delete(batch);
    for (const sent of batch) sent.over = true;
  }

  async cancel(name: string): Promise<void> {
    this.#world.ledger.cancelling.add(name);
    return this.#doing(name, async () => {
      while (!(await this.#ask(async (runtime) => (await runtime.run(name)).cancel()))) await this.#pause();
      const head = this.#world.judge.model.find({ run: name })?.head;
      if (!this.#world.judge.isGone(name) && (head === undefined || !hasEnded(head)))
        this.#world.judge.report(1, `${name} was cancelled and goes on`);
      this.#world.ledger.cancelled.add(name);
      this.#world.say(undefined, `${name} is cancelled`);
    });
  }

  async read(name: string): Promise<void> {
    return this.#doing(name, async () => {
      let known = 0;
      const answer = await this.#ask(async (runtime, life) => {
        known = this.#world.newest(name, life);
        return (await runtime.run(name)).state();
      });
      if (answer !== undefined) this.#world.judge.read(name, answer.value, known);
    });
  }

  /** Waits for the end of a run; whoever is connected to a process that goes on must hear of it. */
  async wait(name: string): Promise<void> {
    const life = this.#world.current();
    if (life?.runtime === undefined) return;
    try {
      const run: Run = await life.runtime.run(name);
      const wait = { life, told: false };
      this.waits.set(name, wait);
      await run.finished();
      wait.told = true;
    } catch (error) {
      this.waits.delete(name);
      if (codeOf(error) === "RUN_UNKNOWN") this.#world.judge.missing(name);
      else if (!passing.has(codeOf(error) ?? "")) this.#world.judge.report(8, `waiting gave ${error}`);
    }
  }

  /** Brings a parked run back: tries until it was. */
  async retry(name: string): Promise<void> {
    return this.#doing(name, async () => {
      const bringBack = async (runtime: Runtime) => {
        const run = await runtime.run(name);
        await run.retry().catch((error: unknown) => {
          // Somebody ended it.
          if (codeOf(error) !== "RUN_ENDED") throw error;
        });
      };
      while (!(await this.#ask(bringBack))) await this.#pause();
      this.#world.say(undefined, `${name} is brought back`);
    });
  }

  /** Has what waits for a later commit committed, and tries until it was. */
  async checkpoint(name: string): Promise<void> {
    return this.#doing(name, async () => {
      while (!(await this.#ask(async (runtime) => (await runtime.run(name)).checkpoint())))
        await this.#pause();
    });
  }

  /** Looks through the dead letters once: tokens are sent to where `to` says, and the rest may be given up. */
  async tidy(to: (number: number) => string): Promise<void> {
    const { ledger, random, say } = this.#world;
    this.#open++;
    const listed = await this.#ask(async ({ deadLetters }) => {
      const letters = [];
      for await (const letter of deadLetters.list()) letters.push(letter);
      return letters;
    });
    for (const { number, event } of listed?.value ?? []) {
      const isToken = event.type === "deposit";
      if (!isToken && random.chance(0.7)) continue;
      if (!isToken) ledger.discarded.add(number);
      const done = await this.#ask(async ({ deadLetters }) => {
        const sent = isToken
          ? deadLetters.redeliver(number, { to: to(number) })
          : deadLetters.discard(number);
        await sent.catch((error: unknown) => {
          if (!undeliverable.has(codeOf(error) ?? "")) throw error;
        });
      });
      if (done !== undefined) say(done.life, `the dead letter ${number} is seen to`);
    }
    this.#open--;
  }

  /** Listens to what an activity says until it is over, from process to process, each time where it left off. */
  async listen(name: string, key: string): Promise<void> {
    const { judge, say } = this.#world;
    return this.#doing(name, async () => {
      const place = { offset: 0 };
      for (;;) {
        const life = this.#world.current();
        if (life?.runtime !== undefined && (await this.#listenTo(life, name, key, place))) {
          say(life, `a reader of ${name}:${key} heard ${place.offset} pieces`);
          return judge.heardAll(life, `${name}:${key}`, place.offset);
        }
        await this.#pause();
      }
    });
  }

  /** Listens to one process; true if it said that there is no more. */
  #listenTo(life: Life, name: string, key: string, place: { offset: number }): Promise<boolean> {
    return new Promise((resolve, reject) => {
      life.whenDead(() => resolve(false));
      const listen = async () => {
        const run = await (life.runtime as Runtime).run(name);
        for await (const chunk of run.stream(key, place.offset)) {
          if (life.status === "dead") return false;
          this.#world.judge.heard(`${name}:${key}`, chunk, place.offset++);
          // Some lose their connection, and come back.
          if (this.#world.random.chance(0.1)) return false;
        }
        return life.status !== "dead";
      };
      listen().then(resolve, (error: unknown) => {
        if (codeOf(error) === "RUN_UNKNOWN") return reject(new Gone());
        if (!passing.has(codeOf(error) ?? "")) this.#world.judge.report(8, `listening gave ${error}`);
        resolve(false);
      });
    });
  }

  /** Asks for a run that is not there, only to see whether the process is of any use. */
  async probe(): Promise<void> {
    await this.#ask((runtime) =>
      runtime.run("nobody").then(
        () => undefined,
        (error: unknown) => {
          if (codeOf(error) !== "RUN_UNKNOWN") throw error;
        },
      ),
    );
  }

  /** One call again and again until there is an answer. */
  async insist<Value>(
    call: (runtime: Runtime, life: Life) => Promise<Value>,
  ): Promise<{ readonly life: Life; readonly value: Value }> {
    for (;;) {
      const answer = await this.#ask(call);
      if (answer !== undefined) return answer;
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    return this.#world.time.sleep(pauseMs + this.#world.random.between(0, pauseMs));
  }

  /** One call to whichever process is there: its answer, or undefined if there is none to be had. */
  #ask<Value>(call: (runtime: Runtime, life: Life) => Promise<Value>, run?: string): Promise<Answer<Value>> {
    const life = this.#world.current();
    if (life?.runtime === undefined || life.status === "dead") return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const { stops } = life;
      const judged = () => {
        // A process that stands still may answer yet; one that runs should have, unless somebody holds the run still.
        const isHeld = run !== undefined && this.#world.ledger.held.has(run);
        if (life.status === "alive" && !isHeld)
          this.#world.judge.report(8, `${life.name} left a call unanswered`);
      };
      // The user goes elsewhere; whoever stood still meanwhile has as long again to answer.
      let stop = this.#world.time.after(patienceMs, () => {
        if (life.stops === stops) judged();
        else stop = this.#world.time.after(patienceMs, judged);
        resolve(undefined);
      });
      const end = (answer: Answer<Value>) => {
        stop();
        resolve(answer);
      };
      life.whenDead(() => end(undefined));
      call(life.runtime as Runtime, life).then(
        (value) => end(life.status === "dead" ? undefined : { life, value }),
        (error: unknown) => {
          if (life.status === "dead") return;
          const code = codeOf(error);
          if (code === "RUN_UNKNOWN") {
            stop();
            return reject(new Gone());
          }
          // Whoever is about to end, and took no later versions, cannot read what others took there.
          const isPassing =
            code !== undefined && (passing.has(code) || (life.isBehind && code === "MACHINE_UNKNOWN"));
          if (!isPassing) this.#world.judge.report(8, `a call gave an error of no use: ${error}`);
          if (code !== "STORE_UNAVAILABLE") this.#world.doubt(life);
          end(undefined);
        },
      );
    });
  }
}
