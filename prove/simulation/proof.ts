/** The proof: world after world, a sample of them twice, and what repeats the first failure. */
import type { Bug } from "./bugs/bug.ts";
import type { Invariant } from "./invariants/report.ts";
import { type Fate, showEvent, simulate, traceHash } from "./world.ts";

export interface ProofOptions {
  readonly seed: number;
  readonly seeds: number;
  /** How many processes share the store of each world; 0 where one at a time owns it. */
  readonly members: number;
  print(line: string): void;
  progress(worlds: number): void;
}

/**
 * Some worlds are simulated twice; both must go the same way. Of those on SQLite, which are one in fifty, it is one in
 * ten: they take several times as long as the others.
 */
const isTwice = (seed: number): boolean => seed % 50 === 25 || seed % 500 === 0;
/** Enough to see whether failures have one cause; more would only take time. */
const failuresMax = 10;

/** Runs the worlds of these seeds; false if an invariant did not hold, or a world did not repeat itself. */
export async function proveSimulation({
  seed,
  seeds,
  members,
  print,
  progress,
}: ProofOptions): Promise<boolean> {
  const total = { worlds: 0, lives: 0, steps: 0, acked: 0, twice: 0, failed: 0 };
  const among = members > 0 ? `--members ${members} ` : "";
  print(`prove:simulation ${among}seeds ${seed} to ${seed + seeds - 1}`);
  for (let next = seed; next < seed + seeds && total.failed < failuresMax; next++) {
    const fate = await simulate(next, members);
    total.worlds++;
    total.lives += fate.lives;
    total.steps += fate.steps;
    total.acked += fate.acked;
    const problem = showViolation(fate) ?? (isTwice(next) ? await differs(fate, members) : undefined);
    if (isTwice(next)) total.twice++;
    if (problem !== undefined) {
      total.failed++;
      print(
        `seed ${next}: ${problem}; npm run prove:simulation -- ${among}--seed ${next} shows how it came to that`,
      );
    }
    if (total.worlds % 100 === 0) progress(total.worlds);
  }
  const { worlds, lives, steps, acked, twice, failed } = total;
  const passed = failed === 0;
  print(
    `prove:simulation ${passed ? "passed" : "failed"}: ${worlds} worlds, ${lives} processes, ${steps} steps, ${acked} events acknowledged, ${twice} worlds twice, ${failed} violations`,
  );
  return passed;
}

/** Runs worlds until one of them catches the bug that was planted; false if none does, or for another reason. */
export async function huntBug(
  { name, catches }: Bug,
  { seed, seeds, members, print }: ProofOptions,
): Promise<boolean> {
  for (let next = seed; next < seed + seeds; next++) {
    const fate = await simulate(next, members);
    if (fate.violation === undefined) continue;
    const expected = catches.includes(fate.violation.invariant);
    print(
      `${name}: ${expected ? "caught" : "caught by another invariant"} in world ${next}, ${showViolation(fate)}`,
    );
    return expected;
  }
  print(`${name}: not caught in ${seeds} worlds`);
  return false;
}

/** Shows one world, event by event. */
export async function showSeed(
  seed: number,
  { members, print }: Pick<ProofOptions, "members" | "print">,
): Promise<boolean> {
  const fate = await simulate(seed, members);
  for (const event of fate.trace) print(showEvent(event));
  print(`seed ${seed}: ${showViolation(fate) ?? "every invariant held"}; trace ${traceHash(fate)}`);
  return fate.violation === undefined;
}

function showViolation({ violation }: Fate): string | undefined {
  if (violation === undefined) return undefined;
  const number: Invariant = violation.invariant;
  return `invariant ${number}: ${violation.text}`;
}

async function differs(fate: Fate, members: number): Promise<string | undefined> {
  const again = await simulate(fate.seed, members);
  return traceHash(again) === traceHash(fate) ? undefined : "the same seed led to another trace";
}
