/**
 * Plans: tasks that need each other, as plain JSON. What a plan promises whoever holds one:
 *
 * P1. Every need is a task of the plan, and no task waits for itself, however far round.
 * P2. A task begins only when all it needs is done or skipped; `advance.ts` changes plans, and nothing else does.
 * P3. What is done stays done: a revision replaces only what is not.
 */
import { isObject, type Json, type JsonObject, toJson } from "../../core/json.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { Nearest } from "../../core/nearest.ts";
import { messageOf, show, someOf } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";

/** `failed`: it was tried as often as it may be. `skipped`: it is not wanted any more, and holds up nobody. */
export type TaskStatus = "pending" | "running" | "done" | "failed" | "skipped";

/** Why a task did not succeed. */
export interface TaskError {
  readonly message: string;
  readonly name?: string;
  readonly code?: string | number;
}

/** A task as it is planned. */
export interface PlannedTask<Kind extends string = string> {
  /** Unique in its plan. */
  readonly id: string;
  /** The id unless given. */
  readonly title?: string;
  /** Who does it, where there are several who could. */
  readonly kind?: Kind;
  readonly input?: Json;
  /** The tasks that must be done before. */
  readonly needs?: readonly string[];
  /** How long it should take. */
  readonly estimateMs?: number;
  /** What its result must be, as a JSON Schema: so whoever plans can say it, a model included. */
  readonly expects?: JsonObject;
}

/** A task and what became of it. */
export interface Task extends PlannedTask {
  readonly title: string;
  readonly needs: readonly string[];
  readonly status: TaskStatus;
  /** How often it was begun. */
  readonly attempts: number;
  /** When it was begun last, and when that ended. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly result?: Json;
  /** Of its last attempt, if that failed. */
  readonly error?: TaskError;
}

export interface Plan {
  /** In the order they were planned, which is the order they begin in. */
  readonly tasks: readonly Task[];
  /** How often it was revised. */
  readonly revision: number;
}

/** What a plan is checked against. */
export interface PlanBounds {
  /** The kinds of tasks there are; any unless given. */
  readonly kinds?: readonly string[];
}

/** A plan of these tasks; throws PLAN_INVALID with every problem: unknown needs, cycles with their path, ids used twice. */
export function makePlan(tasks: readonly PlannedTask[], bounds: PlanBounds = {}): Plan {
  return { tasks: checkedTasks(tasks, [], bounds), revision: 0 };
}

/** The plan with all that is not done or skipped replaced by these tasks, which may need what is kept; throws PLAN_INVALID. */
export function revisePlan(plan: Plan, tasks: readonly PlannedTask[], bounds: PlanBounds = {}): Plan {
  const kept = plan.tasks.filter(({ status }) => status === "done" || status === "skipped");
  return { tasks: [...kept, ...checkedTasks(tasks, kept, bounds)], revision: plan.revision + 1 };
}

function checkedTasks(given: unknown, kept: readonly Task[], bounds: PlanBounds): Task[] {
  if (!Array.isArray(given)) throw invalid([`is ${show(given)}; give a list of tasks`]);
  if (given.length + kept.length > limits.planTasksMax)
    throw invalid([
      `has ${given.length + kept.length} tasks, and a plan holds ${limits.planTasksMax} at most; let some of them be plans of their own`,
    ]);
  const check = new Checking(kept, bounds);
  const tasks = given.map((task, index) => check.read(task, `tasks[${index}]`));
  check.needs(tasks);
  if (check.problems.length > 0) throw invalid(check.problems);
  return tasks;
}

/** A model that has nothing to say of a field often says null. */
const withoutNull = (given: object): object =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));

const fields = ["id", "title", "kind", "input", "needs", "estimateMs", "expects"];

/** One look at tasks that somebody planned: all problems, each with its place. */
class Checking {
  readonly problems: string[] = [];
  readonly #kept: readonly Task[];
  readonly #bounds: PlanBounds;
  readonly #nearest = new Nearest();
  readonly #ids = new Set<string>();

  constructor(kept: readonly Task[], bounds: PlanBounds) {
    this.#kept = kept;
    this.#bounds = bounds;
    for (const { id } of kept) this.#ids.add(id);
  }

