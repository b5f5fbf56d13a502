/** One contestant on one workload, in a process of its own: prints its figures as JSON. */
import { setTimeout as wait } from "node:timers/promises";
import { contestants } from "./contestants.ts";
import { cpuMsOf, reportedAfterMs, Witness } from "./witness.ts";
import { namesOf, type Size, work } from "./workload.ts";

/** What the bench tells this process. */
export interface Task {
  readonly name: string;
  readonly size: Size;
  readonly url: string;
  readonly folder: string;
  /** The server's process. */
  readonly pid: number;
  /** Whether flushes are to be counted, which takes some seconds more. */
  readonly flushes: boolean;
}

/** Figures for a step; undefined where nobody can tell. */
export interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuUs: number;
  readonly serverCpuUs: number;
  readonly statements: number | undefined;
  readonly walBytes: number | undefined;
  readonly flushes: number | undefined;
}

const task = JSON.parse(process.argv[2] as string) as Task;
const { size, url, folder } = task;
const contestant = await contestants[task.name]!.load();
const witness = await Witness.of(url, task.pid);

const warmUp = await contestant.open({ url, folder });
const cold = namesOf({ runs: Math.min(size.runs, 200), steps: 0 }, "warm-up");
// One run after the other takes as many as it is until Node has compiled what a step runs.
const coldSteps = size.runs === 1 ? 3 * size.steps : Math.min(size.steps, 300);
await warmUp.begin(cold, coldSteps);
await work(warmUp, cold, coldSteps, () => {});
await warmUp.close();

const on = await contestant.open({ url, folder });
const names = namesOf(size, "run");
await on.begin(names, size.steps);
if (task.flushes) await wait(reportedAfterMs);
const laps: number[] = [];
const before = await witness.look();
const ownServer = on.server === undefined ? 0 : cpuMsOf(on.server);
const [begun, cpu] = [performance.now(), process.cpuUsage()];
await work(on, names, size.steps, (ms) => laps.push(ms));
const ms = performance.now() - begun;
const { user, system } = process.cpuUsage(cpu);
const ownServerMs = on.server === undefined ? undefined : cpuMsOf(on.server) - ownServer;
const after = await witness.look();
await on.close();
// What backends flushed is told when they are gone.
if (task.flushes) await wait(500);
const ended = await witness.look();

const again = await contestant.open({ url, folder });
const counts = await again.read(names, size.steps);
const wrong = counts.findIndex((count) => count !== size.steps);
if (wrong >= 0) throw new Error(`${task.name}: ${names[wrong]} has ${counts[wrong]} of ${size.steps} steps`);
await again.close();
await witness.close();

const steps = size.runs * size.steps;
if (laps.length !== steps) throw new Error(`${task.name} told of ${laps.length} steps of ${steps}`);
const sorted = laps.toSorted((one, other) => one - other);
const isElsewhere = ownServerMs !== undefined;
const each = (from: number | undefined, to: number | undefined): number | undefined =>
  isElsewhere || from === undefined || to === undefined ? undefined : (to - from) / steps;
const figures: Figures = {
  perSecond: (steps * 1_000) / ms,
  p50: sorted[Math.floor(steps * 0.5)] as number,
  p99: sorted[Math.floor(steps * 0.99)] as number,
  cpuUs: (user + system) / steps,
  serverCpuUs: ((ownServerMs ?? after.serverCpuMs - before.serverCpuMs) * 1_000) / steps,
  statements: each(before.statements, after.statements),
  walBytes: each(before.walBytes, after.walBytes),
  flushes: task.flushes ? each(before.flushes, ended.flushes) : undefined,
};
console.log(JSON.stringify(figures));
// Some of the contestants leave something behind that would keep the process.
process.exit(0);
