/** Plans: what makes one, how it goes on, and what it tells. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Draft } from "../../core/definition.ts";
import { produce } from "../../core/draft.ts";
import { limits } from "../../limits.ts";
import { beginTask, completeTask, failTask, isSettled, skipTask } from "./advance.ts";
import { makePlan, type Plan, type PlannedTask, revisePlan } from "./plan.ts";
import { blockedTasks, bottlenecks, criticalPath, progress, ready } from "./progress.ts";

const changed = (plan: Plan, recipe: (draft: Draft<Plan>) => void): Plan => produce(plan, recipe, undefined);
const done = (plan: Plan, id: string, from = 0, to = from): Plan =>
  changed(plan, (draft) => {
    beginTask(draft, id, { at: from });
    completeTask(draft, id, { at: to, result: id });
  });
const ids = (tasks: readonly { readonly id: string }[]) => tasks.map(({ id }) => id);
const messageOf = (work: () => unknown): string => {
  try {
    work();
    return "nothing was thrown";
  } catch (error) {
    return `${(error as { code?: string }).code}: ${(error as Error).message}`;
  }
};

const trip = makePlan([
  { id: "dates", estimateMs: 10 },
  { id: "flight", needs: ["dates"], estimateMs: 50 },
  { id: "hotel", needs: ["dates"], estimateMs: 20 },
  { id: "mail", needs: ["flight", "hotel"], estimateMs: 5 },
]);

describe("a plan", () => {
  test("C5: one that goes round in a circle is refused with the way round", () => {
    const tasks = [
      { id: "a", needs: ["c"] },
      { id: "b", needs: ["a"] },
      { id: "c", needs: ["b"] },
      { id: "d" },
    ];
    expect(messageOf(() => makePlan(tasks))).toBe(
      'PLAN_INVALID: The plan goes round in a circle: "a" needs "c" needs "b" needs "a"; drop one of these needs',
    );
    expect(messageOf(() => makePlan([{ id: "a", needs: ["a"] }]))).toContain('"a" needs "a"');
  });

  test("C5: a need that is no task is refused with the nearest one", () => {
    expect(messageOf(() => makePlan([{ id: "search" }, { id: "write", needs: ["serach"] }]))).toBe(
      'PLAN_INVALID: The plan tasks[1].needs "serach", which is no task; did you mean "search"? there are search, write',
    );
  });

  test("F5: whatever else a planner makes up is refused, all of it at once", () => {
    const tasks = [
      7,
      { id: "" },
      { id: "a", titel: "A" },
      { id: "a", needs: [3], estimateMs: -1 },
      { id: "b", title: 5, kind: "wirte", input: 1n, expects: { type: "nothing" } },
    ] as never as PlannedTask[];
    const message = messageOf(() => makePlan(tasks, { kinds: ["write"] }));
    for (const part of [
      ...[
        "has 12 problems",
        "tasks[0] is 7",
        'tasks[1].id is ""',
        'tasks[2].titel is unknown; did you mean "title"?',
      ],
      ...[
        'tasks[3].id is "a", as that',
        "tasks[3].needs is [3]",
        "tasks[3].estimateMs is -1",
        "tasks[4].title is 5",
      ],
      ...['tasks[4].kind is "wirte"; did you mean "write"?', "tasks[4] cannot be used"],
    ])
      expect(message).toContain(part);
    expect(messageOf(() => makePlan("all" as never))).toBe(
      'PLAN_INVALID: The plan is "all"; give a list of tasks',
    );
  });

  test("C5: null says nothing, as if the field were not there; a need that is no list is refused with its place", () => {
    const none = { title: null, kind: null, needs: null, estimateMs: null, expects: null } as never;
    const { tasks } = makePlan([{ id: "a", input: null, ...(none as object) }]);
    expect(tasks).toEqual([{ id: "a", title: "a", needs: [], input: null, status: "pending", attempts: 0 }]);
    for (const needs of ["b", "", 5, {}, { length: 0 }, [null], true])
      expect(() => makePlan([{ id: "b" }, { id: "a", needs: needs as never }])).toThrow(
        expect.objectContaining({
          code: "PLAN_INVALID",
          message: expect.stringMatching(/^The plan tasks\[1\]\.needs is .*; list the ids of tasks$/),
        }),
      );
  });

  test("holds so many tasks and not one more", () => {
    const tasks = Array.from({ length: limits.planTasksMax }, (_, index) => ({ id: `t${index}` }));
    expect(makePlan(tasks).tasks).toHaveLength(limits.planTasksMax);
    expect(messageOf(() => makePlan([...tasks, { id: "more" }]))).toContain("1001 tasks");
  });

  test("C5: a revision keeps what is done and replaces the rest", () => {
    let plan = done(trip, "dates");
    plan = changed(plan, (draft) => skipTask(draft, "hotel"));
    const revised = revisePlan(plan, [
      { id: "train", needs: ["dates"] },
      { id: "mail", needs: ["train", "hotel"] },
    ]);
    expect(ids(revised.tasks)).toEqual(["dates", "hotel", "train", "mail"]);
    expect(revised.revision).toBe(1);
    expect(revised.tasks[0]).toBe(plan.tasks[0]);
    expect(ids(ready(revised))).toEqual(["train"]);
    expect(messageOf(() => revisePlan(plan, [{ id: "dates" }]))).toContain('"dates", which is done already');
    expect(messageOf(() => revisePlan(plan, [{ id: "x", needs: ["flight"] }]))).toContain('needs "flight"');
  });
});

describe("a plan under way", () => {
  test("C5: tasks begin when all they need is done or skipped, and not before", () => {
    expect(ids(ready(trip))).toEqual(["dates"]);
    expect(messageOf(() => done(trip, "mail"))).toBe(
      'TASK_REFUSED: The task "mail" cannot begin: it needs "flight" and "hotel" first',
    );
    const plan = done(trip, "dates");
    expect(ids(ready(plan))).toEqual(["flight", "hotel"]);
    const skipped = changed(plan, (draft) => skipTask(draft, "flight"));
    expect(ids(ready(done(skipped, "hotel")))).toEqual(["mail"]);
  });

  test("what cannot have happened is refused, and says what there is", () => {
    const end = (id: string) => () => changed(trip, (draft) => completeTask(draft, id, { at: 0 }));
    expect(messageOf(end("dates"))).toBe(
      'TASK_REFUSED: The task "dates" cannot be done: it is pending, and must be running',
    );
    expect(messageOf(end("hotle"))).toContain('there is no such task; did you mean "hotel"?');
    expect(messageOf(end("zzz"))).toMatch(/no such task$/);
    expect(messageOf(() => changed(done(trip, "dates"), (draft) => skipTask(draft, "dates")))).toContain(
      "it is done",
    );
  });

  test("a task that failed may begin again, and knows why", () => {
    const failed = (again: boolean) =>
      changed(trip, (draft) => {
        beginTask(draft, "dates", { at: 1 });
        failTask(draft, "dates", { at: 3, again, error: { message: "busy" } });
      });
    expect(failed(true).tasks[0]).toMatchObject({
      status: "pending",
      attempts: 1,
      error: { message: "busy" },
    });
    const second = done(failed(true), "dates", 5, 9).tasks[0];
    expect(second).toMatchObject({ status: "done", attempts: 2, startedAt: 5, endedAt: 9 });
    expect(second).not.toHaveProperty("error");
    expect(ids(ready(failed(false)))).toEqual([]);
    expect(ids(blockedTasks(failed(false)))).toEqual(["flight", "hotel", "mail"]);
  });

  test("C5: progress counts every task once", () => {
    const empty = { total: 0, done: 0, skipped: 0, failed: 0, running: 0, ready: 0, waiting: 0, blocked: 0 };
    expect(progress(makePlan([]))).toEqual({ ...empty, share: 1 });
    const plan = changed(done(trip, "dates"), (draft) => beginTask(draft, "flight", { at: 0 }));
    expect(progress(plan)).toEqual({
      ...empty,
      total: 4,
      done: 1,
      running: 1,
      ready: 1,
      waiting: 1,
      share: 0.25,
    });
    const failed = changed(plan, (draft) => failTask(draft, "flight", { at: 1, error: { message: "no" } }));
    expect(progress(failed)).toMatchObject({ failed: 1, ready: 1, waiting: 0, blocked: 1 });
  });

  test("C5: the critical path is the longest chain, by estimate until there is a measure", () => {
    expect(criticalPath(trip)).toEqual({ tasks: ["dates", "flight", "mail"], ms: 65 });
    const measured = done(done(trip, "dates", 0, 10), "hotel", 10, 100);
    expect(criticalPath(measured)).toEqual({ tasks: ["dates", "hotel", "mail"], ms: 105 });
    const running = changed(done(trip, "dates", 0, 10), (draft) => beginTask(draft, "hotel", { at: 10 }));
    expect(criticalPath(running, { now: 500 }).ms).toBe(505);
    expect(criticalPath(running).ms).toBe(65);
    expect(criticalPath(makePlan([]))).toEqual({ tasks: [], ms: 0 });
    expect(criticalPath(makePlan([{ id: "a" }, { id: "b", needs: ["a"] }]))).toEqual({
      tasks: ["a", "b"],
      ms: 2,
    });
  });

  test("C5: bottlenecks are what is left without slack, and what most others wait for", () => {
    expect(bottlenecks(trip)).toEqual([
      { task: "dates", waiting: 3, slackMs: 0, ms: 10 },
      { task: "flight", waiting: 1, slackMs: 0, ms: 50 },
      { task: "mail", waiting: 0, slackMs: 0, ms: 5 },
      { task: "hotel", waiting: 1, slackMs: 30, ms: 20 },
    ]);
    expect(bottlenecks(done(trip, "dates")).map(({ task }) => task)).toEqual(["flight", "mail", "hotel"]);
  });
});

/** Plans whose tasks need only earlier ones. */
const plans = fc
  .array(fc.tuple(fc.nat(50), fc.array(fc.nat(30), { maxLength: 4 })), { maxLength: 25 })
  .map((list) =>
    makePlan(
      list.map(([estimateMs, picks], index) => ({
        ...{ id: `t${index}`, estimateMs },
        needs: index === 0 ? [] : picks.map((pick) => `t${pick % index}`),
      })),
    ),
  );

