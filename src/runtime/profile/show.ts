/** Profiles as text: tables for people to read, in a terminal or a report. */
import type { RunProfile } from "./journal.ts";
import { bucketsMs, type HitRate, type Measured } from "./measure.ts";
import type { RuntimeProfile } from "./profiler.ts";

type Table = readonly (readonly string[])[];

/** A profile of a run or of a runtime, as tables. */
export function showProfile(profile: RunProfile | RuntimeProfile): string {
  return "caches" in profile ? showRuntime(profile) : showRun(profile);
}

function showRun({ steps, ms, states, activities }: RunProfile): string {
  const share = (part: number) => (ms === 0 ? "" : `${Math.round((100 * part) / ms)} %`);
  const inStates: Table = [
    ["state", "visits", "steps", "time", "share", "activity", "child", "timer", "event", "parked"],
    ...states.map((one) => {
      const { activity, child, timer, event, parked } = one.waits;
      const waits = [activity, child, timer, event, parked].map((part) => (part === 0 ? "" : showMs(part)));
      return [one.state, `${one.visits}`, `${one.steps}`, showMs(one.ms), share(one.ms), ...waits];
    }),
  ];
  const inActivities: Table = [
    ["activity", "begun", "done", "failed", "cancelled", "attempts", "time", "longest"],
    ...activities.map(({ activity, begun, done, failed, cancelled, attempts, ms: spent, maxMs }) => [
      ...[activity, ...[begun, done, failed, cancelled, attempts].map(String)],
      ...[showMs(spent), showMs(maxMs)],
    ]),
  ];
  const tables = [inStates, inActivities].filter(({ length }) => length > 1).map(columns);
  return [`${steps} steps in ${showMs(ms)}`, ...tables].join("\n\n");
}

function showRuntime({ ms, store, queue, steps, states, activities, caches }: RuntimeProfile): string {
  const titles = [
    "count",
    "total",
    "mean",
    "longest",
    ...bucketsMs.map((until) => `≤ ${showMs(until)}`),
    "more",
  ];
  const rows = (measures: Readonly<Record<string, Measured>>) => Object.entries(measures).map(measureRow);
  const waits: Table = [
    ["where", ...titles],
    ...rows({ "queue of events": queue.events, "queue for slots": queue.slots, steps }),
  ];
  const tables: Table[] = [
    waits,
    [["verb of the store", ...titles], ...rows(store)],
    [["steps in", ...titles], ...rows(states)],
    [["activity", ...titles], ...rows(activities)],
    [
      ["cache", "hits", "misses", "rate"],
      cacheRow("runs", caches.runs),
      cacheRow("contents", caches.contents),
      ...Object.entries(caches.store).map(([name, use]) => cacheRow(name, use)),
    ],
  ];
  return [
    `${showMs(ms)} since it was opened`,
    ...tables.filter(({ length }) => length > 1).map(columns),
  ].join("\n\n");
}

function measureRow([name, { count, totalMs, maxMs, buckets }]: [string, Measured]): string[] {
  const mean = count === 0 ? 0 : totalMs / count;
  return [name, `${count}`, ...[totalMs, mean, maxMs].map(showMs), ...buckets.map((one) => `${one || ""}`)];
}

function cacheRow(name: string, { hits, misses, rate }: HitRate): string[] {
  return [name, `${hits}`, `${misses}`, rate === undefined ? "" : `${(100 * rate).toFixed(1)} %`];
}

const units = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
  { name: "s", ms: 1_000 },
] as const;

/** With three digits that count, in the unit that fits. */
function showMs(ms: number): string {
  const { name, ms: size } = units.find((unit) => ms >= unit.ms) ?? { name: "ms", ms: 1 };
  return `${Number((ms / size).toPrecision(3))} ${name}`;
}

/** The first column to the left, the others to the right. */
function columns(rows: Table): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const cell = (text: string, column: number) =>
    column === 0 ? text.padEnd(widths[0] as number) : text.padStart(widths[column] as number);
  return rows.map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}
