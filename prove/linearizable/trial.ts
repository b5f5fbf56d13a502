/**
 * One lane: clients in several processes do operations on cells, for a while, and the process that owns the cells, or in a fleet
 * one of the clients' own, is killed and replaced again and again. Then every cell's history is checked.
 *
 * A round has cells of its own, so that what nobody knows the outcome of does not pile up.
 */
import { join } from "node:path";
import { createRandom } from "../../test/generate/random.ts";
import { Clients } from "./clients.ts";
import { History } from "./history.ts";
import type { Lane } from "./lane.ts";
import { Owners } from "./owners.ts";

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

/** A member of a fleet that died is missed for a while, so rounds of a fleet are longer. */
const [roundMs, fleetRoundMs] = [1_500, 3_000];
const [clientProcesses, clientsPerProcess] = [3, 2];
/** Only ends what hangs: how long clients may take to come to their end after the last round. */
const patienceMs = 30_000;

export async function tryLane(options: TrialOptions): Promise<TrialOutcome> {
  const { seed, lane, rounds, folder, bug, progress } = options;
  const isFleet = lane.store === "fleet";
  const history = new History();
  const problems: string[] = [];
  const env = { NODE_COMPILE_CACHE: join(folder, "compiled"), ...process.env };
  const random = createRandom(seed);
  const socket = isFleet ? {} : { socket: join(folder, `${lane.store}-${seed}.sock`) };
  const plan = { seed, lane, ...socket, rounds, roundMs: isFleet ? fleetRoundMs : roundMs };
  // Whoever has the runtime has the bug.
  const clients = new Clients({ plan, env, bug: isFleet ? bug : undefined, random, history, problems });
  const failed = (problem: string) => {
    problems.push(problem);
    // Nobody would answer them any more.
    clients.kill();
  };
  const owners = isFleet
    ? undefined
    : new Owners({ lane, socket: socket.socket as string, env, bug, random, failed });
  await owners?.open();
  const limit = setTimeout(
    () => failed(`clients did not come to an end: ${history.open(clients.names).join(", ")}`),
    rounds * plan.roundMs + patienceMs,
  );
  await clients.work(clientProcesses, clientsPerProcess, () => {
    if (isFleet) clients.killAndReplace(progress);
    // What is in memory only does not survive.
    else if (lane.store !== "memory") owners?.killAndReplace(progress);
  });
  await owners?.settle();
  if (problems.length === 0) await clients.audit();
  clearTimeout(limit);
  await owners?.close();
  problems.push(...history.check());
  const { operations, lost } = history.figures;
  const kills = clients.kills + (owners?.kills ?? 0);
  return { problems, figures: { cells: history.cells.size, operations, lost, kills } };
}
