/**
 * One stage after the other behind one server, as machines change. Nobody who asks meanwhile is to notice:
 *
 * S1. A request that comes between two stages waits for the next, for `limits.reloadMsMax` at most.
 * S2. A request that is under way when a stage is left has `limits.reloadDrainMs` to end.
 * S3. Machines that cannot be run change nothing: the stage before is opened again, and gets the requests that wait.
 */
import { HoldfastError } from "../errors.ts";
import { limits } from "../limits.ts";
import { type Clock, systemClock } from "../runtime/clock.ts";
import type { Server } from "../server/app.ts";
import { problemResponse } from "../server/problem-answer.ts";
import type { Loaded } from "./load-machines.ts";
import type { Stage } from "./stage.ts";

export class Stages implements Pick<Server, "fetch" | "drain" | "close"> {
  readonly #open: (loaded: Loaded) => Promise<Stage>;
  readonly #clock: Clock;
  #current: Promise<Stage> | undefined;
  #loaded: Loaded | undefined;
  #playing = new AbortController();

  constructor(open: (loaded: Loaded) => Promise<Stage>, clock: Clock = systemClock) {
    this.#open = open;
    this.#clock = clock;
  }

  /** Goes over to these machines; with what it had before, if they cannot be run, and then it throws why not. */
  async enter(loaded: Loaded): Promise<void> {
    const before = this.#loaded;
    const next = await this.#leaveForNext();
    let isOpen = false;
    try {
      await this.#play(loaded, (stage) => {
        isOpen = true;
        next.resolve(stage);
      });
    } catch (error) {
      if (before === undefined) next.reject(error);
      // For those who wait, or instead of a stage that opened and could not be played on (S3).
      else await this.#goBack(before, isOpen ? await this.#leaveForNext() : next);
      throw error;
    }
  }

  async leave(): Promise<void> {
    await this.#close(this.#current);
  }

  readonly fetch: Server["fetch"] = async (request, from) => {
    const stage = await this.#within().catch((error: unknown) => problemResponse(error));
    return stage instanceof Response ? stage : stage.server.fetch(request, from);
  };

  async drain(withinMs?: number): Promise<boolean> {
    const stage = await this.#current?.catch(() => undefined);
    return stage?.server.drain(withinMs) ?? true;
  }

  close(): void {}

  /** Takes nothing new on the stage there is; whoever asks from now on waits for the next (S1). */
  async #leaveForNext(): Promise<Gate> {
    const { promise, resolve, reject } = Promise.withResolvers<Stage>();
    const leaving = this.#current;
    this.#current = promise;
    // It may be that nobody asks.
    promise.catch(() => {});
    await this.#close(leaving);
    return { promise, resolve, reject };
  }

  async #play(loaded: Loaded, opened: (stage: Stage) => void): Promise<void> {
    const stage = await this.#open(loaded);
    opened(stage);
    this.#playing = new AbortController();
    await loaded.dev?.(stage.runtime, this.#playing.signal);
    this.#loaded = loaded;
  }

  async #goBack(before: Loaded, { resolve, reject }: Gate): Promise<void> {
    await this.#play(before, resolve).catch(reject);
  }

  async #close(leaving: Promise<Stage> | undefined): Promise<void> {
    const stage = await leaving?.catch(() => undefined);
    this.#playing.abort();
    if (stage === undefined) return;
    await stage.server.drain(limits.reloadDrainMs);
    stage.server.close();
    await stage.close();
  }

  /** The stage there is, or the next; throws SERVER_DRAINING if that takes too long. */
  async #within(): Promise<Stage> {
    const { promise, reject } = Promise.withResolvers<never>();
    const cancel = this.#clock.after(limits.reloadMsMax, () => reject(late()));
    return Promise.race([this.#current as Promise<Stage>, promise]).finally(cancel);
  }
}

type Gate = PromiseWithResolvers<Stage>;

const late = (): HoldfastError =>
  new HoldfastError("SERVER_DRAINING", "The machines are still being loaded; ask again in a moment", {
    details: { retryAfterS: 1 },
  });
