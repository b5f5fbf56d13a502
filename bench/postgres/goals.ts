/** What Holdfast is held to on PostgreSQL: each goal with its figure and whether it is met. */
import type { Results } from "../durable/results.ts";

interface Goal {
  readonly what: string;
  /** The figure, or undefined where it was not measured. */
  readonly figure: (results: Results) => number | undefined;
  readonly unit: "×" | "%" | "statements" | "ms";
  readonly atLeast?: number;
  readonly atMost?: number;
}

const speed =
  (workload: string, peer: string): Goal["figure"] =>
  (results) =>
    results.ratio(`${workload}.perSecond`, "holdfast", peer);

const goals: readonly Goal[] = [
  { what: "sequential / raw, single", figure: speed("sequential", "raw, single"), unit: "%", atLeast: 0.8 },
  { what: "many runs / raw, grouped", figure: speed("many", "raw, grouped"), unit: "%", atLeast: 0.5 },
  {
    what: "many runs / graphile, batched",
    figure: speed("many", "graphile, batched"),
    unit: "%",
    atLeast: 0.5,
  },
  { what: "many runs / dbos", figure: speed("many", "dbos"), unit: "×", atLeast: 10 },
  { what: "many runs / langgraph", figure: speed("many", "langgraph"), unit: "×", atLeast: 20 },
  { what: "many runs / restate", figure: speed("many", "restate"), unit: "×", atLeast: 3 },
  {
    what: "statements for a commit, one run",
    figure: (results) => results.median("holdfast", "sequential.statements"),
    unit: "statements",
    // A lease is renewed now and then.
    atMost: 1.05,
  },
  {
    what: "statements for a step, many runs",
    figure: (results) => results.median("holdfast", "many.statements"),
    unit: "statements",
    atMost: 0.1,
  },
  {
    what: "recovery of all runs of a killed member",
    figure: (results) => results.median("holdfast", "recovery.allMs"),
    unit: "ms",
    atMost: 5_000,
  },
];

/** One line for each goal: what, the figure, the goal, and PASS or miss. */
export function judge(results: Results): string[][] {
  return goals.map(({ what, figure, unit, atLeast, atMost }) => {
    const value = figure(results);
    const goal = atLeast === undefined ? `≤ ${show(atMost as number, unit)}` : `≥ ${show(atLeast, unit)}`;
    if (value === undefined) return [what, "not measured", goal, ""];
    const met = (atLeast === undefined || value >= atLeast) && (atMost === undefined || value <= atMost);
    return [what, show(value, unit), goal, met ? "PASS" : "miss"];
  });
}

function show(value: number, unit: Goal["unit"]): string {
  if (unit === "%") return `${Math.round(value * 100)} %`;
  if (unit === "ms") return `${Math.round(value).toLocaleString("en")} ms`;
  return unit === "×" ? `${value.toFixed(1)}×` : value.toFixed(3);
}
