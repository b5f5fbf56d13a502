/**
 * What does each tier save? One run's state read when it is in memory, when Redis has a copy, and from PostgreSQL alone. See
 * METHOD.md for how and what not.
 */
import pg from "pg";
import { startServer } from "../test/postgres/server.ts";
import { startRedis } from "../test/redis/server.ts";
import { type BenchOptions, columns, measure, median } from "./process.ts";
import type { Tier, TierFigures, TierTask } from "./tiers/measure.ts";
import { workloads } from "./tiers/workload.ts";

const script = new URL("./tiers/measure.ts", import.meta.url);

type Measured = Readonly<Record<Tier, TierFigures>>;

export async function benchTiers({ rounds, only, quick }: BenchOptions): Promise<void> {
  const names = Object.keys(workloads).filter((name) => only.length === 0 || only.includes(name));
  const server = await startServer();
  const redis = await startRedis();
  try {
    for (const workload of names) {
      const measured: Measured[] = [];
      for (let round = 1; round <= rounds; round++) {
        console.error(`round ${round} of ${rounds}: ${workload}`);
        redis.command("FLUSHALL");
        const database = `tiers_${names.indexOf(workload)}_${round}`;
        await inDatabase(server.url("postgres"), `CREATE DATABASE ${database}`);
        const task: TierTask = {
          ...{ workload, url: server.url(database), redis: redis.url },
          reads: quick ? 20 : 100,
        };
        measured.push(await measure<Measured>(script, [JSON.stringify(task)]));
      }
      console.log(`\n${table(workload, measured)}`);
    }
  } finally {
    await redis.stop();
    await server.stop();
  }
}

function table(workload: string, measured: readonly Measured[]): string {
  const of = (pick: (one: Measured) => number): number => median(measured.map(pick));
  const rows = order.map((tier) => [
    tier,
    ...[of((one) => one[tier].loadMs).toFixed(2), `${of((one) => one[tier].loadRatio).toFixed(2)}×`],
    ...[of((one) => one[tier].ms).toFixed(2), `${of((one) => one[tier].ratio).toFixed(2)}×`],
    of((one) => one[tier].cpuMs).toFixed(2),
    of((one) => one[tier].statements).toFixed(0),
    kilobytes(of((one) => one[tier].databaseBytes)),
    kilobytes(of((one) => one[tier].redisBytes)),
  ]);
  const times = ["load ms", "of cold", "state ms", "of cold", "CPU ms"];
  return columns([[workload, ...times, "statements", "KB from PostgreSQL", "KB from Redis"], ...rows]);
}

const order: readonly Tier[] = ["hot", "warm", "warm, nothing there", "cold"];

const kilobytes = (bytes: number): string => (bytes / 1_000).toFixed(1);

async function inDatabase(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}
