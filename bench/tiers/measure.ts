/** Reads one run's state from each tier, in a process of its own; prints JSON. */
import pg from "pg";
import { createClient } from "redis";
import { createRuntime, defineMachine } from "../../src/index.ts";
import { Past } from "../../src/runtime/past.ts";
import { noSeal } from "../../src/runtime/seal.ts";
import type { PostgresPool } from "../../src/store/postgres/connect.ts";
import { postgres } from "../../src/store/postgres/store.ts";
import { withRedis } from "../../src/store/redis/index.ts";
import type { Store } from "../../src/store/store.ts";
import { cpuMsOf } from "../postgres/witness.ts";
import { median } from "../process.ts";
import { type Workload, workloads } from "./workload.ts";

export interface TierTask {
  readonly workload: string;
  readonly url: string;
  /** The PostgreSQL server's process. */
  readonly pid: number;
  readonly redis: string;
  readonly reads: number;
}

/** Figures of one read. */
export interface TierFigures {
  readonly ms: number;
  readonly cpuMs: number;
  readonly serverCpuMs: number;
  readonly statements: number;
  readonly databaseBytes: number;
  readonly redisBytes: number;
}

export const tiers = ["hot", "warm, read before", "warm", "warm, nothing there", "cold"] as const;
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
const state = (store: Store) => async (): Promise<unknown> => {
  const loaded = await store.load(name);
  if (loaded === undefined) throw new Error("The run is gone");
  return new Past(store, noSeal).rebuild(loaded);
};

const runtime = await createRuntime({ store: warm(), machines: [thread] });
const run = await runtime.start(thread, { id: name.run });
for (let step = 0; step < steps; step++) await run.send("say", textOf(step));
const figures: Partial<Record<Tier, TierFigures>> = {};
figures.hot = await measure(() => run.state());
await runtime.close();

await cold.open();
figures.cold = await measure(state(cold));
const reader = warm();
await reader.open();
// As the process that had the run left it.
const left = await Promise.all((await client.keys("*")).map(async (key) => [key, await dump(key)] as const));
figures.warm = await measure(state(reader), async () => {
  for (const [key, bytes] of left) await client.sendCommand(["RESTORE", key, "0", bytes, "REPLACE"]);
});
await state(reader)();
figures["warm, read before"] = await measure(state(reader));
let stranger = reader;
figures["warm, nothing there"] = await measure(
  () => state(stranger)(),
  async () => {
    await client.flushAll();
    stranger = warm();
    await stranger.open();
  },
);
await reader.close();
await cold.close();
client.destroy();
await pool.end();
console.log(JSON.stringify(figures));

function dump(key: string): Promise<Buffer> {
  return client.sendCommand(["DUMP", key], { typeMapping: { 36: Buffer } });
}

/** Reads again and again; `before` is not counted. */
async function measure(read: () => Promise<unknown>, before?: () => Promise<unknown>): Promise<TierFigures> {
  for (let reads = 0; reads < 20; reads++) {
    await before?.();
    await read();
  }
  const laps: number[] = [];
  let redisBytes = 0;
  let [cpuUs, told, received] = [0, 0, 0];
  const server = cpuMsOf(task.pid);
  for (let reads = 0; reads < task.reads; reads++) {
    await before?.();
    const [sent, had] = [await redisSent(), bytesRead()];
    const asked = statements;
    const cpu = process.cpuUsage();
    const begun = performance.now();
    await read();
    laps.push(performance.now() - begun);
    const { user, system } = process.cpuUsage(cpu);
    cpuUs += user + system;
    told += statements - asked;
    received += bytesRead() - had;
    redisBytes += (await redisSent()) - sent;
  }
  // What Redis says about itself is not part of a read.
  const saidBytes = await redisSaid();
  return {
    ms: median(laps),
    cpuMs: cpuUs / 1_000 / task.reads,
    serverCpuMs: (cpuMsOf(task.pid) - server) / task.reads,
    statements: told / task.reads,
    databaseBytes: received / task.reads,
    redisBytes: redisBytes / task.reads - saidBytes,
  };
}

function bytesRead(): number {
  return sockets.reduce((sum, socket) => sum + socket.bytesRead, 0);
}

async function redisSent(): Promise<number> {
  const [, bytes] = /total_net_output_bytes:(\d+)/.exec(await client.info("stats")) ?? [];
  return Number(bytes);
}

async function redisSaid(): Promise<number> {
  const before = await redisSent();
  return (await redisSent()) - before;
}
