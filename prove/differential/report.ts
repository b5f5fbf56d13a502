/** A mismatch, shrunk and put so that a person can see what is wrong. */
import type { Dialect, Plan } from "../../test/generate/plan.ts";
import { shrink } from "../../test/generate/shrink.ts";
import { type Engines, judge, type Mismatch } from "./judge.ts";
import type { Behaviour } from "./observation.ts";

/** The lines that tell of a plan's mismatch. There must be one. */
export function* describeMismatch(
  plan: Plan,
  dialect: Dialect,
  seed: number,
  engines: Engines,
): Generator<string> {
  const mismatchOf = (candidate: Plan): Mismatch | undefined => {
    const verdict = judge(candidate, dialect, engines);
    return verdict.agrees ? undefined : verdict.mismatch;
  };
  const { claim, engine } = mismatchOf(plan)!;
  const small = shrink(plan, dialect, (candidate) => mismatchOf(candidate)?.claim === claim);
  const { step, expected, found } = mismatchOf(small)!;
  const event = step === 0 ? "the start" : JSON.stringify(small.events[step - 1]);
  yield `MISMATCH in the ${dialect} chart of seed ${seed}: ${claim} at step ${step}, ${event}`;
  yield `  again: npm run prove:differential -- --seed ${seed} --seeds 1`;
  yield "  the chart, made as small as it goes:";
  yield* indented(JSON.stringify(withoutEmpty(small), null, 1));
  yield `  the oracle: ${stepText(expected, step)}`;
  yield `  ${engine}: ${stepText(found, step)}`;
}

function stepText({ steps, crash }: Behaviour, step: number): string {
  if (crash !== undefined) return `falls over: ${crash}`;
  return step < steps.length ? JSON.stringify(steps[step]) : "never ends";
}

/** Empty lists say nothing in a plan, and there are many. */
function withoutEmpty(plan: Plan): unknown {
  return JSON.parse(
    JSON.stringify(plan, (_, value) => (Array.isArray(value) && value.length === 0 ? undefined : value)),
  );
}

/** JSON over few lines: what fits on one line stays on it. */
function* indented(json: string): Generator<string> {
  const compact = json.replace(
    /\[\s+([^[\]{}]*?)\s+\]/g,
    (_, inner: string) => `[${inner.replace(/\s*\n\s*/g, " ")}]`,
  );
  const flat = compact.replace(
    /\{\s+([^{}]*?)\s+\}/g,
    (_, inner: string) => `{ ${inner.replace(/\s*\n\s*/g, " ")} }`,
  );
  for (const line of flat.split("\n")) yield `    ${line}`;
}
