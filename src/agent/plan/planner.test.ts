/** Planners: a goal becomes tasks that are worked on side by side, judged, and planned anew, whatever crashes on the way. */
import { expect, test } from "vitest";
import { z } from "zod";
import { onEveryStore } from "../../../test/runtime/world.ts";
import type { ActivityScope } from "../../core/activity.ts";
import type { Json } from "../../core/json.ts";
import { harness } from "../../testing/index.ts";
import type { PlannedTask } from "./plan.ts";
import { definePlanner, type PlannerOptions } from "./planner.ts";
import type { Reason, TaskRequest } from "./planner-machine.ts";
import { progress } from "./progress.ts";

const report: readonly PlannedTask[] = [
  { id: "search" },
  { id: "read", needs: ["search"] },
  { id: "ask", needs: ["search"] },
  { id: "rest" },
  { id: "write", needs: ["read", "ask"] },
];
const echo = ({ id, results }: TaskRequest) => [id, ...Object.keys(results)].join("<");

const made = (parts: Partial<PlannerOptions<string>> = {}) =>
  definePlanner({
    ...{ id: "planner", decompose: () => report, work: echo, attempts: 1, retry: { attempts: 1 } },
    ...parts,
  });
const under = ({ machine, activities }: ReturnType<typeof made>) => harness(machine, activities);

test("C5: a goal is decomposed, and its tasks are done in the order they need each other", async () => {
  const test = await under(made({ decompose: ({ goal }) => [...report, { id: goal }] }));
  await test.start({ goal: "publish" });
  test.expect({
    ...{ state: "done", status: "done" },
    output: {
      results: {
        ...{ search: "search", read: "read<search", ask: "ask<search", rest: "rest", publish: "publish" },
        write: "write<read<ask",
      },
    },
  });
  await test.close();
});

test("C5: so many tasks as may be are under way at a time, and all that can be", async () => {
  const log: string[] = [];
  let under = 0;
  const work = async ({ id }: TaskRequest) => {
    log.push(`${id}:${++under}`);
    await Promise.resolve();
    under--;
    return id;
  };
  const wide = Array.from({ length: 7 }, (_, index) => ({ id: `t${index}` }));
  const planner = made({ decompose: () => wide, work, parallel: 3 });
  const test = await harness(planner.machine, planner.activities);
  await test.start({ goal: "many" });
  test.expect("done");
  expect(log.map((entry) => entry.slice(0, 2)).toSorted()).toEqual(wide.map(({ id }) => id));
  expect(Math.max(...log.map((entry) => Number(entry.split(":")[1])))).toBe(3);
  await test.close();
});

test("C5: killed anywhere, each task's work counts once", async () => {
  const ledgers: Map<string, string>[] = [];
  const planner = made({ parallel: 2 });
  const test = await harness(planner.machine, () => {
    const ledger = new Map<string, string>();
    ledgers.push(ledger);
    const work = (request: TaskRequest, { key }: ActivityScope) => {
      ledger.set(key, request.id);
      return request.id;
    };
    return made({ work, parallel: 2 }).activities;
  });
  await test.start({ goal: "report" });
  test.expect("done");
  const { tried, points } = await test.crashEverywhere();
  expect(tried).toBe(points);
  expect(points).toBeGreaterThan(20);
  expect(ledgers.length).toBeGreaterThan(points);
  for (const ledger of ledgers)
    expect([...ledger.values()].toSorted()).toEqual(report.map(({ id }) => id).toSorted());
  await test.close();
});

test("C5: killed anywhere while it plans anew, it ends with the same plan", async () => {
  const planner = made({
    work: (request) => {
      if (request.id === "ask") throw new Error("nobody is there");
      return echo(request);
    },
    replan: () => [
      { id: "guess", needs: ["search"] },
      { id: "write", needs: ["read", "guess"] },
    ],
  });
  const test = await under(planner);
  await test.start({ goal: "report" });
  test.expect({ state: "done", output: { results: { guess: "guess<search", write: "write<read<guess" } } });
  await test.crashEverywhere();
  await test.close();
});

