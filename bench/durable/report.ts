/** The tables at the end: what everybody took, what they hold in memory, and how Holdfast stands beside its goals. */
import { columns } from "../process.ts";
import { beyondContext, judge } from "./goals.ts";
import type { Results } from "./results.ts";

type Cell = (results: Results, name: string) => string;

const speedColumns: Readonly<Record<string, Cell>> = {
  sequential: figure("sequential.perSecond"),
  conversation: figure("conversation.perSecond"),
  "first 100 → last 100": (results, name) => {
    const [first, last] = ["firstMs", "lastMs"].map((part) => results.median(name, `conversation.${part}`));
    return first === undefined || last === undefined
      ? nothing
      : `${first.toFixed(0)} → ${last.toFixed(0)} ms`;
  },
  "on disk": figure("conversation.bytes", (bytes) => `${(bytes / 1e6).toFixed(1)} MB`),
  "/ content": figure("conversation.overhead", (times) => `${times.toFixed(1)}×`),
  "many runs": figure("many.perSecond"),
  "cold resume": figure("resume.ms", milliseconds),
  "with import": figure("resume.withImportMs", milliseconds),
};

const costColumns: Readonly<Record<string, Cell>> = {
  "µs of CPU: sequential": figure("sequential.cpuUs"),
  conversation: figure("conversation.cpuUs"),
  "many runs": figure("many.cpuUs", (us) => us.toFixed(1)),
  "syncs: sequential": figure("syncs.sequential", (syncs) => syncs.toFixed(2)),
  "many runs ": figure("syncs.many", (syncs) => syncs.toFixed(3)),
};

const memoryColumns: Readonly<Record<string, Cell>> = {
  "bytes/parked run": figure("memory.parked"),
  "bytes/hydrated run": figure("memory.hydrated"),
  "beyond its context": (results, name) => show(beyondContext(results, name), whole),
};

const nothing = "–";

/** Everything that was measured, as text. */
export function report(results: Results, names: readonly string[]): string {
  const tables = [
    table("steps/s, median", speedColumns, results, names),
    table("per step", costColumns, results, names),
    table("memory", memoryColumns, results, names),
    columns([["holdfast", "measured", "goal", ""], ...judge(results)]),
  ];
  return tables.filter((text) => text !== undefined).join("\n\n");
}

function table(
  title: string,
  cells: Readonly<Record<string, Cell>>,
  results: Results,
  names: readonly string[],
): string | undefined {
  const rows = names.map((name) => [name, ...Object.values(cells).map((cell) => cell(results, name))]);
  if (rows.every(([, ...figures]) => figures.every((text) => text === nothing))) return undefined;
  return columns([[title, ...Object.keys(cells)], ...rows]);
}

function figure(question: string, format: (value: number) => string = whole): Cell {
  return (results, name) => show(results.median(name, question), format);
}

function show(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? nothing : format(value);
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en");
}

function milliseconds(value: number): string {
  return `${value.toFixed(1)} ms`;
}
