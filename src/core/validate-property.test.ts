/** Whatever is given, `validate` answers, and `defineMachine` throws exactly when there are problems. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { defineMachine, expand, isHoldfastError, type MachineDefinition, validate } from "../index.ts";

/** A definition with a bit of everything, to be broken. */
const rich = {
  id: "m",
  version: 1,
  start: { n: 0, list: [1, 2] },
  events: { go: {}, approve: {}, reject: {}, decide: {} },
  guards: { ready: () => true },
  updates: { add: () => {} },
  activities: { search: {}, undo: {} },
  priorities: { go: 1 },
  unhandled: { known: "defer" },
  limits: { steps: 5, time: "1 day" },
  checkpoint: { every: 2 },
  initial: "a",
  states: {
    a: {
      id: "first",
      entry: [
        { log: "in" },
        { raise: { type: "own", data: 1 } },
        { send: { type: "go", delay: "1s", resume: "restart" } },
      ],
      on: {
        go: [{ guard: { and: ["ready", { not: { in: "b" } }] }, target: "b" }, "c"],
        own: { update: "add" },
      },
      after: { "1s": "b", 500: { target: "c", resume: "remaining" } },
      always: { guard: { or: [{ in: "#first" }] }, target: "d", require: { ready: "ready" } },
      invoke: {
        activity: "search",
        retry: { attempts: 3, first: "1s", never: ["X"] },
        ...{ once: true, onUnknown: "c", compensate: "undo" },
      },
      tags: ["x"],
    },
    b: {
      type: "parallel",
      writes: { n: "last" },
      states: {
        one: {
          initial: "x",
          states: {
            x: {},
            y: { type: "final", output: 1 },
            h: { type: "history", history: "deep", target: "x" },
          },
        },
        two: { on: [{ event: ["go", "own"], target: "#first" }], defer: ["decide"] },
      },
      onDone: "c",
    },
    c: {
      attempt: {
        invoke: { activity: "search", onDone: "d" },
        catch: [{ errors: ["E"], target: "a" }, "d"],
        timeout: "1h",
        onTimeout: "d",
      },
    },
    d: {
      map: {
        over: [1, 2],
        activity: "search",
        concurrency: 2,
        tolerate: "50%",
        collect: "list",
        onDone: "e",
        onError: "f",
      },
    },
    e: {
      approval: {
        ask: { emit: "please" },
        by: "ready",
        timeout: "2 days",
        onApproved: "f",
        onRejected: "a",
        onTimeout: "a",
      },
    },
    f: { type: "final" },
  },
};

const junk = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    maxDepth: 3,
  }),
  fc.constantFrom<unknown>(
    undefined,
    null,
    "",
    "a",
    "#first",
    ".x",
    "__proto__",
    {},
    [],
    [null],
    [[]],
    { cel: "1" },
    () => 1,
    Number.NaN,
    -1,
    true,
  ),
);

/** The ways to all parts of a value. */
function waysIn(value: unknown, way: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [way];
  return [way, ...Object.entries(value).flatMap(([key, part]) => waysIn(part, [...way, key]))];
}

function replaced(value: unknown, [key, ...rest]: string[], part: unknown): unknown {
  if (key === undefined) return part;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[key] = replaced(copy[key], rest, part);
  return copy;
}

function agrees(definition: unknown): void {
  const problems = validate(definition);
  let thrown: unknown;
  try {
    defineMachine(definition as MachineDefinition);
  } catch (error) {
    thrown = error;
  }
  expect(isHoldfastError(thrown) ? thrown.details.problems : thrown).toEqual(
    problems.length > 0 ? problems : undefined,
  );
  for (const { path, problem } of problems)
    expect([typeof path, typeof problem, path !== ""]).toEqual(["string", "string", true]);
  expect(Object.keys(Object.prototype)).toEqual([]);
}

describe("validate and defineMachine agree", () => {
  test("on a definition with a bit of everything, and on its expansion", () => {
    expect(validate(rich)).toEqual([]);
    const expanded = expand(rich as unknown as MachineDefinition);
    expect(validate(expanded)).toEqual([]);
    expect(expand(expanded)).toEqual(expanded);
    expect(defineMachine(rich as unknown as MachineDefinition).definition).toEqual(expanded);
  });

  test("on anything at all", () => {
    fc.assert(fc.property(junk, agrees), { numRuns: 500 });
  });

  test("on a definition with one part, any part, replaced by anything", () => {
    const ways = waysIn(rich);
    fc.assert(
      fc.property(fc.constantFrom(...ways), junk, (way, part) => agrees(replaced(rich, way, part))),
      { numRuns: 1_000 },
    );
  });

  test("on a definition with something added anywhere", () => {
    const ways = waysIn(rich);
    const keys = [...new Set(ways.flat())];
    fc.assert(
      fc.property(fc.constantFrom(...ways), fc.constantFrom(...keys), junk, (way, key, part) =>
        agrees(replaced(rich, [...way, key], part)),
      ),
      { numRuns: 700 },
    );
  });
});
