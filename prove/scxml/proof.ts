/** The proof as a whole: every fixture in exactly one lane, every lane run, every failure told. */
import { loadScxml } from "../../src/ecmascript/index.ts";
import { checkHttp, checkManual } from "./cases.ts";
import { type Fixture, type Lane, lanesOf, readCorpus } from "./corpus.ts";
import { corrections } from "./expectations.ts";
import { HttpProcessor } from "./http.ts";
import { checkPair, type Verdict } from "./pair.ts";
import type { Tools } from "./session.ts";

export interface ProofOptions {
  /** Only fixtures with this in their names. */
  readonly only?: string | undefined;
  readonly verbose?: boolean | undefined;
  readonly print: (line: string) => void;
  /** Instead of the corpus, to show that the proof can fail. */
  readonly fixtures?: readonly Fixture[];
}

interface Section {
  readonly name: string;
  readonly lane: Lane;
  readonly check: (fixture: Fixture, tools: Tools) => Promise<Verdict>;
}

const sections: readonly Section[] = [
  { name: "pairs", lane: "pair", check: (fixture, tools) => checkPair(fixture, tools, false) },
  { name: "restored", lane: "pair", check: (fixture, tools) => checkPair(fixture, tools, true) },
  { name: "http", lane: "http", check: checkHttp },
  { name: "manual", lane: "manual", check: checkManual },
];

/** Runs the proof; true if it passed. The last line printed says the same. */
export async function proveScxml(options: ProofOptions): Promise<boolean> {
  const { print, only = "" } = options;
  print("seed none (nothing here is random)");
  const corpus = options.fixtures ?? readCorpus();
  const claimed = corpus.filter((fixture) => {
    const lanes = lanesOf(fixture);
    if (lanes.length !== 1) print(`${fixture.name}: claimed by ${lanes.join(" and ") || "no lane"}`);
    return lanes.length === 1;
  });
  const chosen = claimed.filter(({ name }) => name.includes(only));
  for (const [name, { reason }] of Object.entries(corrections))
    if (chosen.some((fixture) => fixture.name === name))
      print(`${name}: the expectation file is wrong: ${reason}`);

  const http = await HttpProcessor.open();
  const figures: string[] = [];
  let passed = claimed.length === corpus.length && chosen.length > 0;
  try {
    const tools = { scxml: await loadScxml(), http };
    for (const section of sections) {
      const fixtures = chosen.filter((fixture) => lanesOf(fixture)[0] === section.lane);
      const failures = await runSection(section, fixtures, tools, options);
      figures.push(`${fixtures.length - failures}/${fixtures.length} ${section.name}`);
      print(figures.at(-1) as string);
      passed &&= failures === 0;
    }
  } finally {
    await http.close();
  }
  figures.push(`${claimed.length}/${corpus.length} fixtures claimed`);
  print(`prove:scxml ${passed ? "passed" : "failed"} ${figures.join(", ")}`);
  return passed;
}

async function runSection(
  { name: section, check }: Section,
  fixtures: readonly Fixture[],
  tools: Tools,
  { print, verbose }: ProofOptions,
): Promise<number> {
  let failures = 0;
  for (const fixture of fixtures) {
    const verdict = await check(fixture, tools).catch((error: unknown) => `threw ${(error as Error).stack}`);
    if (verdict !== undefined) failures++;
    if (verdict !== undefined) print(`FAILED ${section} ${fixture.name} ${verdict}`);
    else if (verbose) print(`ok ${section} ${fixture.name}`);
  }
  return failures;
}
