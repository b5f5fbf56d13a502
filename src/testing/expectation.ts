/** What a test expects of a run, and what it is told when that is not so. */
import { AssertionError } from "node:assert";
import { findNode } from "../core/chart.ts";
import type { JsonObject } from "../core/json.ts";
import type { Machine } from "../core/machine.ts";
import { nearest } from "../core/nearest.ts";
import { hasTag, matches } from "../core/query.ts";
import type { State } from "../core/state.ts";
import type { AnyMachine } from "../runtime/registry.ts";
import type { RunStatus } from "../store/records.ts";
import { type Difference, mismatches } from "./match.ts";
import type { JournalStep, Reflection } from "./mirror.ts";
import { describePending, describeSteps, showShort } from "./report.ts";
import type { Call } from "./world.ts";

/**
 * What may be expected of a run. Of objects only what is named is compared, all the way down; a function says itself
 * whether it likes a value, and the matchers of test runners work.
 */
export interface Expected<Context = JsonObject> {
  /** Another run than the one started last, by its id. */
  readonly run?: string;
  /** States that must be active, by their paths. */
  readonly state?: string | readonly string[];
  readonly status?: RunStatus;
  readonly context?: Matching<Context>;
  readonly output?: unknown;
  readonly reason?: unknown;
  /** Tags that active states must carry. */
  readonly tags?: readonly string[];
  readonly pending?: ExpectedPending;
}

/** Exactly what the run waits for, in any order. */
export interface ExpectedPending {
  /** By the id or the type of the event they send. */
  readonly timers?: readonly string[];
  readonly activities?: readonly string[];
  /** By the name of their machine. */
  readonly children?: readonly string[];
  /** By the type of the event. */
  readonly deferred?: readonly string[];
}

/** As much of a value as somebody cares to name, or a function that judges it. */
export type Matching<Value> =
  | ((value: Value) => boolean)
  | (Value extends readonly unknown[]
      ? Value
      : Value extends object
        ? { readonly [Key in keyof Value]?: Matching<Value[Key]> }
        : Value);

/** What an expectation is measured against. */
export interface Evidence {
  readonly reflection: Reflection;
  readonly machine: AnyMachine | undefined;
  readonly calls: readonly Call[];
  readonly now: number;
}

/** Throws an AssertionError that says all that is wrong, and what happened last. */
export function expectRun(expected: string | Expected, evidence: Evidence): void {
  const wanted: Expected = typeof expected === "string" ? { state: expected } : expected;
  const { reflection, machine } = evidence;
  const { state, head } = reflection;
  const paths = wanted.state === undefined ? [] : [wanted.state].flat();
  if (machine !== undefined) for (const path of paths) checkState(path, machine);
  const wrong: Difference[] = [
    ...paths
      .filter((path) => !isActive(state, path, machine))
      .map((path) => ({ path: "state", expected: path, actual: state.configuration.join(", ") })),
    ...(wanted.status === undefined ? [] : mismatches(wanted.status, head.status, "status")),
    ...("context" in wanted ? mismatches(wanted.context, state.context, "context") : []),
    ...("output" in wanted ? mismatches(wanted.output, state.output, "output") : []),
    ...("reason" in wanted ? mismatches(wanted.reason, state.reason, "reason") : []),
    ...missingTags(wanted.tags ?? [], evidence),
    ...pendingMismatches(wanted.pending ?? {}, state),
  ];
  if (wrong.length === 0) return;
  const [first] = wrong as [Difference];
  const title =
    wrong.length === 1 && first.path === "state"
      ? `Expected the run ${JSON.stringify(head.run)} to be in ${JSON.stringify(first.expected)}, but it is in ${JSON.stringify(first.actual)}`
      : `The run ${JSON.stringify(head.run)} is not as expected`;
  const lines = wrong.flatMap(({ path, expected: one, actual }) => [
    `  ${path}`,
    `    expected ${showShort(one)}`,
    `    actual   ${showShort(actual)}`,
  ]);
  throw assertion([`${title}:`, ...lines, "", ...describeRun(evidence)].join("\n"), wrong);
}

/** The run's last steps and what it waits for. */
export function describeRun({ reflection, calls, now }: Evidence): string[] {
  return [...describeSteps(reflection), ...describePending(reflection, calls, now)];
}

function isActive(state: State, path: string, machine: AnyMachine | undefined): boolean {
  const node = path.startsWith("#") && machine !== undefined ? findNode(machine.chart, path) : undefined;
  return matches(state, node?.path ?? path);
}

function checkState(path: string, { chart, id }: AnyMachine): void {
  if (findNode(chart, path) !== undefined) return;
  const paths = [...chart.byPath.keys()].filter((one) => one !== "");
  const meant = paths.find((one) => one.endsWith(`.${path}`)) ?? nearest(path, paths);
  const hint =
    meant === undefined ? `; it has ${paths.join(", ")}` : `; did you mean ${JSON.stringify(meant)}?`;
  throw assertion(`The machine ${JSON.stringify(id)} has no state ${JSON.stringify(path)}${hint}`, []);
}

