/**
 * The machine behind a planner: it decomposes a goal, works on what can begin, a few tasks at a time, and plans anew when
 * a task fails. Pure.
 *
 * Tasks are worked on in lanes: a parallel region each, with an invocation of its own. A machine's invocations are states
 * of its definition, so their number is fixed; which task a lane has stands in the context, and is decided in one place
 * (`assign`) whenever something has changed. So a chart shows what is under way, and nothing is begun twice. Child runs
 * for tasks would each cost a journal, and their results would be copied from one to the other.
 *
 * L1. A lane has a task exactly while that task is running.
 * L2. While a new plan is due no task begins; what is under way ends first, and is kept.
 */
import type { RunLimits } from "../../core/bounds.ts";
import type { Draft, SettledEvent, StateDefinition, TransitionParts } from "../../core/definition.ts";
import { peek } from "../../core/draft.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { jsonSchema } from "../../core/json-schema/schema.ts";
import { defineMachine, type Machine } from "../../core/machine.ts";
import type { Scope } from "../../core/scope.ts";
import { beginTask, completeTask, failTask, skipTask } from "./advance.ts";
import { makePlan, type Plan, type PlannedTask, revisePlan, type Task, type TaskError } from "./plan.ts";
import { ready } from "./progress.ts";

export interface PlannerInput {
  readonly goal: string;
  /** Whatever else whoever decomposes it should know. */
  readonly input?: Json;
}

export interface PlannerContext {
  readonly goal: string;
  readonly input: Json;
  readonly plan: Plan;
  /** The task of each lane; null while it has none. */
  readonly lanes: readonly (string | null)[];
  /** Whether a task has failed and a new plan is due. */
  readonly halted: boolean;
  /** Why it failed, where no task did. */
  readonly error: TaskError | null;
}

export type PlannerEvent = { readonly type: "skip"; readonly data: { readonly task: string } };

/** Why a plan failed: which task, or what else. */
export interface Reason {
  readonly task?: string;
  readonly error: TaskError;
}

export interface PlannerTypes {
  readonly input: PlannerInput;
  readonly sends: { readonly skip: PlannerEvent["data"] };
  readonly ends:
    | { readonly state: "done"; readonly output: { readonly results: Readonly<Record<string, Json>> } }
    | {
        readonly state: "failed";
        readonly output: {
          readonly results: Readonly<Record<string, Json>>;
          readonly reasons: readonly Reason[];
        };
      };
  readonly activities: unknown;
  readonly paths: unknown;
}

export type PlannerMachine = Machine<PlannerContext, PlannerEvent, PlannerInput, PlannerTypes>;

/** A task, as whoever works on it gets it. */
export interface TaskRequest<Kind extends string = string> {
  readonly goal: string;
  readonly id: string;
  readonly title: string;
  readonly kind?: Kind;
  readonly input?: Json;
  /** What its result must be. */
  readonly expects?: JsonObject;
  /** 1 when it is begun for the first time. */
  readonly attempt: number;
  /** Why the attempt before failed. */
  readonly lastError?: TaskError;
  /** What the tasks gave that it needs, by id; nothing of those that were skipped. */
  readonly results: Readonly<Record<string, Json>>;
}

/** What a planner's machine is made of. */
export interface PlannerParts {
  readonly id: string;
  readonly version: number;
  readonly parallel: number;
  /** How often a task is begun before it has failed. */
  readonly attempts: number;
  /** How often it may plan anew. */
  readonly replansMax: number;
  readonly retry: JsonObject;
  readonly timeout: number | string | undefined;
  readonly limits: RunLimits | undefined;
}

type Handler = TransitionParts<PlannerContext, SettledEvent>;

export function plannerMachine(parts: PlannerParts): PlannerMachine {
  const { id, version, parallel, retry, limits } = parts;
  const timeout = parts.timeout === undefined ? {} : { timeout: parts.timeout };
  const lanes = Array.from(
    { length: parallel },
    (_, lane) => [`lane${lane + 1}`, laneOf(lane, parts)] as const,
  );
  return defineMachine<PlannerContext, PlannerEvent, PlannerInput>({
    ...{ id, version, initial: "decomposing" },
    ...(limits === undefined ? {} : { limits }),
    input: inputSchema,
    events: { skip: skipSchema },
    start: ({ input }) => ({
      ...{ goal: input.goal, input: input.input ?? null, plan: makePlan([]) },
      ...{ lanes: Array.from({ length: parallel }, () => null), halted: false, error: null },
    }),
    states: {
      decomposing: {
        invoke: {
          ...{ id: "decompose", activity: "decompose", retry, ...timeout },
          input: ({ context: { goal, input } }) => ({ goal, input }),
          onDone: planned(({ event }) => makePlan(event.data as readonly PlannedTask[])),
          onError: gaveUp,
        },
      },
      working: {
        type: "parallel",
        states: Object.fromEntries(lanes),
        always: [
          { guard: ({ context }) => isOver(context) && isDone(context.plan), target: "done" },
          { guard: ({ context }) => isOver(context) && context.halted, target: "replanning" },
          { guard: ({ context }) => isOver(context), target: "failed" },
        ],
        on: {
          skip: {
            guard: ({ context, event }) => canSkip(context.plan, event.data.task),
            update: (draft, { event, at }) => {
              skipTask(draft.plan, event.data.task);
              assign(draft, at);
            },
          },
        },
      },
      replanning: {
        invoke: {
          ...{ id: "replan", activity: "replan", retry, ...timeout },
          input: ({ context }) =>
            ({ goal: context.goal, input: context.input, plan: context.plan }) as unknown as JsonObject,
          onDone: planned(({ context, event }) =>
            revisePlan(context.plan, event.data as readonly PlannedTask[]),
          ),
          onError: gaveUp,
        },
      },
      done: { type: "final", output: ({ context }) => ({ results: resultsOf(context.plan.tasks) }) },
      failed: {
        type: "final",
        output: ({ context }) =>
          ({ results: resultsOf(context.plan.tasks), reasons: reasonsOf(context) }) as unknown as JsonObject,
      },
    },
  }) as unknown as PlannerMachine;
}