describe("of any plan", () => {
  test("C5: whatever the order it is worked on, all tasks get done, each after what it needs", () => {
    fc.assert(
      fc.property(plans, fc.array(fc.nat(100)), (given, picks) => {
        let plan = given;
        const order: string[] = [];
        for (let turn = 0; ready(plan).length > 0; turn++) {
          const tasks = ready(plan);
          const task = tasks[(picks[turn] ?? 0) % tasks.length]!;
          expect(task.needs.every((need) => order.includes(need))).toBe(true);
          order.push(task.id);
          plan = done(plan, task.id);
        }
        expect(plan.tasks.every(isSettled)).toBe(true);
        expect(progress(plan).share).toBe(1);
      }),
    );
  });

  test("the critical path is a chain of needs, no chain is longer, and what is on it has no slack", () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { tasks, ms } = criticalPath(plan);
        const byId = new Map(plan.tasks.map((task) => [task.id, task]));
        const sum = tasks.reduce((total, id) => total + (byId.get(id)?.estimateMs ?? 0), 0);
        expect(sum).toBe(ms);
        tasks.slice(1).forEach((id, index) => {
          expect(byId.get(id)?.needs).toContain(tasks[index]);
        });
        const longest = (id: string): number =>
          (byId.get(id)?.estimateMs ?? 0) + Math.max(0, ...(byId.get(id)?.needs ?? []).map(longest));
        expect(ms).toBe(Math.max(0, ...plan.tasks.map(({ id }) => longest(id))));
        for (const { task, slackMs } of bottlenecks(plan)) {
          expect(slackMs).toBeGreaterThanOrEqual(0);
          if (tasks.includes(task)) expect(slackMs).toBe(0);
        }
      }),
      { numRuns: 60 },
    );
  });
});
