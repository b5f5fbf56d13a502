/** Measures one long-term memory on SQLite, in a process of its own; prints JSON. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "holdfast";
import { defineMemory, openMemory } from "holdfast/agent";
import { sqlite } from "holdfast/sqlite";
import type { Spread } from "./conversation.ts";

export interface MemoryFigures {
  /** The last hundred facts to be remembered, one after the other, and two hundred questions after them. */
  readonly remember: Spread;
  readonly recall: Spread;
  /** What both used of the processor, a piece. */
  readonly rememberCpuMs: number;
  readonly recallCpuMs: number;
  /** The first question in a new process: the memory is read from the store. */
  readonly firstMs: number;
}

const [size = 100, withSearch = true] = [Number(process.argv[2]), process.argv[3] !== "pure"];
const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
const path = join(folder, "runs.db");

/** Texts of twelve words, of 5,000 words of which the first are the most common. */
let seed = 1;
const random = () => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed / 2_147_483_647;
};
const text = (length: number) =>
  Array.from({ length }, () => `w${Math.floor(random() ** 2 * 5_000).toString(36)}`).join(" ");

async function open() {
  const store = sqlite(path, { synchronous: "normal" });
  const kind = defineMemory({ id: "memory", ...(withSearch ? { search: store } : {}) });
  const runtime = await createRuntime({ store, machines: [kind] });
  return { runtime, memory: openMemory(runtime, kind, { user: "ada" }) };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

async function spread(count: number, act: () => Promise<unknown>): Promise<[Spread, cpu: number]> {
  const times: number[] = [];
  const before = cpuMs();
  for (let n = 0; n < count; n++) {
    const begin = performance.now();
    await act();
    times.push(performance.now() - begin);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => times[Math.min(count - 1, Math.floor(share * count))] as number;
  return [{ p50: at(0.5), p99: at(0.99) }, (cpuMs() - before) / count];
}

const { runtime, memory } = await open();
let facts = 0;
const tell = () =>
  memory.remember({ subject: `s${facts++ % 500}`, text: text(12), source: { trust: "trusted" } });
while (facts < size - 100) await Promise.all(Array.from({ length: Math.min(50, size - 100 - facts) }, tell));
const [remember, rememberCpuMs] = await spread(Math.min(100, size - facts), tell);
const [recall, recallCpuMs] = await spread(200, () => memory.recall(text(5)));
await runtime.close();
const again = await open();
const begin = performance.now();
await again.memory.recall(text(5));
const firstMs = performance.now() - begin;
await again.runtime.close();
rmSync(folder, { recursive: true });
console.log(
  JSON.stringify({ remember, recall, rememberCpuMs, recallCpuMs, firstMs } satisfies MemoryFigures),
);
