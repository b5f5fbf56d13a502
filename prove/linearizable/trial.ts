/**
 * One lane: clients in several processes do operations on cells, for a while, and the process that owns the cells is killed and
 * replaced again and again. Then every cell's history is checked.
 *
 * A round has cells of its own, so that what nobody knows the outcome of does not pile up.
 */
import { join } from "node:path";
import { createRandom } from "../../test/generate/random.ts";
import type { ClientPlan } from "./client.ts";
import { History } from "./history.ts";
import type { Lane } from "./lane.ts";
import { Owners } from "./owners.ts";
import { type Started, startProcess } from "./process.ts";

export interface TrialOptions {
  readonly seed: number;
  readonly lane: Lane;
  readonly rounds: number;
  /** Where sockets may be. */
  readonly folder: string;
  readonly bug?: string;
  readonly progress: (text: string) => void;
}

export interface TrialOutcome {
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

const roundMs = 1_500;
const [clientProcesses, clientsPerProcess] = [2, 3];

export async function tryLane(options: TrialOptions): Promise<TrialOutcome> {
  const { seed, lane, rounds, folder, bug, progress } = options;
  const history = new History();
  const socket = join(folder, `${lane.store}-${seed}.sock`);
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  const problems: string[] = [];
  const clients: Started[] = [];
  const failed = (problem: string) => {
    problems.push(problem);
    // Nobody would answer them any more.
    for (const { kill } of clients) void kill();
  };
  const owners = new Owners({ lane, socket, env, bug, random: createRandom(seed), failed });
  await owners.open();
  const plan = { seed, lane, socket, rounds, roundMs };
  const ask = (parts: Pick<ClientPlan, "clients" | "first" | "audit">) => {
    const args = [JSON.stringify({ ...plan, ...parts } satisfies ClientPlan)];
    const hear = (line: string) => history.hear(line);
    const started = startProcess({ script: "client", args, env, bug: undefined, hear });
    clients.push(started);
    return started;
  };
  const working = Array.from({ length: clientProcesses }, (_, index) =>
    ask({ clients: clientsPerProcess, first: index * clientsPerProcess }),
  );
  await letWork(working, problems, () => {
    // What is in memory only does not survive.
    if (lane.store !== "memory") owners.killAndReplace(progress);
  });
  await owners.settle();
  if (problems.length === 0) {
    const auditor = ask({ clients: 1, first: clientProcesses * clientsPerProcess, audit: history.audit });
    await letWork([auditor], problems);
  }
  await owners.close();
  problems.push(...history.check());
  const { operations, lost } = history.figures;
  const figures = { cells: history.cells.size, operations, lost, kills: owners.kills };
  return { problems, figures };
}

/** Lets clients work at the same time, from when all of them are ready until all have ended. */
async function letWork(
  clients: readonly Started[],
  problems: string[],
  begun: () => void = () => {},
): Promise<void> {
  await Promise.all(clients.map(({ ready }) => ready));
  const since = String(process.hrtime.bigint());
  for (const { begin } of clients) begin(since);
  begun();
  const ends = await Promise.all(clients.map(({ ended }) => ended));
  problems.push(...ends.filter((problem) => problem !== undefined));
}
