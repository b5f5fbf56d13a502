/** The proof: worlds of consecutive seeds. What is printed says how to see one again. */
import type { Bug } from "./bugs.ts";
import { EvolutionWorld, type Tally } from "./world.ts";

export interface ProofOptions {
  /** The seed of the first world; the next ones follow. */
  readonly seed: number;
  readonly worlds: number;
  readonly print: (line: string) => void;
  /** Told after every world. */
  readonly progress?: (worlds: number) => void;
}

const violationsShown = 5;

/** True if every run of every world evolved as it must. */
export async function proveEvolution({ seed, worlds, print, progress }: ProofOptions): Promise<boolean> {
  print(`prove:evolution seed ${seed}`);
  const total: Partial<Record<keyof Tally, number>> = {};
  let passed = true;
  let count = 0;
  for (; passed && count < worlds; count++) {
    const world = new EvolutionWorld(seed + count);
    await world.live();
    const { violations } = world.judge;
    for (const violation of violations.slice(0, violationsShown)) print(violation);
    passed = violations.length === 0;
    if (!passed) print(`Repeat it with --seed ${seed + count} --worlds 1`);
    for (const [name, figure] of Object.entries(world.tally) as [keyof Tally, number][])
      total[name] = (total[name] ?? 0) + figure;
    progress?.(count + 1);
  }
  print(`prove:evolution ${passed ? "passed" : "failed"}: ${count} worlds, ${figures(total as Tally)}`);
  return passed;
}

/** True if a planted bug is caught, by one of the rules it breaks. */
export async function huntBug(bug: Bug, options: ProofOptions): Promise<boolean> {
  const lines: string[] = [];
  const passed = await proveEvolution({ ...options, print: (line) => void lines.push(line) });
  const [, first = ""] = lines;
  const caught = !passed && bug.breaks.some((rule) => first.startsWith(`${rule}: `));
  options.print(`${caught ? "caught" : "NOT CAUGHT"}: ${bug.name}: ${passed ? "nothing was found" : first}`);
  options.print(lines.at(-1) as string);
  return caught;
}

function figures(total: Tally): string {
  return [
    `${total.runs} runs with ${total.children} children, ${total.steps} steps, ${total.crashes} crashes, ${total.deploys} deploys`,
    `${total.moves} moves to another version, ${total.refused} refused, ${total.returns} there and back`,
    `${total.told} pending things accounted for, ${total.dropped} of them let go`,
  ].join("; ");
}