function missingTags(tags: readonly string[], { reflection, machine }: Evidence): Difference[] {
  if (machine === undefined) return [];
  const { state } = reflection;
  return tags
    .filter((tag) => !hasTag(machine as unknown as Machine, state, tag))
    .map((tag) => ({ path: "tags", expected: tag, actual: `none of ${state.configuration.join(", ")}` }));
}

/** The names of what a run waits for. */
export function pendingOf(state: State): Required<ExpectedPending> {
  return {
    timers: state.timers.map(({ id, event }) => id ?? event.type).sort(),
    activities: state.activities.map(({ activity }) => activity).sort(),
    children: state.children.map(({ machine }) => machine).sort(),
    deferred: state.deferred.map(({ type }) => type).sort(),
  };
}

function pendingMismatches(expected: ExpectedPending, state: State): Difference[] {
  const actual = pendingOf(state);
  return (Object.keys(expected) as (keyof ExpectedPending)[]).flatMap((kind) =>
    mismatches([...(expected[kind] ?? [])].sort(), actual[kind], `pending.${kind}`).length === 0
      ? []
      : [{ path: `pending.${kind}`, expected: expected[kind], actual: actual[kind] }],
  );
}

/** Throws unless an activity was called so often, or with these inputs in this order. */
export function expectCalls(
  activity: string,
  expected: number | readonly unknown[],
  calls: readonly Call[],
  known: readonly string[],
): readonly Call[] {
  if (!known.includes(activity)) {
    const meant = nearest(activity, known);
    const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
    throw assertion(`There is no script for the activity ${JSON.stringify(activity)}${hint}`, []);
  }
  const made = calls.filter((call) => call.activity === activity);
  const inputs = made.map(({ input }) => input);
  const wrong =
    typeof expected === "number"
      ? mismatches(expected, made.length, "calls")
      : mismatches(expected, inputs, "inputs");
  if (wrong.length === 0) return made;
  const wanted = typeof expected === "number" ? expected : expected.length;
  const lines = made.map(
    ({ input, attempt, outcome, key }) =>
      `  ${activity}(${input === undefined ? "" : showShort(input)})  attempt ${attempt}, ${outcome}, key ${key}`,
  );
  const title = `Expected ${times(wanted)} of ${JSON.stringify(activity)}${typeof expected === "number" ? "" : " with these inputs"}, and there ${made.length === 1 ? "was" : "were"} ${times(made.length)}`;
  throw assertion([made.length === 0 ? title : `${title}:`, ...lines].join("\n"), wrong);
}

function times(count: number): string {
  return count === 1 ? "1 call" : `${count} calls`;
}

/** What may be expected of a step. */
export interface ExpectedStep {
  readonly outcome?: JournalStep["outcome"];
  readonly data?: unknown;
  /** The code of the error it was refused with. */
  readonly error?: string;
}

/** The last step of this event that is as expected; throws if there is none. */
export function expectEvent(type: string, expected: ExpectedStep, evidence: Evidence): JournalStep {
  const { journal, head } = evidence.reflection;
  const ofType = journal.filter(({ event }) => event.type === type);
  const wrongs = ofType.map(({ outcome, event, error }) => [
    ...("outcome" in expected ? mismatches(expected.outcome, outcome, "outcome") : []),
    ...("data" in expected ? mismatches(expected.data, event.data, "data") : []),
    ...("error" in expected ? mismatches(expected.error, error?.code, "error.code") : []),
  ]);
  const found = ofType.findLast((_, index) => wrongs[index]?.length === 0);
  if (found !== undefined) return found;
  const meant = nearest(
    type,
    journal.map(({ event }) => event.type),
  );
  const hint = meant === undefined ? "" : `; did you mean ${JSON.stringify(meant)}?`;
  const title =
    ofType.length === 0
      ? `The run ${JSON.stringify(head.run)} took no event ${JSON.stringify(type)}${hint}`
      : `The run ${JSON.stringify(head.run)} took ${JSON.stringify(type)}, but not as expected ${showShort(expected)}`;
  throw assertion([title, "", ...describeRun(evidence)].join("\n"), wrongs.at(-1) ?? []);
}

/** An error that every test runner knows how to show. */
export function assertion(message: string, wrong: readonly Difference[]): AssertionError {
  const side = (which: "expected" | "actual") =>
    wrong.length === 1
      ? wrong[0]?.[which]
      : Object.fromEntries(wrong.map((difference) => [difference.path, difference[which]]));
  return new AssertionError({
    message,
    ...(wrong.length === 0 ? undefined : { expected: side("expected"), actual: side("actual") }),
    operator: "expect",
  });
}