test("C5: a result that does not pass is a failure with its reason, and the next attempt knows it", async () => {
  const seen: unknown[] = [];
  const test = await under(
    made({
      attempts: 2,
      retry: { attempts: 5 },
      decompose: () => [{ id: "count" }],
      work: ({ attempt, lastError }) => {
        seen.push(lastError);
        return attempt === 1 ? "many" : 3;
      },
      validate: (result) => (typeof result === "number" ? true : `${JSON.stringify(result)} is no number`),
    }),
  );
  await test.start({ goal: "count" });
  test.expect({ state: "done", output: { results: { count: 3 } } });
  expect(seen).toEqual([undefined, { name: "OutcomeRefused", message: '"many" is no number' }]);
  expect(test.context.plan.tasks[0]).toMatchObject({ attempts: 2, status: "done" });
  await test.close();
});

test("C5: what a result must be is said by a schema of its kind, or by the task itself", async () => {
  const planner = definePlanner({
    ...{ id: "kinds", attempts: 1, retry: { attempts: 1 } },
    decompose: () => [
      { id: "good", kind: "count" },
      { id: "bad", kind: "count", input: "x" },
      { id: "odd", kind: "name", expects: { type: "string", minLength: 3 } },
    ],
    work: { count: ({ input }) => input ?? 1, name: () => "me" },
    validate: { count: z.number() },
  });
  const test = await harness(planner.machine, planner.activities);
  await test.start({ goal: "check" });
  test.expect({ state: "failed", output: { results: { good: 1 } } });
  const { reasons } = test.output as { readonly reasons: readonly Reason[] };
  expect(reasons.map(({ task, error }) => [task, error.message])).toEqual([
    ["bad", expect.stringContaining("The result is not what was wanted: result: ")],
    ["odd", expect.stringContaining("The result is not what was wanted: result: ")],
  ]);
  await test.close();
});

test("C5: without a new plan the rest goes on, and the plan fails with its reasons", async () => {
  const test = await under(
    made({
      work: (request) => {
        if (request.id === "ask") throw Object.assign(new Error("nobody is there"), { code: 404 });
        return echo(request);
      },
    }),
  );
  await test.start({ goal: "report" });
  test.expect({
    state: "failed",
    output: { reasons: [{ task: "ask", error: { name: "Error", message: "nobody is there" } }] },
  });
  expect(progress(test.context.plan)).toMatchObject({ done: 3, failed: 1, blocked: 1 });
  await test.close();
});

test("C5: a new plan waits for what is under way, keeps it, and there are only so many", async () => {
  const asked: Json[] = [];
  const planner = made({
    ...{ parallel: 2, replans: 2 },
    work: async ({ id }, { signal }) => {
      if (id.startsWith("fail")) throw new Error(id);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      expect(signal.aborted).toBe(false);
      return id;
    },
    decompose: () => [{ id: "fail" }, { id: "slow" }, { id: "late" }],
    replan: ({ plan }) => {
      asked.push(plan.tasks.map(({ id, status }) => `${id} ${status}`));
      return [{ id: `fail${plan.revision + 1}`, needs: ["slow"] }];
    },
  });
  const test = await under(planner);
  await test.start({ goal: "report" });
  test.expect({
    state: "failed",
    output: { results: { slow: "slow" }, reasons: [{ task: "fail2" }] },
  } as never);
  expect(asked).toEqual([
    ["fail failed", "slow done", "late pending"],
    ["slow done", "fail1 failed"],
  ]);
  await test.close();
});

test("C5: a plan that cannot be is refused, and whoever made it is told why when it is asked again", async () => {
  const refused: (string | undefined)[] = [];
  const test = await under(
    made({
      retry: { attempts: 2, first: "1s" },
      decompose: (request) => {
        refused.push(request.refused);
        return request.refused === undefined ? [{ id: "a", needs: ["b"] }] : [{ id: "a" }];
      },
    }),
  );
  await test.start({ goal: "report" });
  await test.advance("1s");
  test.expect("done");
  expect(refused).toEqual([undefined, expect.stringContaining('needs "b", which is no task')]);
  await test.close();
});

