/**
 * What is done with an attack, as any program would that lets strangers write machines: read it, and use what was read.
 * Reading, evaluations and whole steps are timed apart, by the processor's time they take.
 */

import { Budget, checkSize } from "../../src/core/expression/budget.ts";
import { compileText } from "../../src/core/expression/compile.ts";
import { dyn, int, listOf, record, string } from "../../src/core/expression/static-type.ts";
import { importScxml } from "../../src/core/formats/scxml/import.ts";
import { toJson } from "../../src/core/json.ts";
import { Patterns } from "../../src/core/pattern.ts";
import { jsonSchema, loadMachine, readDefinition } from "../../src/data/index.ts";
import { defineMachine, isHoldfastError, type Machine, start, step } from "../../src/index.ts";
import type { Attack } from "./attack.ts";

export interface Defence {
  /** Whether it was let in, or refused with a code. */
  readonly outcome: string;
  /** The longest that one evaluation took, in milliseconds of the processor. */
  readonly evaluationMs: number;
  /** The longest that one whole step took: up to a thousand microsteps, each with its evaluations. */
  readonly stepMs: number;
  /** The longest that reading it took. */
  readonly readingMs: number;
}

/** An error that is none of ours, or does not say what is wrong. */
export class Unclear extends Error {}

class Stopwatch {
  evaluationMs = 0;
  stepMs = 0;
  readingMs = 0;

  reading<Result>(work: () => Result): Result {
    const { result, ms } = timed(work);
    this.readingMs = Math.max(this.readingMs, ms);
    return result();
  }

  step<Result>(work: () => Result): Result {
    const { result, ms } = timed(work);
    this.stepMs = Math.max(this.stepMs, ms);
    return result();
  }

  evaluation<Result>(work: () => Result): Result {
    const { result, ms } = timed(work);
    this.evaluationMs = Math.max(this.evaluationMs, ms);
    return result();
  }
}

function timed<Result>(work: () => Result): { result: () => Result; ms: number } {
  const before = process.threadCpuUsage();
  let result: () => Result;
  try {
    const value = work();
    result = () => value;
  } catch (error) {
    result = () => {
      throw error;
    };
  }
  const { user, system } = process.threadCpuUsage(before);
  return { result, ms: (user + system) / 1_000 };
}

/** Meets an attack; throws Unclear for an error that is not as errors should be. */
export function defend(attack: Attack): Defence {
  const watch = new Stopwatch();
  let outcome = "accepted";
  try {
    outcome = meet(attack, watch) ?? outcome;
  } catch (error) {
    outcome = codeOf(error);
  }
  const { evaluationMs, stepMs, readingMs } = watch;
  return { outcome, evaluationMs, stepMs, readingMs };
}

const messageMax = 100_000;

function codeOf(error: unknown): string {
  if (!isHoldfastError(error))
    throw new Unclear(`${String(error)} is no error of Holdfast: ${(error as Error)?.stack ?? ""}`);
  if (error.message.length < 10 || error.message.length > messageMax)
    throw new Unclear(
      `${error.code} says ${error.message.length} characters: ${error.message.slice(0, 200)}`,
    );
  return error.code;
}

function meet(attack: Attack, watch: Stopwatch): string | undefined {
  switch (attack.kind) {
    case "text":
      return meetText(attack.text, watch);
    case "machine": {
      const machine = watch.reading(() => loadMachine(attack.json));
      return runMachine(machine, JSON.parse(attack.events) as unknown[], watch);
    }
    case "scxml": {
      const machine = watch.reading(() => defineMachine(importScxml(attack.text)));
      return runMachine(machine, [{ type: "go" }], watch);
    }
    case "expression":
      return meetExpression(attack.text, attack.values, watch);
    case "schema": {
      const schema = watch.reading(() => jsonSchema(JSON.parse(attack.schema)));
      const value = JSON.parse(attack.value) as unknown;
      const result = watch.evaluation(() => schema["~standard"].validate(value)) as {
        readonly issues?: readonly unknown[];
      };
      return result.issues === undefined ? undefined : "invalid";
    }
  }
}

function meetText(text: string, watch: Stopwatch): string | undefined {
  const { definition, problems } = watch.reading(() => readDefinition(text));
  if (definition !== undefined)
    return runMachine(
      watch.reading(() => loadMachine(text)),
      [{ type: "go" }],
      watch,
    );
  const unclear = problems.find(
    ({ path, problem }) => path === "" || problem.length < 5 || problem.length > messageMax,
  );
  if (problems.length === 0 || unclear !== undefined)
    throw new Unclear(`A machine is refused without a reason: ${JSON.stringify(unclear)?.slice(0, 200)}`);
  return "refused";
}

const values = {
  small: { list: [1, 2, 3], text: "aab", deep: { a: [1, { b: "c" }] } },
  large: {
    list: Array.from({ length: 1_000 }, (_, index) => index),
    text: "a".repeat(100_000),
    deep: Array.from({ length: 100 }, (_, index) => ({ index, list: Array.from({ length: 50 }, () => "a") })),
  },
};
const variables = [
  { name: "context", type: record({ list: listOf(int), text: string, deep: dyn }) },
  { name: "event", type: dyn },
  { name: "at", type: int },
];

function meetExpression(text: string, size: keyof typeof values, watch: Stopwatch): undefined {
  const typed = () => compileText(text, { variables, patterns: new Patterns() });
  // What the types would keep out is tried without them as well.
  const untyped = () =>
    compileText(text, {
      variables: variables.map(({ name }) => ({ name, type: dyn })),
      patterns: new Patterns(),
    });
  const { run } = watch.reading(() => {
    try {
      return typed();
    } catch {
      return untyped();
    }
  });
  watch.evaluation(() => {
    const slots = [values[size], { type: "go", data: values.small }, 1_000];
    const value = run({ slots, budget: new Budget(), scope: undefined });
    checkSize(value);
    if (value !== undefined) toJson(value, []);
  });
}

function runMachine(machine: Machine, events: readonly unknown[], watch: Stopwatch): string | undefined {
  let { state, error } = watch.step(() => start(machine, { n: 1 }, { at: 1_000 }));
  for (const event of events) {
    if (error !== undefined) break;
    ({ state, error } = watch.step(() => step(machine, state, event as never, { at: 1_000 })));
  }
  return error === undefined ? undefined : codeOf(error);
}
