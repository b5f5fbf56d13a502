/**
 * What does a durable step cost? Holdfast on SQLite beside `node:sqlite` used by hand, both with `synchronous=FULL`, each
 * measurement on a fresh file in a process of its own. See METHOD.md for what this does not measure.
 */
import type { Figures } from "./durable/workload.ts";
import { type BenchOptions, columns, measure, median } from "./process.ts";

const names = ["raw node:sqlite", "holdfast"];
const workloads = ["sequential", "conversation", "many"];

export async function benchDurable({ rounds }: BenchOptions): Promise<void> {
  const script = new URL("./durable/measure.ts", import.meta.url);
  const measured = new Map<string, (Figures & { bytes: number })[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const workload of workloads) {
      console.error(`round ${round} of ${rounds}: ${workload}`);
      for (const name of names) {
        const key = `${name} ${workload}`;
        measured.set(key, [...(measured.get(key) ?? []), await measure(script, [name, workload])]);
      }
    }
  }
  const of = (name: string, workload: string) => measured.get(`${name} ${workload}`) ?? [];
  const speed = (name: string, workload: string) =>
    median(of(name, workload).map(({ perSecond }) => perSecond));
  const table = [["steps/s, median", ...workloads]];
  for (const name of names) {
    table.push([
      name,
      ...workloads.map((workload) => Math.round(speed(name, workload)).toLocaleString("en")),
    ]);
  }
  const share = (workload: string) => speed("holdfast", workload) / speed("raw node:sqlite", workload);
  table.push(["holdfast / raw", ...workloads.map((workload) => `${Math.round(share(workload) * 100)} %`)]);
  console.log(`\n${columns(table)}\n`);
  for (const name of names) {
    const talks = of(name, "conversation");
    const first = median(talks.map((talk) => talk.first ?? 0)).toFixed(0);
    const last = median(talks.map((talk) => talk.last ?? 0)).toFixed(0);
    const megabytes = (median(talks.map(({ bytes }) => bytes)) / 1e6).toFixed(2);
    console.log(
      `${name}: conversation's first 100 steps ${first} ms, last 100 ${last} ms, ${megabytes} MB on disk`,
    );
  }
}
