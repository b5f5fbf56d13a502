/** The herald: tells others what became of runs here, a moment's news together, and hears what they tell. */
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { Hint, Signals } from "../../store/signals.ts";
import type { Clock } from "../clock.ts";

/** How long news is gathered: a hint costs a transaction, and people do not notice. */
const gatherMs = 10;
/** How long to wait before somebody who hears nothing listens again. */
const listenAgainMs = 5_000;

/** No checkpoint. */
const none = Number.POSITIVE_INFINITY;

export interface HeraldWorld {
  epoch(): number;
  /** Something became of these runs elsewhere; undefined for any. */
  heard(names: readonly Hint[] | undefined): void;
  /** Nothing is heard now, and anything may be missed; told again as long as that lasts. */
  deaf(): void;
}

export class Herald {
  readonly #signals: Signals;
  readonly #clock: Clock;
  readonly #world: HeraldWorld;
  #news = new RunMap<Hint>();
  #isGathering = false;
  #isStopped = false;
  #stopListening: (() => Promise<void>) | undefined;
  #stopWaiting: () => void = () => {};

  constructor(signals: Signals, clock: Clock, world: HeraldWorld) {
    this.#signals = signals;
    this.#clock = clock;
    this.#world = world;
  }

  get isHearing(): boolean {
    return this.#stopListening !== undefined;
  }

  start(): void {
    void this.#listen();
  }

  async #listen(): Promise<void> {
    if (this.#isStopped) return;
    const deaf = () => {
      this.#stopListening = undefined;
      this.#listenLater();
    };
    try {
      const stop = await this.#signals.listen((names, from) => this.#hear(names, from), deaf);
      if (this.#isStopped) return void (await stop());
      this.#stopListening = stop;
      // What was told before it heard.
      this.#world.heard(undefined);
    } catch {
      this.#listenLater();
    }
  }

  #listenLater(): void {
    if (this.#isStopped) return;
    this.#world.deaf();
    this.#stopWaiting = this.#clock.after(listenAgainMs, () => void this.#listen());
  }

  #hear(names: readonly Hint[] | undefined, from: number | undefined): void {
    if (!this.#isStopped && from !== this.#world.epoch()) this.#world.heard(names);
  }

  /** Something became of a run here: steps since a checkpoint, or something else. */
  tell(name: RunName, since?: number): void {
    const known = this.#news.get(name)?.since;
    const first = Math.min(since ?? known ?? none, known ?? none);
    this.#news.set(name, first === none ? name : { tenant: name.tenant, run: name.run, since: first });
    if (this.#isGathering || this.#isStopped) return;
    this.#isGathering = true;
    this.#clock.after(gatherMs, () => {
      this.#isGathering = false;
      const news = [...this.#news.values()];
      this.#news = new RunMap();
      this.#signals.send(news, this.#world.epoch());
    });
  }

  /** Something became of more than can be named. */
  tellAll(): void {
    this.#signals.send([], this.#world.epoch());
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWaiting();
    void this.#stopListening?.().catch(() => {});
    this.#stopListening = undefined;
  }
}
