/**
 * The supervisor: keeps a runtime up. One that was put out by the others, or finds its store away or taken at the start, is
 * followed by another one, after a while that grows; any other error is somebody's to mend, and ends it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isHoldfastError } from "../errors.ts";
import type { Runtime } from "../runtime/run.ts";
import { describe } from "./terminal.ts";

/** How long it waits before it tries again, at first and at most. */
const firstMs = 250;
const longestMs = 10_000;
/** One that was up for so long had a good start: what befalls it then is another matter. */
const goodMs = 30_000;

export interface SupervisorWorld {
  open(): Promise<Runtime>;
  /** A runtime is up. */
  up(runtime: Runtime): void;
  note(line: string): void;
}

export class Supervisor {
  readonly #world: SupervisorWorld;
  #runtime: Runtime | undefined;

  constructor(world: SupervisorWorld) {
    this.#world = world;
  }

  /** The one that is up. */
  get runtime(): Runtime | undefined {
    return this.#runtime;
  }

  /** Resolves when it is told to stop, and leaves the runtime that is up to whoever told it. Rejects with what it cannot mend. */
  async keepUp(stop: AbortSignal): Promise<void> {
    const stopping = new Promise<"stop">((told) => {
      stop.addEventListener("abort", () => told("stop"), { once: true });
      if (stop.aborted) told("stop");
    });
    for (let tries = 1; !stop.aborted; tries++) {
      const since = Date.now();
      const reason = await this.#once(stopping);
      if (reason === "stop") return;
      if (!isForLater(reason.error)) throw reason.error;
      if (Date.now() - since >= goodMs) tries = 1;
      const ms = backoffMs(tries, Math.random());
      this.#world.note(`${describe(reason.error)}; tried again in ${Math.round(ms)} ms`);
      await sleep(ms, undefined, { signal: stop }).catch(() => {});
    }
  }

  /** One runtime, until it stops by itself or is to be stopped. */
  async #once(stopping: Promise<"stop">): Promise<"stop" | { readonly error: unknown }> {
    let runtime: Runtime;
    try {
      runtime = await this.#world.open();
    } catch (error) {
      return { error };
    }
    this.#runtime = runtime;
    this.#world.up(runtime);
    const reason = await Promise.race([stopping, runtime.stopped.then((error) => ({ error }))]);
    if (reason === "stop") return reason;
    this.#runtime = undefined;
    await runtime.close().catch(() => {});
    return reason;
  }
}

/** Longer with every try, and a little by chance, so that a whole fleet does not come back in one moment. */
export function backoffMs(tries: number, chance: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(tries - 1, 16)) * (0.5 + chance / 2);
}

const isForLater = (error: unknown): boolean => isHoldfastError(error) && error.retry === "later";