  read(given: unknown, place: string): Task {
    if (!isObject(given)) {
      this.problems.push(`${place} is ${show(given)}; give a task with an id`);
      return { id: place, title: place, needs: [], status: "pending", attempts: 0 };
    }
    for (const key of Object.keys(given))
      if (!fields.includes(key))
        this.problems.push(
          `${place}.${key} is unknown; ${this.#fix(key, fields, `there are ${fields.join(", ")}`)}`,
        );
    const { id, input } = given as unknown as PlannedTask;
    const { title = id, kind, needs = [], estimateMs, expects } = withoutNull(given) as Partial<PlannedTask>;
    this.#readId(id, place);
    if (typeof title !== "string") this.problems.push(`${place}.title is ${show(title)}; write text`);
    this.#readKind(kind, place);
    const needed = Array.isArray(needs) ? needs.filter((need) => typeof need === "string") : [];
    if (!Array.isArray(needs) || needed.length !== needs.length)
      this.problems.push(`${place}.needs is ${show(needs)}; list the ids of tasks`);
    if (estimateMs !== undefined && !(Number.isFinite(estimateMs) && estimateMs >= 0))
      this.problems.push(`${place}.estimateMs is ${show(estimateMs)}; write milliseconds`);
    this.#readJson(place, { input, expects });
    return {
      ...{ id, title: String(title), needs: [...new Set(needed)] },
      ...(kind === undefined ? {} : { kind }),
      ...(input === undefined ? {} : { input }),
      ...(estimateMs === undefined ? {} : { estimateMs }),
      ...(expects === undefined ? {} : { expects }),
      ...{ status: "pending", attempts: 0 },
    };
  }

  #readId(id: unknown, place: string): void {
    if (typeof id !== "string" || id === "" || id.length > limits.nameLengthMax) {
      this.problems.push(
        `${place}.id is ${show(id)}; write a name of at most ${limits.nameLengthMax} characters`,
      );
      return;
    }
    if (this.#kept.some((task) => task.id === id))
      this.problems.push(`${place}.id is ${show(id)}, which is done already; need it, or give another id`);
    else if (this.#ids.has(id)) this.problems.push(`${place}.id is ${show(id)}, as that of another task`);
    this.#ids.add(id);
  }

  #readKind(kind: unknown, place: string): void {
    const { kinds } = this.#bounds;
    if (kinds === undefined ? kind === undefined || typeof kind === "string" : kinds.includes(kind as string))
      return;
    const fix = kinds === undefined ? "write text" : this.#fix(kind, kinds, `there are ${someOf(kinds)}`);
    this.problems.push(`${place}.kind is ${show(kind)}; ${fix}`);
  }

  #readJson(place: string, { input, expects }: { input: unknown; expects: unknown }): void {
    try {
      if (input !== undefined) toJson(input, [], `${place}.input`);
      if (expects !== undefined) jsonSchema(expects);
    } catch (error) {
      this.problems.push(`${place} cannot be used: ${messageOf(error)}`);
    }
  }

  /** Every need is there, and none leads back. */
  needs(tasks: readonly Task[]): void {
    tasks.forEach(({ needs }, index) => {
      for (const need of needs)
        if (!this.#ids.has(need))
          this.problems.push(
            `tasks[${index}].needs ${show(need)}, which is no task; ${this.#fix(need, this.#ids, `there are ${someOf([...this.#ids])}`)}`,
          );
    });
    const cycle = cycleIn(tasks);
    if (cycle !== undefined)
      this.problems.push(
        `goes round in a circle: ${cycle.map(show).join(" needs ")}; drop one of these needs`,
      );
  }

  #fix(name: unknown, candidates: Iterable<string>, advice: string): string {
    return this.#nearest.fix(name, candidates, advice);
  }
}

/** A way from a task back to itself; undefined if there is none. */
function cycleIn(tasks: readonly Task[]): readonly string[] | undefined {
  const needs = new Map(tasks.map((task) => [task.id, task.needs]));
  /** Tasks from which no way leads back. */
  const clear = new Set<string>();
  for (const { id } of tasks) {
    const way: string[] = [id];
    // Where each task on the way has been looked from.
    const looked: number[] = [0];
    while (way.length > 0) {
      const here = way.at(-1) as string;
      const index = looked[way.length - 1] as number;
      const need = clear.has(here) ? undefined : needs.get(here)?.[index];
      if (need === undefined) {
        clear.add(here);
        way.pop();
        looked.pop();
        continue;
      }
      looked[way.length - 1] = index + 1;
      if (way.includes(need)) return [...way.slice(way.indexOf(need)), need];
      way.push(need);
      looked.push(0);
    }
  }
  return undefined;
}

function invalid(problems: readonly string[]): HoldfastError {
  const list = problems.length === 1 ? ` ${problems[0]}` : `:\n  ${problems.join("\n  ")}`;
  const what = problems.length === 1 ? "The plan" : `The plan has ${problems.length} problems`;
  return new HoldfastError("PLAN_INVALID", `${what}${list}`, { details: { problems } });
}