test("C5: what cannot be decomposed fails with the reason", async () => {
  const test = await under(made({ decompose: () => [{ id: "a", kind: 3 as never }] }));
  await test.start({ goal: "report" });
  const reason = {
    name: "HoldfastError",
    code: "PLAN_INVALID",
    message: "The plan tasks[0].kind is 3; write text",
  };
  test.expect({ state: "failed", output: { results: {}, reasons: [{ error: reason }] } });
  await test.close();
});

test("C5: a person skips what is not wanted, and what needs it need not wait", async () => {
  const hang = new Promise<never>(() => {});
  const planner = made({
    parallel: 1,
    decompose: () => [{ id: "first" }, { id: "boring" }, { id: "last", needs: ["boring"] }],
    work: ({ id }, { attempt }) => (id === "first" && attempt === 1 ? hang : id),
    timeout: "1m",
    retry: { attempts: 2, first: "1s" },
  });
  const test = await under(planner);
  await test.start({ goal: "report" });
  expect(await test.send("skip", { task: "first" })).toMatchObject({ outcome: "ignored" });
  expect(await test.send("skip", { task: "boring" })).toMatchObject({ outcome: "taken" });
  expect(await test.send("skip", { job: "boring" } as never)).toMatchObject({ outcome: "refused" });
  await test.advance("2m");
  test.expect({ state: "done", output: { results: { first: "first", last: "last" } } });
  await test.close();
});

test("B13: what the run may use up bounds the plan", async () => {
  const wide = Array.from({ length: 50 }, (_, index) => ({ id: `t${index}` }));
  const test = await under(made({ decompose: () => wide, limits: { steps: 10 } }));
  await test.start({ goal: "many" });
  test.expect({ status: "failed" });
  await test.close();
});

test("a planner's numbers are what they can be", () => {
  for (const parts of [
    { parallel: 0 },
    { parallel: 101 },
    { attempts: 1.5 },
    { replans: -1, replan: () => [] },
  ])
    expect(() => made(parts)).toThrow("write a whole number");
});

test("kinds, inputs and outputs are typed by what works on them", async () => {
  const work = { search: () => ["a"], write: () => "b" };
  const parts = { id: "typed", work } as const;
  const planner = definePlanner({
    ...parts,
    decompose: () => [
      { id: "a", kind: "search" },
      { id: "b", kind: "write" },
    ],
  });
  // @ts-expect-error There is no such kind.
  definePlanner({ ...parts, decompose: () => [{ id: "a", kind: "serach" }] });
  // @ts-expect-error Nor can it be judged.
  definePlanner({ ...parts, decompose: () => [], validate: { serach: () => true } });
  const test = await harness(planner.machine, planner.activities);
  await test.start({ goal: "x" });
  // @ts-expect-error A planner has a goal.
  await expect(test.start({ gaol: "x" }, { id: "other" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  await test.close();
});

onEveryStore((world) => {
  test("C5: a plan goes on in the next process, with what was done kept", async () => {
    const here = await world();
    const calls: string[] = [];
    const planner = (hangs: string | undefined) =>
      made({
        parallel: 1,
        work: (request) => {
          calls.push(request.id);
          return request.id === hangs ? new Promise<never>(() => {}) : echo(request);
        },
      });
    const first = await here.boot([planner("ask")]);
    await first.start(planner("ask").machine, { id: "plan", input: { goal: "report" } });
    await here.rest();
    await here.crash(first);
    const second = await here.boot([planner(undefined)]);
    const run = await second.start(planner(undefined).machine, { id: "plan", input: { goal: "report" } });
    const end = await run.finished();
    expect(end.state === "done" && end.output.results.write).toBe("write<read<ask");
    expect(calls.toSorted()).toEqual(["ask", "ask", "read", "rest", "search", "write"]);
  });
});
