/** The processes that own the cells, one after the other: each is killed at work, and the next one stands by. */
import type { Random } from "../../test/generate/random.ts";
import type { Lane } from "./lane.ts";
import { type Started, startProcess } from "./process.ts";

export interface OwnersWorld {
  readonly lane: Lane;
  readonly socket: string;
  readonly env: NodeJS.ProcessEnv;
  readonly bug: string | undefined;
  readonly random: Random;
  /** Told of an owner that ended by itself: there is none after it. */
  readonly failed: (problem: string) => void;
}

/** How long an owner lives once it is at work. */
const [lifeMsMin, lifeMsMax] = [100, 900];

interface Owner extends Started {
  readonly atWork: Promise<void>;
}

export class Owners {
  kills = 0;
  readonly #world: OwnersWorld;
  #owner: Owner;
  #next: Owner;
  #lives = 0;
  #hasFailed = false;
  #killing: Promise<void> | undefined;
  #settle: () => void = () => {};

  constructor(world: OwnersWorld) {
    this.#world = world;
    this.#owner = this.#make();
    this.#next = this.#make();
  }

  #make(): Owner {
    const { lane, socket, env, bug, failed } = this.#world;
    const args = [JSON.stringify(lane), socket, String(++this.#lives)];
    let working = () => {};
    const atWork = new Promise<void>((resolve) => {
      working = resolve;
    });
    const started = startProcess({ script: "owner", args, env, bug, hear: () => working() });
    void started.ended.then((problem) => {
      if (problem !== undefined) {
        this.#hasFailed = true;
        failed(problem);
      }
      working();
    });
    return { ...started, atWork };
  }

  /** Puts the first one to work. */
  async open(): Promise<void> {
    await this.#begin();
  }

  async #begin(): Promise<void> {
    await this.#owner.ready;
    this.#owner.begin("begin");
    await this.#owner.atWork;
  }

  /** Kills one owner after the other, until it is to settle. */
  killAndReplace(progress: (text: string) => void): void {
    const { random } = this.#world;
    const isSettling = new Promise<"settle">((resolve) => {
      this.#settle = () => resolve("settle");
    });
    this.#killing = (async () => {
      while (!this.#hasFailed) {
        // Nobody is killed before somebody can take over: how long that takes to load is nothing to prove.
        const life = Promise.all([sleep(random.between(lifeMsMin, lifeMsMax)), this.#next.ready]);
        if ((await Promise.race([isSettling, life])) === "settle") return;
        await this.#owner.kill();
        progress(`${++this.kills} kills`);
        this.#owner = this.#next;
        this.#next = this.#make();
        await this.#begin();
      }
    })();
  }

  /** Kills no more; resolves when one is at work. */
  async settle(): Promise<void> {
    this.#settle();
    await this.#killing;
  }

  async close(): Promise<void> {
    await Promise.all([this.#owner.kill(), this.#next.kill()]);
  }
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
