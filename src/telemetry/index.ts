/** Holdfast's entry for logs and traces: re-exports only. */
export { type Logger, logs } from "./logs.ts";
export { type TraceOptions, traceIdOf, traces } from "./traces.ts";
