/** The steps that a planner gives, as tasks of a plan that may have begun. */
import type { Plan, PlannedTask, Task } from "../plan/plan.ts";
import type { Steps } from "./turn.ts";

type Step = Steps["steps"][number];

/**
 * Steps as tasks beside what a plan has done already. Who plans anew says often all of it again, and counts from the first: a
 * step that is done is left out, and another one of its name is given one of its own, by which those that need it find it.
 */
export function tasksOf(steps: Steps["steps"], plan: Plan | undefined): readonly PlannedTask[] {
  // What is no list is told so by whoever makes the plan.
  if (!Array.isArray(steps)) return steps as never;
  const kept = (plan?.tasks ?? []).filter(({ status }) => status === "done" || status === "skipped");
  const taken = new Set(kept.map(({ id }) => id));
  const named = new Map<string, string>();
  let last = steps.length;
  const freeName = (id: string): string => {
    let name = id;
    while (taken.has(name)) name = String(++last);
    return name;
  };
  const tasks = (steps as readonly Step[]).flatMap((step, index): PlannedTask[] => {
    if (kept.some((task) => isSame(task, step))) return [];
    if (typeof step === "string") return [{ id: freeName(String(index + 1)), title: step }];
    if (!taken.has(step?.id)) return [step];
    named.set(step.id, freeName(step.id));
    return [{ ...step, id: named.get(step.id) as string }];
  });
  if (named.size === 0) return tasks;
  return tasks.map((task) =>
    Array.isArray(task.needs) ? { ...task, needs: task.needs.map((need) => named.get(need) ?? need) } : task,
  );
}

const isSame = ({ id, title }: Task, step: Step): boolean =>
  typeof step === "string" ? title === step : id === step?.id && title === (step.title ?? step.id);
