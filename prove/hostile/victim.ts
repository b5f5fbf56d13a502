/**
 * The process that is attacked. It may read its own code, and nothing else: Node's permissions forbid it to write, to
 * start processes and to load native code, and wires are laid once it is ready. It tells what it is about to meet and how
 * it went, a line each, so that whoever watches knows what it died of.
 */
import { writeSync } from "node:fs";
import type { Attack } from "./attack.ts";
import { sizeOf } from "./attack.ts";
import { byHand } from "./by-hand.ts";
import { type Defence, defend } from "./defend.ts";
import { drawAttack } from "./draw.ts";
import { plants } from "./plants.ts";
import { layWires, watchPrototypes } from "./tripwire.ts";

/** What the victim says of one attack. */
export interface Report {
  readonly index: number;
  readonly outcome?: string;
  readonly evaluationMs?: number;
  readonly stepMs?: number;
  readonly readingMs?: number;
  readonly problem?: string;
}

/** Far enough apart that neighbouring seeds share no attack. */
const seedStride = 1_000_003;

/** The attack of this number: first those written by hand, then those drawn. */
export function attackOf(seed: number, index: number): Attack {
  return byHand[index] ?? drawAttack(seed * seedStride + index);
}

/** An evaluation may take this long; reading, and a step's thousand microsteps, more, the larger the machine is. */
const evaluationMsMax = 100;
const stepMsMax = 1_000;
const charactersPerPart = 16_384;
/** Whatever was slow is measured again: a machine with other things to do is no proof. */
const measurements = 4;

function measure(attack: Attack, plant: (attack: Attack) => void): Defence & { readonly slow: boolean } {
  const scale = Math.max(1, sizeOf(attack) / charactersPerPart);
  const least = {
    evaluationMs: Number.POSITIVE_INFINITY,
    stepMs: Number.POSITIVE_INFINITY,
    readingMs: Number.POSITIVE_INFINITY,
  };
  let outcome = "";
  for (let count = 0; count < measurements; count++) {
    plant(attack);
    const defence = defend(attack);
    ({ outcome } = defence);
    for (const key of ["evaluationMs", "stepMs", "readingMs"] as const)
      least[key] = Math.min(least[key], defence[key]);
    const { evaluationMs, stepMs, readingMs } = least;
    const fine =
      evaluationMs <= evaluationMsMax && stepMs <= stepMsMax * scale && readingMs <= evaluationMsMax * scale;
    if (fine) return { outcome, ...least, slow: false };
  }
  return { outcome, ...least, slow: true };
}

function meetAll(seed: number, from: number, to: number, plant: (attack: Attack) => void): void {
  // Kept before the wires are laid: this is how the victim speaks.
  const write = writeSync;
  const say = (report: Report) => void write(1, `${JSON.stringify(report)}\n`);
  const touched: string[] = [];
  layWires((what) => touched.push(what));
  const changed = watchPrototypes();
  for (let index = from; index < to; index++) {
    say({ index });
    let report: Report;
    try {
      const { slow, ...defence } = measure(attackOf(seed, index), plant);
      report = {
        index,
        ...defence,
        ...(slow
          ? {
              problem: `took ${defence.evaluationMs} ms to evaluate, ${defence.stepMs} ms for a step, ${defence.readingMs} ms to read`,
            }
          : {}),
      };
    } catch (error) {
      report = { index, problem: String((error as Error).stack).slice(0, 1_000) };
    }
    const pollution = changed();
    if (pollution !== undefined) report = { index, problem: `changed ${pollution}` };
    if (touched.length > 0) report = { index, problem: `touched ${touched.splice(0).join(", ")}` };
    say(report);
    // Nothing that comes after could be told apart from it.
    if (pollution !== undefined) break;
  }
}

if (import.meta.main) {
  const [seed, from, to, name] = process.argv.slice(2) as [string, string, string, string | undefined];
  const plant = name === undefined ? () => {} : (plants[name] as (typeof plants)[string])();
  meetAll(Number(seed), Number(from), Number(to), plant);
}
