/** Rest: whether nothing is left that could go on by itself (invariant 8). */
import type { Life } from "../life.ts";
import { kindOf } from "../machines/kinds.ts";
import { hasEnded, type Model, type ModelRun } from "../model.ts";
import { mayStay } from "./waiting.ts";

/** What users are still waiting for. */
export interface Waiting {
  readonly open: number;
  readonly waits: ReadonlyMap<string, { readonly life: Life; readonly told: boolean }>;
}

/** What is left to happen, in words; undefined when everything is at rest. */
export function checkRest(
  model: Model,
  users: Waiting,
  employed: readonly Life[],
  now: number,
): string | undefined {
  if (employed.length === 0) return "no process is up";
  if (users.open > 0) return `${users.open} calls of users are not over`;
  for (const run of model.runs.values()) {
    const left = leftOf(run, now);
    if (left !== undefined) return `${run.head.run} ${left}`;
  }
  for (const [name, { life, told }] of users.waits) {
    const head = model.runs.get(name)?.head;
    if (!told && employed.includes(life) && head !== undefined && hasEnded(head))
      return `nobody was told that ${name} has ended`;
  }
  return undefined;
}

function leftOf(run: ModelRun, now: number): string | undefined {
  const { head, state, inbox, activities, machine } = run;
  if (hasEnded(head)) return undefined;
  if (head.status === "parked") return "is parked";
  const [row] = inbox.values();
  if (row !== undefined && !mayStay(run)) return `has not taken ${row.event.type}`;
  const [timer] = state.timers;
  if (timer !== undefined)
    return `has a timer due ${timer.due <= now ? "" : "in the future "}at ${timer.due}`;
  const [activity] = activities.values();
  if (activity !== undefined) return `has the activity ${activity.key} ${activity.status}`;
  const [child] = state.children;
  if (child !== undefined) return `waits for its child ${child.key}`;
  const { rests = [] } = kindOf(machine.id) ?? {};
  const stuck = state.configuration.find((path) => !rests.includes(path));
  return stuck === undefined ? undefined : `waits in ${stuck} for nothing`;
}
