/** What goes wrong in a world, and how often: drawn once for each seed, so that worlds differ in kind. */
import type { Random } from "../../test/generate/random.ts";

/** Chances of each store call, and how often other things happen in a storm. */
export interface Weather {
  /** The process dies, and the call never happened. */
  readonly crashBefore: number;
  /** The process dies, and the call happened. */
  readonly crashAfter: number;
  /** The call fails, and never happened. */
  readonly refuse: number;
  /** The call happened, and its reply is lost. */
  readonly lose: number;
  /** A commit, or something that is removed, arrives a second time. */
  readonly twice: number;
  /** The call or its answer takes a while. */
  readonly slow: number;
  /** … so long that a lease can lapse meanwhile. */
  readonly stuck: number;
  readonly slowMsMax: number;
  /** How often in a storm: a process stands still for longer than its lease; the clock jumps; the power fails. */
  readonly pauses: number;
  readonly jumps: number;
  readonly powerLosses: number;
  /** A process dies at some moment, or is told to end. */
  readonly kills: number;
  readonly closes: number;
}

export const calm: Weather = {
  crashBefore: 0,
  crashAfter: 0,
  refuse: 0,
  lose: 0,
  twice: 0,
  slow: 0,
  stuck: 0,
  slowMsMax: 0,
  pauses: 0,
  jumps: 0,
  powerLosses: 0,
  kills: 0,
  closes: 0,
};

/** About half of all faults are part of a world. */
export function drawWeather(random: Random): Weather {
  const maybe = (often: number, most: number): number => (random.chance(often) ? random.next() * most : 0);
  const some = (often: number, most: number): number => (random.chance(often) ? random.between(1, most) : 0);
  return {
    crashBefore: maybe(0.4, 0.03),
    crashAfter: maybe(0.5, 0.04),
    refuse: maybe(0.4, 0.05),
    lose: maybe(0.4, 0.05),
    twice: maybe(0.3, 0.1),
    slow: maybe(0.7, 0.6),
    stuck: maybe(0.15, 0.01),
    slowMsMax: random.pick([3, 50, 800]),
    pauses: some(0.3, 2),
    jumps: some(0.25, 3),
    powerLosses: some(0.3, 2),
    kills: some(0.4, 3),
    closes: some(0.2, 2),
  };
}
