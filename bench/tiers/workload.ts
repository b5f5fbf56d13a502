/** Runs of several sizes: what is said to each, made from a few hundred words so that it compresses as language does. */

export interface Workload {
  readonly steps: number;
  /** What is said in a step. */
  textOf(step: number): string;
}

export const workloads: Readonly<Record<string, Workload>> = {
  "10 KB": { steps: 10, textOf: (step) => speech(step, 1_000) },
  "100 KB": { steps: 100, textOf: (step) => speech(step, 1_000) },
  "1 MB": { steps: 300, textOf: (step) => speech(step, 3_500) },
  "2,000 messages": { steps: 2_000, textOf: (step) => speech(step, 400) },
  "1 MB in 20 texts": { steps: 20, textOf: (step) => speech(step, 50_000) },
};

/** Text of a length, another one for every seed. */
function speech(seed: number, length: number): string {
  let random = seed * 2_654_435_761 + 1;
  const next = (below: number): number => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((random / 2_147_483_648) * below);
  };
  const words: string[] = [];
  for (let size = 0; size < length; ) {
    // Few words are used often and many seldom.
    const word = wordOf(Math.floor(3_000 * (next(1_000) / 1_000) ** 3));
    words.push(word);
    size += word.length + 1;
  }
  return words.join(" ").slice(0, length);
}

function wordOf(index: number): string {
  const syllables = ["ka", "no", "ri", "tem", "sul", "ve", "do", "par", "lin", "mo"];
  let word = "";
  for (let rest = index + 7; rest > 0; rest = Math.floor(rest / 10)) word += syllables[rest % 10];
  return word;
}
