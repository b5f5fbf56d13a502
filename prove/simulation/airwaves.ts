/** Hints between the processes that share a store: they get lost, come late or twice, and whoever hears them may go deaf. */
import { HoldfastError } from "../../src/errors.ts";
import type { Heard, Hint, Signals } from "../../src/store/signals.ts";
import type { Random } from "../../test/generate/random.ts";
import type { Life } from "./life.ts";
import type { Time } from "./time.ts";
import type { Weather } from "./weather.ts";

export interface AirwavesWorld {
  readonly time: Time;
  readonly random: Random;
  weather(): Weather;
}

/** How often a hint is lost, or nobody can listen, where replies get lost as often as they do at most. */
const lossFactor = 4;
/** How long somebody hears before the connection is lost. */
const hearingMs = { least: 500, most: 30_000 };

export class Airwaves {
  readonly #world: AirwavesWorld;
  readonly #ears = new Map<Heard, Life>();

  constructor(world: AirwavesWorld) {
    this.#world = world;
  }

  /** The signals as one process has them. */
  of(life: Life): Signals {
    return {
      send: (names, from) => this.#send(life, names, from),
      listen: async (heard, deaf) => this.#listen(life, heard, deaf),
    };
  }

  #send(life: Life, names: readonly Hint[], from: number): Promise<void> {
    const { time, random, weather } = this.#world;
    const { lose, twice } = weather();
    for (const [heard, listener] of this.#ears) {
      const times = random.chance(lossFactor * lose) ? 0 : random.chance(twice) ? 2 : 1;
      for (let left = times; left > 0; left--)
        time.after(
          this.#delayMs(),
          () => this.#ears.has(heard) && heard(names.length === 0 ? undefined : names, from),
          listener,
        );
    }
    return new Promise((resolve) => void time.after(this.#delayMs(), resolve, life));
  }

  #listen(life: Life, heard: Heard, deaf: () => void): () => Promise<void> {
    const { time, random, weather } = this.#world;
    const { lose } = weather();
    if (random.chance(lossFactor * lose))
      throw new HoldfastError("STORE_UNAVAILABLE", "Nobody can listen now");
    this.#ears.set(heard, life);
    const stop = () => this.#ears.delete(heard);
    if (random.chance(lossFactor * lose))
      time.after(random.between(hearingMs.least, hearingMs.most), () => stop() && deaf(), life);
    return async () => void stop();
  }

  #delayMs(): number {
    const { random, weather } = this.#world;
    const { slow, slowMsMax } = weather();
    return random.chance(slow) ? random.next() * slowMsMax : 0;
  }
}
