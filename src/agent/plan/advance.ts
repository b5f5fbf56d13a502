/**
 * How a plan goes on: functions on a draft of it, each for one thing that happened to one task. What cannot have happened
 * is refused with TASK_REFUSED, and the draft is as it was.
 */
import type { Draft } from "../../core/definition.ts";
import { peek } from "../../core/draft.ts";
import type { Json } from "../../core/json.ts";
import { nearest } from "../../core/nearest.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import type { Plan, Task, TaskError, TaskStatus } from "./plan.ts";

type PlanDraft = Draft<Plan>;

/** A task begins; all it needs must be done or skipped. */
export function beginTask(plan: PlanDraft, id: string, { at }: { readonly at: number }): void {
  const task = taskIn(plan, id, ["pending"], "begin");
  const open = task.needs.filter((need) => !isSettled(peek(plan.tasks).find((other) => other.id === need)));
  if (open.length > 0)
    throw new HoldfastError(
      "TASK_REFUSED",
      `The task ${show(id)} cannot begin: it needs ${open.map(show).join(" and ")} first`,
      { details: { task: id, needs: open } },
    );
  task.status = "running";
  task.attempts++;
  task.startedAt = at;
  delete task.endedAt;
}

/** A task that was begun is done. */
export function completeTask(
  plan: PlanDraft,
  id: string,
  { result, at }: { readonly result?: Json | undefined; readonly at: number },
): void {
  const task = taskIn(plan, id, ["running"], "be done");
  task.status = "done";
  task.endedAt = at;
  if (result !== undefined) task.result = result;
  delete task.error;
}

/** A task that was begun has failed: for good, or so that it may begin again. */
export function failTask(
  plan: PlanDraft,
  id: string,
  { error, at, again = false }: { readonly error: TaskError; readonly at: number; readonly again?: boolean },
): void {
  const task = taskIn(plan, id, ["running"], "fail");
  task.status = again ? "pending" : "failed";
  task.endedAt = at;
  task.error = error;
}

/** A task that is not under way is not wanted any more; what needs it need not wait. */
export function skipTask(plan: PlanDraft, id: string): void {
  taskIn(plan, id, ["pending", "failed"], "be skipped").status = "skipped";
}

/** Whether nobody has to wait for a task. */
export function isSettled(task: Pick<Task, "status"> | undefined): boolean {
  return task?.status === "done" || task?.status === "skipped";
}

function taskIn(
  plan: PlanDraft,
  id: string,
  statuses: readonly TaskStatus[],
  what: string,
): PlanDraft["tasks"][number] {
  // Looked for behind the draft: a draft of each task on the way would cost more than all the rest.
  const tasks = peek(plan.tasks);
  const task = plan.tasks[tasks.findIndex((other) => other.id === id)];
  if (task !== undefined && statuses.includes(task.status)) return task;
  const ids = tasks.map((other) => other.id);
  const meant = task === undefined ? nearest(id, ids) : undefined;
  const why =
    task === undefined
      ? `there is no such task${meant === undefined ? "" : `; did you mean ${show(meant)}?`}`
      : `it is ${task.status}, and must be ${statuses.join(" or ")}`;
  throw new HoldfastError("TASK_REFUSED", `The task ${show(id)} cannot ${what}: ${why}`, {
    details: { task: id },
  });
}
