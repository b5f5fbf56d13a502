/**
 * How fast is the pure step, and what does it weigh? Holdfast, XState and a hand-written table do the same work in the
 * same run, each measurement in a process of its own, rounds interleaved. See METHOD.md for what this does not measure.
 */

import { execFileSync } from "node:child_process";
import { workloads } from "./core/workload.ts";
import { type BenchOptions, columns, measure, median } from "./process.ts";

const names = ["lookup table", "holdfast", "holdfast, frozen", "xstate actor.send", "xstate transition"];

export async function benchCore({ rounds, ms }: BenchOptions): Promise<void> {
  await benchSteps(rounds, ms);
  await benchPatches(rounds);
  await benchParked();
  await benchImport(rounds);
}

async function benchSteps(rounds: number, ms: number): Promise<void> {
  const script = new URL("./core/measure.ts", import.meta.url);
  const table: string[][] = [["events/s, median", ...workloads.map(({ name }) => name)]];
  const measured = new Map<string, number[]>();
  for (let round = 1; round <= rounds; round++) {
    for (const { name: workload } of workloads) {
      console.error(`round ${round} of ${rounds}: ${workload}`);
      for (const name of names) {
        const { perSecond } = await measure<{ perSecond: number }>(script, [name, workload, String(ms)]);
        const key = `${name} ${workload}`;
        measured.set(key, [...(measured.get(key) ?? []), perSecond]);
      }
    }
  }
  const speed = (name: string, workload: string) => median(measured.get(`${name} ${workload}`) as number[]);
  for (const name of names) {
    table.push([
      name,
      ...workloads.map((workload) => Math.round(speed(name, workload.name)).toLocaleString("en")),
    ]);
  }
  for (const [label, peer] of [
    ["holdfast / actor.send", "xstate actor.send"],
    ["holdfast / transition", "xstate transition"],
    ["holdfast / table", "lookup table"],
  ] as const) {
    table.push([label, ...workloads.map(({ name }) => ratio(speed("holdfast", name), speed(peer, name)))]);
  }
  console.log(`\n${columns(table)}\n`);
}

async function benchPatches(rounds: number): Promise<void> {
  const script = new URL("./core/patches.ts", import.meta.url);
  const results: Record<string, { perSecond: number; bytes: number }>[] = [];
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}: patches`);
    results.push(await measure(script, []));
  }
  const table = [["patch derivation, median", "per second", "bytes of patches"]];
  for (const name of Object.keys(results[0] ?? {})) {
    const of = results.map((result) => result[name] as { perSecond: number; bytes: number });
    const perSecond = Math.round(median(of.map((one) => one.perSecond))).toLocaleString("en");
    table.push([name, perSecond, String(of[0]?.bytes)]);
  }
  console.log(`${columns(table)}\n`);
}

async function benchParked(): Promise<void> {
  const script = new URL("./core/parked.ts", import.meta.url);
  const table = [["bytes of heap per parked state", ""]];
  for (const name of ["holdfast state", "xstate snapshot", "xstate actor"]) {
    console.error(`parked: ${name}`);
    const { bytes } = await measure<{ bytes: number }>(script, [name], { nodeFlags: ["--expose-gc"] });
    table.push([name, bytes.toFixed(0)]);
  }
  console.log(`${columns(table)}\n`);
}

async function benchImport(rounds: number): Promise<void> {
  const script = new URL("./core/import.ts", import.meta.url);
  const table = [["import, median", "ms", "kB of JavaScript", "kB gzipped"]];
  // Users import what was built; the sources would also pay for stripping their types.
  execFileSync("npm", ["run", "build"], { stdio: "ignore" });
  const targets = {
    holdfast: new URL("../dist/index.js", import.meta.url).href,
    xstate: import.meta.resolve("xstate"),
  };
  for (const [name, target] of Object.entries(targets)) {
    console.error(`import: ${name}`);
    const results: { ms: number; bytes: number; gzipped: number }[] = [];
    for (let round = 0; round < rounds; round++) results.push(await measure(script, [target]));
    const { bytes, gzipped } = results[0] as { bytes: number; gzipped: number };
    const ms = median(results.map((result) => result.ms));
    table.push([name, ms.toFixed(1), (bytes / 1000).toFixed(0), (gzipped / 1000).toFixed(1)]);
  }
  console.log(columns(table));
}

function ratio(one: number, other: number): string {
  const times = one / other;
  return `${times.toFixed(times < 1 ? 2 : 1)}×`;
}
