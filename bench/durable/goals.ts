/** What Holdfast is held to: each goal with its figure and whether it is met. */
import type { Results } from "./results.ts";

interface Goal {
  readonly what: string;
  /** The figure, or undefined where it was not measured. */
  readonly figure: (results: Results) => number | undefined;
  readonly unit: "×" | "%" | "bytes";
  readonly atLeast?: number;
  readonly atMost?: number;
  /** Beyond the goal: nobody is held to it. */
  readonly dream?: number;
}

/** A run that costs nothing, as far as a heap can be weighed. */
const nothingBytes = 16;

const goals: readonly Goal[] = [
  { what: "sequential / raw", figure: speed("sequential", "raw"), unit: "%", atLeast: 0.8 },
  { what: "sequential / langgraph", figure: speed("sequential", "langgraph"), unit: "×", atLeast: 4 },
  { what: "conversation: last 100 / first 100 steps", figure: growth, unit: "×", atMost: 1.2 },
  { what: "conversation: bytes on disk / content", figure: overhead, unit: "×", atMost: 3 },
  {
    what: "conversation: speed at the last 100 messages / langgraph",
    figure: (results) => inverse(results.ratio("conversation.lastMs", "holdfast", "langgraph")),
    unit: "×",
    atLeast: 15,
  },
  { what: "many runs / langgraph", figure: speed("many", "langgraph"), unit: "×", atLeast: 20, dream: 30 },
  { what: "many runs / raw, grouped", figure: speed("many", "raw"), unit: "%", atLeast: 0.4, dream: 0.6 },
  {
    what: "cold resume / raw",
    figure: (results) => results.ratio("resume.ms", "holdfast", "raw"),
    unit: "×",
    atMost: 2,
  },
  {
    what: "memory of a parked run",
    figure: (results) => results.median("holdfast", "memory.parked"),
    unit: "bytes",
    atMost: nothingBytes,
  },
  {
    what: "memory of a hydrated run beyond its context",
    figure: (results) => beyondContext(results, "holdfast"),
    unit: "bytes",
    atMost: 1_023,
  },
];

function speed(workload: string, peer: string): Goal["figure"] {
  return (results) => results.ratio(`${workload}.perSecond`, "holdfast", peer);
}

function growth(results: Results): number | undefined {
  return results.median("holdfast", "conversation.growth");
}

function overhead(results: Results): number | undefined {
  return results.median("holdfast", "conversation.overhead");
}

function inverse(value: number | undefined): number | undefined {
  return value === undefined ? undefined : 1 / value;
}

/** What a contestant holds for a run besides what raw holds, which is the run's parsed context and nothing else. */
export function beyondContext(results: Results, contestant: string): number | undefined {
  const whole = results.median(contestant, "memory.hydrated");
  const context = results.median("raw", "memory.hydrated");
  return whole === undefined || context === undefined ? undefined : whole - context;
}

/** One line for each goal: what, the figure, the goal, and PASS or miss. */
export function judge(results: Results): string[][] {
  return goals.map(({ what, figure, unit, atLeast, atMost, dream }) => {
    const value = figure(results);
    const bound = atLeast === undefined ? `≤ ${show(atMost as number, unit)}` : `≥ ${show(atLeast, unit)}`;
    const goal = dream === undefined ? bound : `${bound} (dream ${show(dream, unit)})`;
    if (value === undefined) return [what, "not measured", goal, ""];
    const met = (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
    return [what, show(value, unit), goal, met ? "PASS" : "miss"];
  });
}

function show(value: number, unit: Goal["unit"]): string {
  if (unit === "%") return `${Math.round(value * 100)} %`;
  if (unit === "bytes") return `${Math.round(value).toLocaleString("en")} bytes`;
  return `${value.toFixed(value < 10 ? 2 : 1)}×`;
}
