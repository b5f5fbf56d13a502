/** What a plan tells whoever looks at it: what can begin, how far it is, what takes longest and what holds up most. Pure. */
import { isSettled } from "./advance.ts";
import type { Plan, Task } from "./plan.ts";

export interface Progress {
  readonly total: number;
  readonly done: number;
  readonly skipped: number;
  readonly failed: number;
  readonly running: number;
  /** Tasks that can begin. */
  readonly ready: number;
  /** Tasks that wait for others … */
  readonly waiting: number;
  /** … and those of which one has failed, so that they wait in vain. */
  readonly blocked: number;
  /** Done or skipped, of all: from 0 to 1. */
  readonly share: number;
}

export interface TimingOptions {
  /** What time it is: then tasks that are under way count with the time they have taken, where that is more than their estimate. */
  readonly now?: number;
}

export interface CriticalPath {
  /** In the order they come. */
  readonly tasks: readonly string[];
  readonly ms: number;
}

export interface Bottleneck {
  readonly task: string;
  /** How many tasks that are not done wait for it, directly or not. */
  readonly waiting: number;
  /** How much later it could end without the plan ending later. */
  readonly slackMs: number;
  readonly ms: number;
}

/** The tasks that can begin now, in their order. */
export function ready(plan: Plan): readonly Task[] {
  const byId = tasksById(plan);
  return plan.tasks.filter(
    ({ status, needs }) => status === "pending" && needs.every((need) => isSettled(byId.get(need))),
  );
}

/** How far a plan is. */
export function progress(plan: Plan): Progress {
  const count = (status: Task["status"]) => plan.tasks.filter((task) => task.status === status).length;
  const [total, done, skipped] = [plan.tasks.length, count("done"), count("skipped")];
  const [begins, blocked] = [ready(plan).length, blockedTasks(plan).length];
  return {
    ...{ total, done, skipped, failed: count("failed"), running: count("running") },
    ...{ ready: begins, waiting: count("pending") - begins - blocked, blocked },
    share: total === 0 ? 1 : (done + skipped) / total,
  };
}

/** The tasks that wait for one that has failed. */
export function blockedTasks(plan: Plan): readonly Task[] {
  const stuck = new Set<string>();
  for (const { id, status, needs } of inOrder(plan))
    if (status === "failed" || (status === "pending" && needs.some((need) => stuck.has(need)))) stuck.add(id);
  return plan.tasks.filter(({ id, status }) => status === "pending" && stuck.has(id));
}

/**
 * The chain of tasks that takes longest, by measured time where there is some and by estimates where not. A task without
 * either counts as the mean of the others, or as 1 if there are none.
 */
export function criticalPath(plan: Plan, options: TimingOptions = {}): CriticalPath {
  const { order, ends, after } = timing(plan, options);
  const ids = order.map(({ id }) => id);
  const last = ids.reduce<string | undefined>(
    (best, id) => (best === undefined || endOf(ends, id) > endOf(ends, best) ? id : best),
    undefined,
  );
  const way: string[] = [];
  for (let id = last; id !== undefined; id = after.get(id)) way.unshift(id);
  return { tasks: way, ms: last === undefined ? 0 : endOf(ends, last) };
}

/** What is not done and holds up the plan: those without slack first, then those most others wait for, then the longest. */
export function bottlenecks(plan: Plan, options: TimingOptions = {}): readonly Bottleneck[] {
  const { order, ms, ends } = timing(plan, options, true);
  const total = Math.max(0, ...ends.values());
  const dependents = dependentsOf(order);
  /** The latest each may end. */
  const latest = new Map<string, number>();
  for (const { id } of order.toReversed()) {
    const starts = (dependents.get(id) ?? []).map((other) => (latest.get(other.id) ?? total) - ms(other));
    latest.set(id, Math.min(total, ...starts));
  }
  return order
    .filter((task) => !isSettled(task))
    .map((task) => ({
      task: task.id,
      waiting: waitingFor(task.id, dependents),
      slackMs: (latest.get(task.id) ?? total) - endOf(ends, task.id),
      ms: ms(task),
    }))
    .sort(
      (one, other) =>
        Number(one.slackMs > 0) - Number(other.slackMs > 0) ||
        other.waiting - one.waiting ||
        other.ms - one.ms,
    );
}

function waitingFor(id: string, dependents: ReadonlyMap<string, readonly Task[]>): number {
  const found = new Set<string>();
  const look = [id];
  for (let here = look.pop(); here !== undefined; here = look.pop()) {
    for (const task of dependents.get(here) ?? []) {
      if (found.has(task.id) || isSettled(task)) continue;
      found.add(task.id);
      look.push(task.id);
    }
  }
  return found.size;
}

/** When each task ends if all begin as early as they can, and after which it begins then; with `rest`, from now on. */
function timing(plan: Plan, { now }: TimingOptions, rest = false) {
  const order = inOrder(plan);
  const known = order.flatMap((task) => knownMs(task, now) ?? []);
  const mean = known.length === 0 ? 1 : known.reduce((sum, one) => sum + one, 0) / known.length;
  const ms = (task: Task) =>
    task.status === "skipped" || (rest && isSettled(task)) ? 0 : (knownMs(task, now) ?? mean);
  const ends = new Map<string, number>();
  const after = new Map<string, string>();
  for (const task of order) {
    let start = 0;
    for (const need of task.needs) {
      if (endOf(ends, need) <= start) continue;
      start = endOf(ends, need);
      after.set(task.id, need);
    }
    ends.set(task.id, start + ms(task));
  }
  return { order, ms, ends, after };
}

const endOf = (ends: ReadonlyMap<string, number>, id: string): number => ends.get(id) ?? 0;

function knownMs(
  { status, startedAt, endedAt, estimateMs }: Task,
  now: number | undefined,
): number | undefined {
  if (status === "done" && startedAt !== undefined && endedAt !== undefined) return endedAt - startedAt;
  if (status !== "running" || startedAt === undefined || now === undefined) return estimateMs;
  return Math.max(estimateMs ?? 0, now - startedAt);
}

const tasksById = ({ tasks }: Plan): ReadonlyMap<string, Task> =>
  new Map(tasks.map((task) => [task.id, task]));

/** Who needs each task. */
function dependentsOf(tasks: readonly Task[]): ReadonlyMap<string, readonly Task[]> {
  const dependents = new Map<string, Task[]>(tasks.map(({ id }) => [id, []]));
  for (const task of tasks) for (const need of task.needs) dependents.get(need)?.push(task);
  return dependents;
}

/** The tasks, each after all it needs (P1). */
function inOrder(plan: Plan): readonly Task[] {
  const open = new Map(plan.tasks.map(({ id, needs }) => [id, needs.length]));
  const dependents = dependentsOf(plan.tasks);
  const order = plan.tasks.filter(({ needs }) => needs.length === 0);
  for (const { id } of order) {
    for (const task of dependents.get(id) ?? []) {
      const left = (open.get(task.id) ?? 0) - 1;
      open.set(task.id, left);
      if (left === 0) order.push(task);
    }
  }
  return order;
}
