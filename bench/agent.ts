/**
 * What do a long conversation and a long memory cost? A thread in a machine on SQLite: a step, the bytes of a turn, and the
 * window that is built from it, at several lengths; and a memory of so many facts. See METHOD.md for how and what not.
 */
import type { ConversationFigures } from "./agent/conversation.ts";
import type { MemoryFigures } from "./agent/memory.ts";
import { type BenchOptions, columns, measure } from "./process.ts";

const script = new URL("./agent/conversation.ts", import.meta.url);
const memoryScript = new URL("./agent/memory.ts", import.meta.url);

export async function benchAgent({ quick }: BenchOptions): Promise<void> {
  const sizes = quick ? [100, 1_000] : [100, 1_000, 10_000];
  const rows: string[][] = [
    ["turns", "step p50", "p99", "bytes a turn", "window 8k p99", "32k p99", "128k p99", "128k, first"],
  ];
  for (const turns of sizes) {
    console.error(`${turns} turns …`);
    const { step, bytesPerTurn, windows, firstMs } = await measure<ConversationFigures>(script, [
      String(turns),
    ]);
    rows.push([
      String(turns),
      ...[step.p50, step.p99].map((ms) => `${ms.toFixed(2)} ms`),
      bytesPerTurn.toFixed(0),
      ...windows.map(({ p99 }) => `${p99.toFixed(2)} ms`),
      `${firstMs.toFixed(1)} ms`,
    ]);
  }
  console.log(`\n${columns(rows)}`);
  console.log("\nGoals at 10,000 turns: window p99 < 10 ms; a step and a turn's bytes as at 100.");
  await benchMemory(sizes);
}

/** Remembering and recalling, by how many facts there are, and with and without the store's index. */
async function benchMemory(sizes: readonly number[]): Promise<void> {
  const rows: string[][] = [
    ["facts", "remember p50", "p99", "cpu", "recall p50", "p99", "cpu", "first in a new process"],
  ];
  for (const facts of sizes)
    for (const search of ["index", "pure"]) {
      console.error(`${facts} facts, ${search} …`);
      const figures = await measure<MemoryFigures>(memoryScript, [String(facts), search]);
      const { remember, recall, rememberCpuMs, recallCpuMs, firstMs } = figures;
      const times = [remember.p50, remember.p99, rememberCpuMs, recall.p50, recall.p99, recallCpuMs, firstMs];
      rows.push([`${facts}, ${search}`, ...times.map((ms) => `${ms.toFixed(2)} ms`)]);
    }
  console.log(`\n${columns(rows)}`);
}
