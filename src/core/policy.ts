/** Policies a definition declares, checked and made ready to ask. */
import type { Chart, TransitionNode } from "./chart.ts";
import type { Compiler, Parts } from "./compiler.ts";
import type { WritePolicy } from "./definition.ts";
import { durationMs } from "./duration.ts";
import { isObject } from "./json.ts";
import { inside, messageOf, type Reporter, show } from "./problem.ts";
import { partsAt } from "./shape.ts";
import type { Due } from "./timer.ts";

/** Exact keys before prefixes, longer prefixes before shorter ones, `*` last. */
export function specificity(descriptor: string): number {
  if (descriptor === "*") return 0;
  return descriptor.endsWith(".*") ? descriptor.length : Number.MAX_SAFE_INTEGER;
}

/** Which event goes first, by descriptor: the most specific first. */
export function prioritiesOf(
  declared: readonly (readonly [descriptor: string, priority: unknown])[],
  report: Reporter,
): Chart["priorities"] {
  for (const [descriptor, priority] of declared)
    if (!Number.isFinite(priority)) report.problem(inside("priorities", descriptor), "must be a number");
  const priorities = declared as Chart["priorities"];
  return priorities.toSorted(([one], [other]) => specificity(other) - specificity(one));
}

/** Whatever a handler is written under, the most specific comes first: `*` must not swallow what `after` waits for. */
export function sortBySpecificity(transitions: TransitionNode[]): void {
  const rank = ({ descriptors: [only] }: TransitionNode) => specificity(only as string);
  transitions.sort((one, other) => rank(other) - rank(one));
}

/** Who wins when regions contradict each other, by the path they wrote: the longest prefix declared decides. */
export function writePolicy(
  declared: unknown,
  place: string,
  report: Reporter,
): (path: string) => WritePolicy {
  const policies = (isObject(declared) ? declared : { "": declared ?? "reject" }) as Record<
    string,
    WritePolicy
  >;
  for (const policy of Object.values(policies)) {
    if (policy !== "reject" && policy !== "last" && policy !== "first")
      report.problem(place, `has the policy ${show(policy)}`, "write reject, last or first");
  }
  const prefixes = Object.entries(policies).sort(([one], [other]) => other.length - one.length);
  const covers = (prefix: string, path: string) =>
    prefix === "" || path === prefix || path.startsWith(`${prefix}.`);
  return (path) => prefixes.find(([prefix]) => covers(prefix, path))?.[1] ?? "reject";
}

/** What becomes of events that nothing takes: those the machine knows, and the others. */
export function unhandledPolicy(declared: unknown, compiler: Compiler): Chart["unhandled"] {
  const parts =
    isObject(declared) || declared === undefined ? (declared ?? {}) : { known: declared, unknown: declared };
  const { known = "ignore", unknown = "reject" } = partsAt(compiler, parts, "unhandled", "unhandled");
  for (const [key, value] of Object.entries({ known, unknown })) {
    if (value !== "ignore" && value !== "defer" && value !== "reject")
      compiler.problem(`unhandled.${key}`, `is ${show(value)}`, "write ignore, defer or reject");
  }
  return { known, unknown } as Chart["unhandled"];
}

/** What outages do to a timer; `delayed` is whether there is one. */
export function resumePolicy(
  declared: unknown,
  place: string,
  delayed: boolean,
  report: Reporter,
): Due["resume"] {
  if (declared === undefined) return undefined;
  if (!delayed) report.problem(place, "needs a delay: without one there is no timer to resume");
  if (declared === "remaining" || declared === "restart") return declared;
  if (declared !== "deadline")
    report.problem(place, `is ${show(declared)}`, "write deadline, remaining or restart");
  return undefined;
}

/** The one policy of a timer that several transitions wait for. */
export function sharedResumePolicy(
  transitions: readonly unknown[],
  place: string,
  report: Reporter,
): Due["resume"] {
  const declared = transitions
    .map((one) => (isObject(one) ? one.resume : undefined))
    .filter((one) => one !== undefined);
  if (new Set(declared).size > 1)
    report.problem(
      place,
      `cannot be ${declared.map(show).join(" and ")} at once: there is one timer for them`,
    );
  return resumePolicy(declared[0], place, true, report);
}

/** The milliseconds of a constant duration; reports one that is none. */
export function constantMs(given: unknown, place: string, report: Reporter): number | undefined {
  try {
    return durationMs(given);
  } catch (error) {
    report.problem(place, messageOf(error));
    return undefined;
  }
}

const boundKeys = ["steps", "time", "tokens", "cost"];

/** Reports limits that bound nothing: unknown ones, and what is not above zero. */
export function checkLimits(declared: unknown, report: Reporter): void {
  if (declared !== undefined && !isObject(declared))
    report.problem("limits", `is ${show(declared)}`, `write { ${boundKeys.join(", ")} }`);
  else for (const [key, bound] of Object.entries(declared ?? {})) checkLimit(key, bound, report);
}

function checkLimit(key: string, given: unknown, report: Reporter): void {
  const place = inside("limits", key);
  if (!boundKeys.includes(key)) {
    report.problem(place, "is no limit", `there are ${boundKeys.join(", ")}`);
    return;
  }
  const bound = key === "time" ? constantMs(given, place, report) : given;
  const bounds = typeof bound === "number" && Number.isFinite(bound) && bound > 0;
  if (!bounds && bound !== undefined) report.problem(place, `is ${show(given)}`, "it must be above zero");
}

/** Reports a checkpoint policy that is none. */
export function checkCheckpoint(declared: unknown, report: Reporter): void {
  if (declared === undefined || declared === "step" || declared === "manual") return;
  const { every, when, ...others } = isObject(declared) ? (declared as Parts) : ({} as Parts);
  const counts = when === undefined && Number.isSafeInteger(every) && (every as number) > 0;
  const asks = every === undefined && typeof when === "function";
  if ((!counts && !asks) || Object.keys(others).length > 0)
    report.problem(
      "checkpoint",
      `is ${show(declared)}`,
      "write step, manual, { every: a whole number above zero } or { when: a function }",
    );
}
