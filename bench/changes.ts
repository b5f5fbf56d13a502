/** What does watching a table cost whoever writes to it, and how fast are its changes delivered? See METHOD.md. */
import { type BenchOptions, columns, measure, median } from "./process.ts";

type Rates = Readonly<Record<string, number>>;

interface Measured {
  /** Rows written in a second, by how they are written, then by the table. */
  readonly written: Readonly<Record<string, Rates>>;
  /** Changes delivered in a second. */
  readonly delivered: Rates;
}

export async function benchChanges({ rounds, ms, quick }: BenchOptions): Promise<void> {
  const script = new URL("./changes/measure.ts", import.meta.url);
  const measured: Measured[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    measured.push(await measure<Measured>(script, [String(ms), quick ? "1000" : "5000"]));
  }
  const [first] = measured as [Measured];
  for (const [way, tables] of Object.entries(first.written)) {
    const of = (table: string): number[] => measured.map((one) => one.written[way]?.[table] as number);
    const shares = (table: string): number[] =>
      of(table).map((rate, index) => rate / (of("plain")[index] as number));
    console.log(
      columns([
        [way, "rows/s", "of plain"],
        ...Object.keys(tables).map((table) => [
          table,
          Math.round(median(of(table))).toLocaleString("en"),
          `${Math.round(median(shares(table)) * 100)} %`,
        ]),
      ]),
    );
    console.log();
  }
  for (const way of Object.keys(first.delivered)) {
    const rate = Math.round(median(measured.map((one) => one.delivered[way] as number)));
    console.log(`delivered ${way}: ${rate.toLocaleString("en")} changes/s`);
  }
}
