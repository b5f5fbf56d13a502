/**
 * Working memory: what an agent is about, apart from what it says. Its goal, its plan, and notes to itself; what is
 * completed and what is pending follows from the plan, and is told when somebody looks.
 */
import type { Draft } from "../../core/definition.ts";
import { isObject } from "../../core/json.ts";
import { isSettled } from "./advance.ts";
import { cut } from "./cut.ts";
import { makePlan, type Plan, type Task } from "./plan.ts";

export interface Note {
  readonly text: string;
  readonly at: number;
}

export interface WorkingMemory {
  readonly goal: string;
  readonly plan: Plan;
  /** In the order they were taken; none is ever taken out. */
  readonly notes: readonly Note[];
}

/** What is in a working memory, with what follows from it. */
export interface MemoryView extends WorkingMemory {
  readonly completed: readonly Task[];
  readonly pending: readonly Task[];
}

/** A memory with a goal, and a plan if there is one already. */
export function makeWorkingMemory(goal: string, plan: Plan = makePlan([])): WorkingMemory {
  return { goal, plan, notes: [] };
}

/** Whether something is a working memory, as far as whoever renders it must know. */
export function isWorkingMemory(given: unknown): given is WorkingMemory {
  if (!isObject(given) || !isObject(given.plan)) return false;
  const { goal, plan, notes } = given as { goal: unknown; plan: { tasks?: unknown }; notes: unknown };
  return (
    typeof goal === "string" &&
    [plan.tasks, notes].every((list) => Array.isArray(list) && list.every(isObject))
  );
}

/** Another goal, with another plan; notes stay. */
export function setGoal(memory: Draft<WorkingMemory>, goal: string, plan: Plan = makePlan([])): void {
  memory.goal = goal;
  memory.plan = plan as Draft<Plan>;
}

/** Notes something down. */
export function takeNote(memory: Draft<WorkingMemory>, note: Note): void {
  memory.notes.push({ text: note.text, at: note.at });
}

/** The memory with what is completed, and what is not yet. */
export function viewMemory(memory: WorkingMemory): MemoryView {
  const { tasks } = memory.plan;
  return {
    ...memory,
    completed: tasks.filter(isSettled),
    pending: tasks.filter((task) => !isSettled(task)),
  };
}

/** The memory as a model reads it: the goal and what is pending first, then what is done, then the newest notes that fit. */
export function renderMemory(
  memory: WorkingMemory,
  { maxChars = 4_000 }: { readonly maxChars?: number } = {},
): string {
  const { goal, completed, pending, notes } = viewMemory(memory);
  const parts = [
    `Goal: ${goal}`,
    listed("Pending", pending.map(pendingLine)),
    listed("Completed", completed.map(completedLine)),
  ];
  const fixed = cut(parts.filter((part) => part !== "").join("\n"), maxChars);
  const title = "\nNotes:";
  const lines: string[] = [];
  let left = maxChars - fixed.length - title.length;
  for (const { text } of notes.toReversed()) {
    const line = `\n- ${cut(text, maxChars)}`;
    if (line.length > left) break;
    left -= line.length;
    lines.unshift(line);
  }
  return lines.length === 0 ? fixed : `${fixed}${title}${lines.join("")}`;
}

const listed = (title: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : [`${title}:`, ...lines.map((line) => `- ${line}`)].join("\n");

function pendingLine({ title, status, needs, error }: Task): string {
  const what = status === "pending" && needs.length > 0 ? `after ${needs.join(", ")}` : status;
  return `${title} (${error === undefined ? what : `${what}; last error: ${error.message}`})`;
}

function completedLine({ title, status, result }: Task): string {
  if (status === "skipped") return `${title} (skipped)`;
  if (result === undefined) return title;
  return `${title}: ${cut(typeof result === "string" ? result : JSON.stringify(result), resultChars)}`;
}

/** Of a result there is shown what reminds of it; who needs it whole has the plan. */
const resultChars = 300;