/** A lane: it rests until it has a task, and works on that. */
function laneOf(lane: number, parts: PlannerParts): StateDefinition<PlannerContext, PlannerEvent> {
  const { retry, timeout } = parts;
  const settled = (
    settle: (draft: Draft<PlannerContext>, id: string, scope: Scope<PlannerContext, SettledEvent>) => void,
  ) =>
    ({
      target: "resting",
      update: (draft, scope) => {
        settle(draft, scope.context.lanes[lane] as string, scope);
        draft.lanes[lane] = null;
        assign(draft, scope.at);
      },
    }) satisfies Handler;
  return {
    initial: "resting",
    states: {
      resting: { always: { guard: ({ context }) => context.lanes[lane] !== null, target: "working" } },
      working: {
        invoke: {
          ...{ id: `lane${lane + 1}`, retry, ...(timeout === undefined ? {} : { timeout }) },
          activity: ({ context }) => workName(taskOf(context, lane).kind),
          input: ({ context }) => requestOf(context, lane) as unknown as JsonObject,
          onDone: settled((draft, id, { event, at }) =>
            completeTask(draft.plan, id, { result: event.data as Json | undefined, at }),
          ),
          onError: settled((draft, id, { context, event, at }) => {
            const again = taskOf(context, lane).attempts < parts.attempts;
            failTask(draft.plan, id, { error: errorOf(event.data), at, again });
            if (!again && context.plan.revision < parts.replansMax) draft.halted = true;
          }),
        },
      },
    },
  };
}

/** The activity that works on tasks of a kind. */
export const workName = (kind: string | undefined): string => (kind === undefined ? "work" : `work.${kind}`);

/** Gives every lane that rests a task that can begin, in their order. */
function assign(draft: Draft<PlannerContext>, at: number): void {
  if (draft.halted) return;
  const free = draft.lanes.flatMap((task, lane) => (task === null ? [lane] : []));
  if (free.length === 0) return;
  const plan = { tasks: peek(draft.plan.tasks), revision: 0 };
  for (const { id } of ready(plan as Plan).slice(0, free.length)) {
    beginTask(draft.plan, id, { at });
    draft.lanes[free.shift() as number] = id;
  }
}

/** A plan is there, and work begins. */
function planned(plan: (scope: Scope<PlannerContext, SettledEvent>) => Plan): Handler {
  return {
    target: "working",
    update: (draft, scope) => {
      draft.plan = plan(scope) as Draft<Plan>;
      draft.halted = false;
      assign(draft, scope.at);
    },
  };
}

const gaveUp: Handler = {
  target: "failed",
  update: (draft, { event }) => {
    draft.error = errorOf(event.data);
  },
};

const isOver = ({ lanes }: PlannerContext): boolean => lanes.every((task) => task === null);
const isDone = ({ tasks }: Plan): boolean =>
  tasks.every(({ status }) => status === "done" || status === "skipped");

function canSkip({ tasks }: Plan, id: string): boolean {
  return tasks.some((task) => task.id === id && (task.status === "pending" || task.status === "failed"));
}

function taskOf({ plan, lanes }: PlannerContext, lane: number): Task {
  return plan.tasks.find(({ id }) => id === lanes[lane]) as Task;
}

function requestOf(context: PlannerContext, lane: number): TaskRequest {
  const { id, title, kind, input, expects, attempts, error, needs } = taskOf(context, lane);
  return {
    ...{ goal: context.goal, id, title, attempt: attempts },
    ...(kind === undefined ? {} : { kind }),
    ...(input === undefined ? {} : { input }),
    ...(expects === undefined ? {} : { expects }),
    ...(error === undefined ? {} : { lastError: error }),
    results: resultsOf(context.plan.tasks.filter((task) => needs.includes(task.id))),
  };
}

/** What tasks gave, by their ids. */
function resultsOf(tasks: readonly Task[]): Readonly<Record<string, Json>> {
  return Object.fromEntries(tasks.flatMap(({ id, result }) => (result === undefined ? [] : [[id, result]])));
}

function reasonsOf({ plan, error }: PlannerContext): readonly Reason[] {
  const failed = plan.tasks.flatMap((task) =>
    task.status === "failed" && task.error !== undefined ? [{ task: task.id, error: task.error }] : [],
  );
  return error === null ? failed : [...failed, { error }];
}

/** What an activity's failure says, without what is of use to the runtime only. */
function errorOf(data: unknown): TaskError {
  const { message, name, code } = data as TaskError;
  return { message, ...(name === undefined ? {} : { name }), ...(code === undefined ? {} : { code }) };
}

const inputSchema = jsonSchema<PlannerInput>({
  type: "object",
  required: ["goal"],
  properties: { goal: { type: "string", minLength: 1 }, input: true },
});
const skipSchema = jsonSchema({
  type: "object",
  required: ["task"],
  properties: { task: { type: "string" } },
});
