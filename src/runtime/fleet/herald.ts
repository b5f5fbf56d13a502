/**
 * The herald: tells others what became of runs here, and hears what they tell. What is told when nothing has been for a while is
 * told at once. After that news is gathered for a moment, and what is urgent only until the news before it is out.
 */
import type { RunName } from "../../store/records.ts";
import { RunMap } from "../../store/run-map.ts";
import type { Hint, Signals } from "../../store/signals.ts";
import type { Clock } from "../clock.ts";

/** How long news is gathered that nobody is known to wait for: a hint costs a transaction, and people do not notice. */
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
  /** Whether news is on its way out, about to be, or has been within the last moment. */
  #isSending = false;
  #isDue = false;
  #isGathering = false;
  /** Whether there is something in the news that is not to be gathered for long. */
  #isUrgent = false;
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
  tell(name: RunName, since?: number, isUrgent = false): void {
    const known = this.#news.get(name)?.since;
    const first = Math.min(since ?? known ?? none, known ?? none);
    this.#news.set(name, first === none ? name : { tenant: name.tenant, run: name.run, since: first });
    this.#isUrgent ||= isUrgent;
    this.#tellSoon();
  }

  /** Once all is known that is told in this turn of the event loop. */
  #tellSoon(): void {
    const isHeld = this.#isSending || (this.#isGathering && !this.#isUrgent);
    if (isHeld || this.#isDue || this.#isStopped || this.#news.size === 0) return;
    this.#isDue = true;
    this.#clock.soon(() => void this.#tellNews());
  }

  async #tellNews(): Promise<void> {
    const news = [...this.#news.values()];
    this.#news = new RunMap();
    this.#isUrgent = false;
    this.#isDue = false;
    this.#isSending = true;
    this.#gather();
    await this.#signals.send(news, this.#world.epoch());
    this.#isSending = false;
    this.#tellSoon();
  }

  #gather(): void {
    if (this.#isGathering) return;
    this.#isGathering = true;
    this.#clock.after(gatherMs, () => {
      this.#isGathering = false;
      this.#tellSoon();
    });
  }

  /** Something became of more than can be named. */
  tellAll(): void {
    void this.#signals.send([], this.#world.epoch());
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWaiting();
    void this.#stopListening?.().catch(() => {});
    this.#stopListening = undefined;
  }
}
