/** Policies a definition declares, checked and made ready to ask. */
import type { Chart, TransitionNode } from "./chart.ts";
import type { MachineDefinition, UnhandledPolicy, WritePolicy } from "./definition.ts";

interface Reporter {
  problem(path: string, problem: string): void;
}

/** Exact keys before prefixes, longer prefixes before shorter ones, `*` last. */
export function specificity(descriptor: string): number {
  if (descriptor === "*") return 0;
  return descriptor.endsWith(".*") ? descriptor.length : Number.MAX_SAFE_INTEGER;
}

/** Which event goes first, by descriptor: the most specific first. */
export function prioritiesOf(
  declared: MachineDefinition["priorities"],
  report: Reporter,
): Chart["priorities"] {
  const priorities = Object.entries(declared ?? {});
  for (const [descriptor, priority] of priorities) {
    if (!Number.isFinite(priority)) report.problem(`priorities.${descriptor}`, "must be a number");
  }
  return priorities.sort(([one], [other]) => specificity(other) - specificity(one));
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
  const policies = (typeof declared === "object" ? declared : { "": declared ?? "reject" }) as Record<
    string,
    WritePolicy
  >;
  for (const policy of Object.values(policies)) {
    if (policy !== "reject" && policy !== "last" && policy !== "first") {
      report.problem(place, `has the policy ${JSON.stringify(policy)}; write reject, last or first`);
    }
  }
  const prefixes = Object.entries(policies).sort(([one], [other]) => other.length - one.length);
  const covers = (prefix: string, path: string) =>
    prefix === "" || path === prefix || path.startsWith(`${prefix}.`);
  return (path) => prefixes.find(([prefix]) => covers(prefix, path))?.[1] ?? "reject";
}

/** What becomes of events that nothing takes: those the machine knows, and the others. */
export function unhandledPolicy(
  declared: MachineDefinition["unhandled"],
  report: Reporter,
): Chart["unhandled"] {
  const policy: Record<"known" | "unknown", UnhandledPolicy> =
    typeof declared === "string"
      ? { known: declared, unknown: declared }
      : { known: declared?.known ?? "ignore", unknown: declared?.unknown ?? "reject" };
  for (const [key, value] of Object.entries(policy)) {
    if (value !== "ignore" && value !== "defer" && value !== "reject") {
      report.problem(`unhandled.${key}`, `is ${JSON.stringify(value)}; write ignore, defer or reject`);
    }
  }
  return policy;
}
