/**
 * What do compression, shared content, runs in memory and indexes save? Each is measured with and without, in the same run
 * and on the same work. See METHOD.md for how and what not.
 */
import { type BenchOptions, columns, measure, median } from "./process.ts";
import type { IndexFigures } from "./storage/indexes.ts";
import type { SavingFigures } from "./storage/savings.ts";

const savings = new URL("./storage/savings.ts", import.meta.url);
const indexes = new URL("./storage/indexes.ts", import.meta.url);
const questions = ["compression", "sharing", "memory"] as const;

export async function benchStorage({ rounds, only, quick }: BenchOptions): Promise<void> {
  const isAsked = (question: string) => only.length === 0 || only.includes(question);
  const asked = questions.filter(isAsked);
  if (asked.length > 0) await reportSavings(asked, rounds, quick);
  if (isAsked("indexes")) await reportIndexes(quick);
}

async function reportSavings(asked: readonly string[], rounds: number, quick: boolean): Promise<void> {
  const rows = [["with / without", "time", "processor", "load", "bytes", "hits with", "hits without"]];
  for (const question of asked) {
    const pairs: [SavingFigures, SavingFigures][] = [];
    for (let round = 0; round < rounds; round++) {
      console.error(`${question}, round ${round + 1} …`);
      const ask = (how: string) => measure<SavingFigures>(savings, [question, how, String(quick)]);
      pairs.push([await ask("with"), await ask("without")]);
    }
    const ratio = (figure: "workMs" | "cpuMs" | "loadMs" | "bytes") =>
      `${median(pairs.map(([one, other]) => one[figure] / other[figure])).toFixed(2)}×`;
    const hits = (which: 0 | 1) => percent(median(pairs.map((pair) => pair[which].hitRate ?? Number.NaN)));
    const ratios = [ratio("workMs"), ratio("cpuMs"), ratio("loadMs"), ratio("bytes")];
    rows.push([question, ...ratios, hits(0), hits(1)]);
  }
  console.log(`\n${columns(rows)}`);
}

async function reportIndexes(quick: boolean): Promise<void> {
  console.error("indexes …");
  const { runs, fileBytes, figures, unmeasured } = await measure<IndexFigures>(indexes, [String(quick)]);
  const rows = [
    ["index", "asked", "with", "without", "without / with", "share of the file"],
    ...figures.map(({ index, asked, withMs, withoutMs, bytes }) => [
      ...[index, asked, showMs(withMs), showMs(withoutMs), `${(withoutMs / withMs).toFixed(1)}×`],
      percent(bytes / fileBytes),
    ]),
  ];
  console.log(`\n${columns(rows)}\n\n${runs} runs. Not measured: ${unmeasured.join(", ") || "none"}.`);
}

const showMs = (ms: number): string => `${ms.toPrecision(3)} ms`;
const percent = (share: number): string => (Number.isNaN(share) ? "" : `${(100 * share).toFixed(1)} %`);
