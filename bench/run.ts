/**
 * `npm run bench -- <question> [--rounds N] [--ms N] [--only a,b] [--quick] [--peers]`: one file per question; data on
 * stdout, progress on stderr.
 */
import { parseArgs } from "node:util";
import { benchAgent } from "./agent.ts";
import { benchChanges } from "./changes.ts";
import { benchCore } from "./core.ts";
import { benchDrafts } from "./drafts.ts";
import { benchDurable } from "./durable.ts";
import { benchPostgres } from "./postgres.ts";
import type { BenchOptions } from "./process.ts";
import { benchRetention } from "./retention.ts";
import { benchServer } from "./server.ts";
import { benchStorage } from "./storage.ts";
import { benchTiers } from "./tiers.ts";
import { benchTravel } from "./travel.ts";

const questions: Readonly<Record<string, (options: BenchOptions) => Promise<void>>> = {
  agent: benchAgent,
  changes: benchChanges,
  core: benchCore,
  drafts: benchDrafts,
  durable: benchDurable,
  postgres: benchPostgres,
  server: benchServer,
  storage: benchStorage,
  tiers: benchTiers,
  travel: benchTravel,
  retention: benchRetention,
};

const { positionals, values } = readFlags();
const ask = questions[positionals[0] ?? ""];
if (ask === undefined) refuse(`Which bench? One of: ${Object.keys(questions).join(", ")}`);
await ask({
  rounds: values.quick ? 1 : positive("--rounds", values.rounds),
  ms: positive("--ms", values.ms),
  only: values.only?.split(",").map((name) => name.trim()) ?? [],
  quick: values.quick,
  peers: values.peers,
});

function readFlags() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: "string", default: "3" },
        ms: { type: "string", default: "600" },
        only: { type: "string" },
        quick: { type: "boolean", default: false },
        peers: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function positive(name: string, text: string): number {
  const value = Number(text);
  return value > 0 ? value : refuse(`${name} needs a number above zero`);
}

function refuse(message: string): never {
  console.error(message);
  process.exit(2);
}
