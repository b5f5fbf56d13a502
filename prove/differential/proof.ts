/**
 * The proof: charts from consecutive seeds, judged one after the other. The first mismatches are shrunk and shown; what
 * is printed says how to see each again.
 */
import { drawPlan } from "../../test/generate/chart.ts";
import type { Dialect } from "../../test/generate/plan.ts";
import { allDeviations, type Deviation, deviations, notDrawn } from "./deviations.ts";
import { type Engines, judge, engines as realEngines } from "./judge.ts";
import { describeMismatch } from "./report.ts";
import { witness } from "./witness.ts";

export interface ProofOptions {
  /** The seed of the first chart; the next ones follow. */
  readonly seed: number;
  readonly charts: number;
  /** Goes on for this long whatever `charts` says. */
  readonly minutes?: number;
  readonly print: (line: string) => void;
  /** Told now and then how far it has come. */
  readonly progress?: (charts: number) => void;
  readonly now: () => number;
  readonly engines?: Engines;
}

/** Enough to see whether failures have something in common. */
const mismatchesShown = 3;
/** Watching costs as much as judging, so only some charts are watched. */
const witnessEvery = 10;

interface Tally {
  charts: number;
  native: number;
  steps: number;
  cutShort: number;
  deviating: number;
  mismatches: number;
  readonly deviations: Map<Deviation, number>;
  readonly features: Map<string, number>;
}

/** True if every engine did what it must on every chart. */
export function proveDifferential(options: ProofOptions): boolean {
  const { seed, print, now } = options;
  print(`prove:differential seed ${seed}`);
  const tally: Tally = {
    charts: 0,
    native: 0,
    steps: 0,
    cutShort: 0,
    deviating: 0,
    mismatches: 0,
    deviations: new Map(),
    features: new Map(),
  };
  const end = now() + (options.minutes ?? 0) * 60_000;
  const goesOn = (): boolean =>
    tally.mismatches < mismatchesShown &&
    (options.minutes === undefined ? tally.charts < options.charts : now() < end);

  while (goesOn()) {
    const chartSeed = (seed + tally.charts) >>> 0;
    tally.charts += 1;
    prove(chartSeed, "shared", tally, options);
    tally.native += 1;
    prove(chartSeed, "native", tally, options);
    if (tally.charts % 1_000 === 0) options.progress?.(tally.charts);
  }
  for (const line of summary(tally)) print(line);
  return tally.mismatches === 0;
}

function prove(
  seed: number,
  dialect: Dialect,
  tally: Tally,
  { print, engines = realEngines }: ProofOptions,
): void {
  const plan = drawPlan(seed, dialect);
  const verdict = judge(plan, dialect, engines);
  if (!verdict.agrees) {
    tally.mismatches += 1;
    for (const line of describeMismatch(plan, dialect, seed, engines)) print(line);
    return;
  }
  tally.steps += verdict.steps;
  if (verdict.cutShort) tally.cutShort += 1;
  if (verdict.deviations.length > 0) tally.deviating += 1;
  for (const deviation of verdict.deviations) add(tally.deviations, deviation);
  if (seed % witnessEvery === 0) for (const feature of witness(plan)) add(tally.features, feature);
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function* summary(tally: Tally): Generator<string> {
  const features = [...tally.features].sort(([one], [other]) => (one < other ? -1 : 1));
  yield `What happened, in how many of every ${witnessEvery}th seed's charts:`;
  yield `  ${features.map(([feature, count]) => `${feature} ${count}`).join(", ")}`;
  yield "Where SCION departs from SCXML, in how many charts; the oracle, made to depart in the same way, did the same:";
  for (const deviation of allDeviations)
    yield `  ${String(tally.deviations.get(deviation) ?? 0).padStart(6)}  ${deviation}: ${deviations[deviation]}`;
  yield "Not drawn for the comparison with SCION:";
  for (const reason of notDrawn) yield `  ${reason}`;
  const figures = [
    `${tally.charts} charts against SCION and the oracle (${tally.charts - tally.deviating} as SCION, ${tally.deviating} explained)`,
    `${tally.native} native charts against the oracle`,
    `${tally.steps} steps`,
    `${tally.cutShort} charts cut short by a step without end`,
    `${tally.features.size} features seen`,
    `${notDrawn.length} not drawn`,
    `${tally.mismatches} mismatches`,
  ];
  yield `prove:differential ${tally.mismatches === 0 ? "passed" : "failed"}: ${figures.join(", ")}`;
}
