/** The proof: worlds from consecutive seeds until there were enough timers. What is printed says how to see one again. */
import { addTally, emptyTally, type Tally } from "./tally.ts";
import { World } from "./world.ts";

export interface ProofOptions {
  /** The seed of the first world; the next ones follow. */
  readonly seed: number;
  /** How many timers to set in all. */
  readonly timers: number;
  /** Worlds at most. */
  readonly worlds?: number;
  readonly print: (line: string) => void;
  /** Told after every world. */
  readonly progress?: (timers: number) => void;
}

const violationsShown = 5;

/** True if every timer of every world did what it must. */
export async function proveTimers(options: ProofOptions): Promise<boolean> {
  const { seed, timers, worlds = Number.POSITIVE_INFINITY, print, progress } = options;
  print(`prove:timers seed ${seed}`);
  const total = emptyTally();
  let count = 0;
  let passed = true;
  for (; passed && count < worlds && total.set < timers; count++) {
    const world = new World(seed + count);
    await world.run();
    const { violations, counts } = world.audit;
    passed = violations.length === 0;
    for (const violation of violations.slice(0, violationsShown)) print(violation);
    if (!passed) print(`Repeat it with --seed ${seed + count} --seeds 1`);
    addTally(total, counts);
    progress?.(total.set);
  }
  print(`prove:timers ${passed ? "passed" : "failed"}: ${count} worlds, ${figures(total)}`);
  return passed;
}

function figures(total: Tally): string {
  return [
    `${total.set} timers set, ${total.fired} fired, ${total.cancelled} cancelled`,
    `${total.sent} sent to other runs, ${total.moved} moved by outages`,
    `${total.scheduled} times of ${total.schedules} schedules`,
    `${total.lives} lives, ${total.crashes} deaths, ${total.outages} outages`,
    `${total.jumps} jumps of the clock (${total.setBack} back), ${total.steps} steps`,
  ].join("; ");
}
