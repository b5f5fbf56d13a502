/**
 * The proof: random sequences of the port's verbs on all stores at once, then random scripts on the runtime over each of
 * them. The memory store is what the others are compared with: it is the shortest, and shares no storage with any.
 */
import { answersToReach, compareStores } from "../../src/store/conformance/random.ts";
import type { OpenStore } from "../../src/store/conformance/world.ts";
import type { Bug } from "./bugs.ts";
import { canonical, firstDifference } from "./canonical.ts";
import { Grounds, openOn, rivals } from "./grounds.ts";
import { playScript } from "./script.ts";

export interface ProofOptions {
  readonly seed: number;
  /** How many sequences, of so many operations each. */
  readonly sequences: number;
  readonly operations: number;
  /** How many scripts, of so many acts each. */
  readonly scripts: number;
  readonly acts: number;
  readonly print: (line: string) => void;
  readonly progress?: (text: string) => void;
}

/** After so many operations everything that is held is compared. */
const lookEvery = 250;

/** So many sequences must have had every kind of answer there is. */
const sequencesForAll = 5;

/** True if no store did anything that another did not. */
export async function proveStores(options: ProofOptions): Promise<boolean> {
  const { seed, sequences, operations, scripts, acts, print, progress = () => {} } = options;
  print(`prove:stores seed ${seed}`);
  const grounds = await Grounds.open();
  const reached = new Set<string>();
  const differences: string[] = [];
  const found = (difference: string) => {
    differences.push(difference);
    print(difference);
  };
  try {
    for (let count = 0; count < sequences && differences.length === 0; count++) {
      await playSequence(grounds, seed + count, operations, reached).catch((error: Error) =>
        found(`${error.message}\nRepeat it with --seed ${seed + count} --sequences 1 --scripts 0`),
      );
      progress(`${count + 1} sequences`);
    }
    const missing = answersToReach.filter((answer) => !reached.has(answer));
    if (differences.length === 0 && sequences >= sequencesForAll && missing.length > 0)
      found(`No sequence had the answers ${missing.join(", ")}: there are too few`);
    for (let count = 0; count < scripts && differences.length === 0; count++) {
      const difference = await compareScripts(grounds, seed + count, acts);
      if (difference !== undefined)
        found(`${difference}\nRepeat it with --seed ${seed + count} --sequences 0 --scripts 1`);
      progress(`${count + 1} scripts`);
    }
  } finally {
    await grounds.close();
  }
  const figures = `${sequences} sequences of ${operations} operations, ${scripts} scripts of ${acts} acts, on memory, ${rivals.join(", ")}`;
  print(
    `prove:stores ${differences.length === 0 ? "passed" : "failed"}: ${figures}; ${differences.length} differences`,
  );
  return differences.length === 0;
}

/** True if a bug that was planted is caught, in the store it is in. */
export async function huntBug(bug: Bug, options: ProofOptions): Promise<boolean> {
  const { part, seed = options.seed, store } = bug;
  const lines: string[] = [];
  const passed = await proveStores({
    ...options,
    seed,
    sequences: part === "sequences" ? options.sequences : 0,
    scripts: part === "scripts" ? options.scripts : 0,
    print: (line) => void lines.push(line),
  });
  const [, first = ""] = lines;
  const caught = !passed && first.includes(`, ${store}`);
  options.print(`${caught ? "caught" : "NOT CAUGHT"}: ${bug.name}: ${passed ? "nothing was found" : first}`);
  options.print(lines.at(-1) as string);
  return caught;
}

async function playSequence(
  grounds: Grounds,
  seed: number,
  length: number,
  reached: Set<string>,
): Promise<void> {
  const opened: Record<string, OpenStore> = {};
  try {
    for (const name of rivals) opened[name] = await openOn(await grounds.place(name));
    await compareStores(opened, { seed, length, reached, expect: expectSame, lookEvery });
  } finally {
    for (const { dispose } of Object.values(opened)) await dispose();
  }
}

/** What conformance cases ask of a test framework. */
function expectSame(given: unknown, message = ""): { toEqual(wanted: unknown): void } {
  return {
    toEqual: (wanted) => {
      const [one, other] = [canonical(wanted), canonical(given)];
      if (one !== other) throw new Error(`${message}:${firstDifference(one, other)}`);
    },
  };
}

/** Plays a script on every store; the first difference there is. */
async function compareScripts(grounds: Grounds, seed: number, acts: number): Promise<string | undefined> {
  const wanted = await playScript(await grounds.place("memory"), seed, acts);
  for (const name of rivals) {
    const given = await playScript(await grounds.place(name), seed, acts);
    for (const [index, { act, answer }] of wanted.entries()) {
      const told = given[index];
      if (told?.act === act && told.answer === answer) continue;
      const where = `script ${seed}, act ${index}: ${act}, ${name}`;
      if (told?.act !== act) return `${where} has ${told?.act} instead`;
      return `${where}:${firstDifference(answer, told.answer)}`;
    }
    if (given.length !== wanted.length) return `script ${seed}, ${name} left more: ${given.at(-1)?.act}`;
  }
  return undefined;
}
