/** What a process that runs machines tells of them: lines of JSON beside its notes, and spans for whoever has set up OpenTelemetry. */
import { type Command, Option } from "commander";
import { pino } from "pino";
import type { Observer, Problem } from "../runtime/observer.ts";
import type { RuntimeOptions } from "../runtime/run.ts";
import { logs } from "../telemetry/logs.ts";
import { type Given, misused } from "./arguments.ts";
import { describe, type Terminal } from "./terminal.ts";
import { version } from "./version.ts";
import type { World } from "./world.ts";

const logLevels = ["debug", "info", "warn", "error", "off"] as const;

/** What a process was told to tell. */
export interface TelemetryArguments {
  readonly log: (typeof logLevels)[number];
  readonly trace: boolean;
}

/** Whom a runtime tells what happens in it. */
export type Telling = Pick<RuntimeOptions, "observers" | "onProblem">;

export function addTelemetryOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--log <level>",
        "writes a line of JSON to stderr for every step, attempt and problem; the variable HOLDFAST_LOG unless given, or off",
      ).choices(logLevels),
    )
    .option("--trace", "makes spans of steps and attempts; NODE_OPTIONS=--import=… sets OpenTelemetry up");
}

export function telemetryOf(given: Given, { env }: Pick<World, "env">): TelemetryArguments {
  const text = (given.log as string | undefined) ?? (env.HOLDFAST_LOG || "off");
  const log = logLevels.find((level) => level === text);
  if (log === undefined)
    throw misused(`HOLDFAST_LOG is ${JSON.stringify(text)}; write one of ${logLevels.join(", ")}`);
  return { log, trace: given.trace === true };
}

/** The options with which another process tells the same. */
export const asOptions = ({ log, trace }: TelemetryArguments): string[] => [
  ...["--log", log],
  ...(trace ? ["--trace"] : []),
];

export async function tellingOf({ log, trace }: TelemetryArguments, terminal: Terminal): Promise<Telling> {
  const observers: Observer[] = trace ? [await tracing()] : [];
  if (log === "off") return { observers, onProblem: noteWith(terminal) };
  // A problem that is logged is not told a second time in other words.
  const write = (line: string) => terminal.note(line.trimEnd());
  return { observers: [...observers, logs(pino({ level: log, base: { pid: process.pid } }, { write }))] };
}

/** Notes problems in one line each. */
export const noteWith =
  (terminal: Terminal) =>
  ({ tenant, run, error }: Problem): void =>
    terminal.note(`run ${run} of ${tenant}: ${describe(error)}`);

async function tracing(): Promise<Observer> {
  try {
    const [{ trace }, { traces }] = await Promise.all([
      import("@opentelemetry/api"),
      import("../telemetry/traces.ts"),
    ]);
    return traces(trace.getTracer("holdfast", version));
  } catch (error) {
    throw misused(`--trace needs OpenTelemetry's API: npm install @opentelemetry/api (${describe(error)})`);
  }
}
