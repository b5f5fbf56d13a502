/**
 * Planners: a goal becomes a plan, its tasks are worked on side by side in the order they need each other, and what fails is
 * planned anew. What touches the world (decomposing, working, judging) is user code in activities; the rest is a machine.
 */
import type { ActivityCode, ActivityScope } from "../../core/activity.ts";
import type { RunLimits } from "../../core/bounds.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { messageOf } from "../../core/problem.ts";
import { isSchema } from "../../core/schema.ts";
import { HoldfastError, isHoldfastError } from "../../errors.ts";
import { limits } from "../../limits.ts";
import { judge, type Validator } from "./outcome.ts";
import { makePlan, type Plan, type PlanBounds, type PlannedTask, revisePlan } from "./plan.ts";
import { type PlannerMachine, plannerMachine, type TaskRequest, workName } from "./planner-machine.ts";

/** A goal to be decomposed. */
export interface GoalRequest {
  readonly goal: string;
  readonly input: Json;
  /** What was wrong with the plan that was given before, if one was refused. */
  readonly refused?: string;
}

/** A plan of which a task has failed, for good: what is not done is to be planned anew. */
export interface ReplanRequest extends GoalRequest {
  readonly plan: Plan;
}

type Answer<Value> = Value | Promise<Value>;

/** Code that works on a task; what it gives is the task's result. */
export type Work<Kind extends string = string> = (
  request: TaskRequest<Kind>,
  scope: ActivityScope,
) => Answer<Json | undefined>;

export interface PlannerOptions<Kind extends string> {
  readonly id: string;
  /** 1 unless given. */
  readonly version?: number;
  /** The tasks that a goal comes to: by a function, or by a model that is asked in one. */
  readonly decompose: (
    request: GoalRequest,
    scope: ActivityScope,
  ) => Answer<readonly PlannedTask<NoInfer<Kind>>[]>;
  /** What works on tasks: one for all, or one for each kind. */
  readonly work: Work<Kind> | Readonly<Record<Kind, Work<Kind>>>;
  /** What results must be: of all tasks, or of those of a kind. */
  readonly validate?:
    | Validator<TaskRequest<NoInfer<Kind>>>
    | { readonly [Name in NoInfer<Kind>]?: Validator<TaskRequest<NoInfer<Kind>>> };
  /** The tasks that take the place of all that is not done, once one has failed. Without it the rest goes on, and the plan fails. */
  readonly replan?: (
    request: ReplanRequest,
    scope: ActivityScope,
  ) => Answer<readonly PlannedTask<NoInfer<Kind>>[]>;
  /** How often it may plan anew; 3 unless given. */
  readonly replans?: number;
  /** How many tasks are worked on at a time; 4 unless given. */
  readonly parallel?: number;
  /** How often a task is begun before it has failed, each time knowing why it failed before; 2 unless given. */
  readonly attempts?: number;
  /** How an attempt is tried again when its code throws: as of any activity. A result that was refused is not. */
  readonly retry?: {
    readonly attempts?: number;
    readonly first?: number | string;
    readonly max?: number | string;
  };
  /** How long one try may take. */
  readonly timeout?: number | string;
  readonly limits?: RunLimits;
}

/** A planner, to be given to a runtime; its machine is what runs are started of. */
export interface Planner {
  readonly machine: PlannerMachine;
  readonly activities: Readonly<Record<string, ActivityCode>>;
}

/** A planner of these parts; throws PLAN_INVALID if they cannot be used. */
export function definePlanner<const Kind extends string = string>(options: PlannerOptions<Kind>): Planner {
  const { id, version = 1, parallel = 4, attempts = 2, replan, work, timeout, limits: runLimits } = options;
  const replansMax = replan === undefined ? 0 : (options.replans ?? 3);
  checkCount("parallel", parallel, 1, limits.mapConcurrencyMax);
  checkCount("attempts", attempts, 1, Number.MAX_SAFE_INTEGER);
  checkCount("replans", replansMax, 0, Number.MAX_SAFE_INTEGER);
  const retry = { attempts: 3, first: "1s", ...options.retry, never: ["OutcomeRefused"] } as JsonObject;
  const machine = plannerMachine({
    ...{ id, version, parallel, attempts, replansMax, retry, timeout, limits: runLimits },
  });
  return { machine, activities: { ...planning(options), ...working(options, work) } };
}

function checkCount(name: string, given: number, least: number, most: number): void {
  if (Number.isSafeInteger(given) && given >= least && given <= most) return;
  throw new HoldfastError(
    "PLAN_INVALID",
    `A planner's ${name} is ${given}; write a whole number from ${least} to ${most}`,
  );
}

/** What makes plans. One that is refused is told so when it is asked again. */
function planning<Kind extends string>(options: PlannerOptions<Kind>): Record<string, ActivityCode> {
  const { decompose, replan, work } = options;
  const bounds: PlanBounds = typeof work === "function" ? {} : { kinds: Object.keys(work) };
  return {
    decompose: async (request: GoalRequest, scope: ActivityScope) => {
      const tasks = await decompose({ ...request, ...refusalIn(scope) }, scope);
      return accepted(scope, tasks, () => makePlan(tasks, bounds));
    },
    ...(replan === undefined
      ? {}
      : {
          replan: async (request: ReplanRequest, scope: ActivityScope) => {
            const tasks = await replan({ ...request, ...refusalIn(scope) }, scope);
            return accepted(scope, tasks, () => revisePlan(request.plan, tasks, bounds));
          },
        }),
  };
}

function refusalIn({ progress }: ActivityScope): { readonly refused?: string } {
  return (progress as { readonly refused: string } | undefined) ?? {};
}

/** The tasks, if they make a plan; if not, the next try is told why. */
async function accepted<Tasks>(scope: ActivityScope, tasks: Tasks, check: () => Plan): Promise<Tasks> {
  try {
    check();
  } catch (error) {
    if (isHoldfastError(error)) await scope.checkpoint({ refused: messageOf(error) });
    throw error;
  }
  return tasks;
}

/** What works on tasks: the user's code, and then what judges its result. */
function working<Kind extends string>(
  { validate }: PlannerOptions<Kind>,
  work: PlannerOptions<Kind>["work"],
): Record<string, ActivityCode> {
  const validatorOf = (kind: Kind | undefined): Validator<TaskRequest<Kind>> | undefined => {
    if (validate === undefined || typeof validate === "function" || isSchema(validate)) return validate;
    return kind === undefined ? undefined : validate[kind];
  };
  const performed =
    (code: Work<Kind>): ActivityCode =>
    async (request: TaskRequest<Kind>, scope: ActivityScope) => {
      const result = await code(request, scope);
      await judge(result ?? null, request, validatorOf(request.kind));
      return result;
    };
  if (typeof work === "function") return { [workName(undefined)]: performed(work) };
  return Object.fromEntries(
    Object.entries<Work<Kind>>(work).map(([kind, code]) => [workName(kind), performed(code)]),
  );
}
