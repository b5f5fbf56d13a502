/** What a machine is besides a machine: told by its chart, since a run's page wants to know before it reads a state. */
import type { AnyMachine } from "../runtime/registry.ts";
import type { MachineSummary } from "./contract/machines.ts";

type Kind = MachineSummary["kind"];

/** The events that only machines of that kind have all together. */
const signs: readonly (readonly [Exclude<Kind, "machine">, readonly string[]])[] = [
  ["agent", ["say", "decide", "handOver", "close"]],
  ["board", ["write", "lease", "propose", "vote"]],
];

export function kindOf(machine: AnyMachine | undefined): Kind {
  if (machine === undefined) return "machine";
  const { descriptors, byPath } = machine.chart;
  for (const [kind, events] of signs) if (events.every((type) => descriptors.includes(type))) return kind;
  return byPath.has("decomposing") && descriptors.includes("skip") ? "planner" : "machine";
}
