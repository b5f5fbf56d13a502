/** Reads one run's state from each tier, in a process of its own; prints JSON. */
import pg from "pg";
import { createClient } from "redis";
import { createRuntime, defineMachine } from "../../src/index.ts";
import { Past } from "../../src/runtime/live/past.ts";
import { noSeal } from "../../src/runtime/seal.ts";
import type { PostgresPool } from "../../src/store/postgres/connect.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { withRedis } from "../../src/store/redis/index.ts";
import type { Store } from "../../src/store/store.ts";
import { median } from "../process.ts";
import { type Workload, workloads } from "./workload.ts";

export interface TierTask {
  readonly workload: string;
  readonly url: string;
  readonly redis: string;
  readonly reads: number;
}

/** Figures of one read. */
export interface TierFigures {
  /** Until everything was there, and until the state was made of it. */
  readonly loadMs: number;
  readonly ms: number;
  /** Beside that of a cold read that was made right before or after it. */
  readonly loadRatio: number;
  readonly ratio: number;
  readonly cpuMs: number;
  readonly statements: number;
  readonly databaseBytes: number;
  readonly redisBytes: number;
}

export const tiers = ["hot", "warm", "warm, nothing there", "cold"] as const;
export type Tier = (typeof tiers)[number];

const task = JSON.parse(process.argv[2] as string) as TierTask;
const { steps, textOf } = workloads[task.workload] as Workload;
const name = { tenant: "default", run: task.workload };

const thread = defineMachine<{ messages: { from: string; text: string }[] }>({
  id: "thread",
  start: { messages: [] },
  initial: "open",
  states: {
    open: {
      on: {
        say: {
          update: (draft, { event }) => void draft.messages.push({ from: "ada", text: event.data as string }),
        },
      },
    },
  },
});

let statements = 0;
let said = 0;
const pool = new pg.Pool({ connectionString: task.url, max: 1 });
const sockets: { readonly bytesRead: number }[] = [];
pool.on("connect", (client) =>
  sockets.push((client as unknown as { connection: { stream: { bytesRead: number } } }).connection.stream),
);
const counted = {
  query: (query: pg.QueryConfig) => {
    statements++;
    return pool.query(query);
  },
  connect: () => pool.connect(),
  end: () => pool.end(),
} as unknown as PostgresPool;

const client = await createClient({ url: task.redis }).connect();
const cold = postgres(counted);
const warm = (): Store => withRedis(postgres(counted), { client });

/** One read: what it takes, and what must be so before it. */
interface Reading {
  before?(): Promise<unknown>;
  /** Calls back when everything is there. */
  read(loaded: () => void): Promise<unknown>;
}

const from =
  (store: () => Store) =>
  async (loaded: () => void): Promise<unknown> => {
    // Large texts are loaded while the state is made, so they are asked for before as well.
    const found = await store().load(name);
    if (found === undefined) throw new Error("The run is gone");
    loaded();
    return new Past(store(), noSeal).rebuild(found);
  };

const runtime = await createRuntime({ store: warm(), machines: [thread] });
const run = await runtime.start(thread, { id: name.run });
for (let step = 0; step < steps; step++) await run.send("say", textOf(step));

await cold.open();
const reader = warm();
await reader.open();
// As the process that had the run left it.
const left = await Promise.all((await client.keys("*")).map(async (key) => [key, await dump(key)] as const));
let stranger = reader;
const readings: Readonly<Record<Tier, Reading>> = {
  hot: {
    read: async (loaded) => {
      loaded();
      return run.state();
    },
  },
  warm: {
    before: async () => {
      for (const [key, bytes] of left) await client.sendCommand(["RESTORE", key, "0", bytes, "REPLACE"]);
      // Texts are there once somebody has read them.
      if (left.every(([key]) => !key.includes("texts"))) await from(() => reader)(() => {});
    },
    read: from(() => reader),
  },
  "warm, nothing there": {
    before: async () => {
      await client.flushAll();
      stranger = warm();
      await stranger.open();
    },
    read: from(() => stranger),
  },
  cold: { read: from(() => cold) },
};

for (let reads = 0; reads < 20; reads++) for (const tier of tiers) await once(readings[tier]);
const rounds: Record<Tier, TierFigures>[] = [];
for (let reads = 0; reads < task.reads; reads++) {
  const round: Partial<Record<Tier, Omit<TierFigures, "ratio" | "loadRatio">>> = {};
  for (const tier of tiers) round[tier] = await once(readings[tier]);
  rounds.push(withRatios(round as Record<Tier, TierFigures>));
}
const figures = Object.fromEntries(tiers.map((tier) => [tier, medianOf(rounds.map((round) => round[tier]))]));
await runtime.close();
await cold.close();
client.destroy();
await pool.end();
console.log(JSON.stringify(figures));

function dump(key: string): Promise<Buffer> {
  return client.sendCommand(["DUMP", key], { typeMapping: { 36: Buffer } });
}

async function once({ before, read }: Reading): Promise<Omit<TierFigures, "ratio" | "loadRatio">> {
  await before?.();
  const [asked, had, sent] = [statements, bytesRead(), await redisSent()];
  const cpu = process.cpuUsage();
  const begun = performance.now();
  let loadMs = 0;
  await read(() => {
    loadMs = performance.now() - begun;
  });
  const ms = performance.now() - begun;
  const { user, system } = process.cpuUsage(cpu);
  return {
    ...{ loadMs, ms, cpuMs: (user + system) / 1_000, statements: statements - asked },
    ...{ databaseBytes: bytesRead() - had, redisBytes: (await redisSent()) - sent },
  };
}

function withRatios(round: Record<Tier, TierFigures>): Record<Tier, TierFigures> {
  const { cold } = round;
  const ratios = ({ ms, loadMs }: TierFigures) => ({ ratio: ms / cold.ms, loadRatio: loadMs / cold.loadMs });
  const pairs = tiers.map((tier) => [tier, { ...round[tier], ...ratios(round[tier]) }]);
  return Object.fromEntries(pairs) as Record<Tier, TierFigures>;
}

function medianOf(all: readonly TierFigures[]): TierFigures {
  const names = Object.keys(all[0] as TierFigures) as (keyof TierFigures)[];
  const pairs = names.map((name) => [name, median(all.map((one) => one[name]))]);
  return Object.fromEntries(pairs) as unknown as TierFigures;
}

function bytesRead(): number {
  return sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
}

/** What Redis has sent so far, less what it said about that. */
async function redisSent(): Promise<number> {
  const text = await client.info("stats");
  const [, bytes] = /total_net_output_bytes:(\d+)/.exec(text) ?? [];
  const sent = Number(bytes) - said;
  said += Buffer.byteLength(text) + `$${text.length}\r\n\r\n`.length;
  return sent;
}
