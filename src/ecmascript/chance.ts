/** Chance that belongs to a run: numbers that look random, and come out the same whenever the step is taken again. */

export class Chance {
  readonly #start: number | undefined;
  #state: number | undefined;

  /** `state` is where chance stood after the step before; undefined if the run never asked for any. */
  constructor(state: number | undefined) {
    this.#start = state;
  }

  /** Where chance stands now; undefined as long as nobody asked. */
  get state(): number | undefined {
    return this.#state ?? this.#start;
  }

  /** Starts over from where the step began: code that is only re-run does not use chance up. */
  rewind(): void {
    this.#state = undefined;
  }

  /** A number from 0 up to, not including, 1. This is the mixing function known as mulberry32. */
  next(run: string): number {
    const state = ((this.state ?? seedOf(run)) + 0x6d2b79f5) | 0;
    this.#state = state;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
}

/** A number of its own for each run. */
function seedOf(run: string): number {
  let hash = 0;
  for (let index = 0; index < run.length; index++) hash = (Math.imul(hash, 31) + run.charCodeAt(index)) | 0;
  return hash;
}
