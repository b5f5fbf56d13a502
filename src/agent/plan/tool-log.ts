/**
 * The log of tool calls: what was called with what, what came of it and how long it took, as plain JSON. Calls are added at
 * the end and ended in their place, by functions on a draft; nothing is ever taken out, so that it can be gone through.
 */
import type { Draft } from "../../core/definition.ts";
import { type Json, put } from "../../core/json.ts";
import { show } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import { cut } from "./cut.ts";
import type { TaskError } from "./plan.ts";

export type CallStatus = "running" | "done" | "failed" | "unknown";

export interface ToolCall {
  /** Unique in its log; the id of the call's message part, where there is one. */
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
  readonly status: CallStatus;
  readonly output?: Json;
  readonly error?: TaskError;
  readonly startedAt: number;
  /** How long it took. */
  readonly ms?: number;
  /** The last attempt there was; 1 is the first. */
  readonly attempt: number;
}

export interface ToolLog {
  /** In the order they began. */
  readonly calls: readonly ToolCall[];
  /** Where in `calls` those are that have not ended, by their ids: so that a long log is not searched. */
  readonly open: Readonly<Record<string, number>>;
}

/** A log without calls. */
export const emptyLog: ToolLog = Object.freeze({ calls: Object.freeze([]), open: Object.freeze({}) });

/** What came of a call: its output, its error, or that nobody knows. */
export type CallEnd = { readonly output: Json } | { readonly error: TaskError } | { readonly unknown: true };

/** A tool is called. */
export function logCall(
  log: Draft<ToolLog>,
  call: Pick<ToolCall, "id" | "tool" | "input"> & { readonly at: number; readonly attempt?: number },
): void {
  const { id, tool, input, at, attempt = 1 } = call;
  if (Object.hasOwn(log.open, id)) throw refused(id, "is under way already; give each call an id of its own");
  put(log.open, id, log.calls.length);
  log.calls.push({ id, tool, input, status: "running", startedAt: at, attempt });
}

/** A call that is under way is tried once more. */
export function logAttempt(log: Draft<ToolLog>, id: string, attempt: number): void {
  running(log, id).attempt = attempt;
}

/** A call has ended. */
export function logEnd(log: Draft<ToolLog>, id: string, end: CallEnd & { readonly at: number }): void {
  const call = running(log, id);
  delete log.open[id];
  call.ms = end.at - call.startedAt;
  if ("output" in end) {
    call.status = "done";
    call.output = end.output;
  } else if ("error" in end) {
    call.status = "failed";
    call.error = end.error;
  } else call.status = "unknown";
}

function running(log: Draft<ToolLog>, id: string): Draft<ToolCall> {
  if (Object.hasOwn(log.open, id)) return log.calls[log.open[id] as number] as Draft<ToolCall>;
  throw refused(id, "is not under way; log it when it begins, and its end once");
}

function refused(id: string, why: string): HoldfastError {
  return new HoldfastError("CALL_REFUSED", `The tool call ${show(id)} ${why}`, { details: { call: id } });
}

export interface ObservationOptions {
  /** How long it may be; 2,000 characters unless given. */
  readonly maxChars?: number;
}

/** A call as a model reads it: what was done, and what was seen. */
export function renderObservation(call: ToolCall, { maxChars = 2_000 }: ObservationOptions = {}): string {
  const { tool, input, status, ms, attempt } = call;
  const took = [...(ms === undefined ? [] : [`${ms} ms`]), ...(attempt > 1 ? [`attempt ${attempt}`] : [])];
  const beside = took.length === 0 ? "" : ` (${took.join(", ")})`;
  // What was asked for is short beside what came of it, or should be.
  const asked = cut(`${tool}(${input === null ? "" : JSON.stringify(input)})`, Math.ceil(maxChars / 3));
  const head = `${asked} ${seen[status]}${beside}`;
  const told = toldOf(call);
  return cut(told === undefined ? head : `${head}: ${cut(told, maxChars - head.length - 2)}`, maxChars);
}

const seen: Readonly<Record<CallStatus, string>> = {
  running: "is under way",
  done: "gave",
  failed: "failed",
  unknown: "may or may not have happened",
};

function toldOf({ output, error }: ToolCall): string | undefined {
  if (error !== undefined) return error.message;
  return output === undefined || typeof output === "string" ? output : JSON.stringify(output);
}

/** The newest calls as a model reads them, one a line and the oldest first, as many as fit; a line says how many went before. */
export function renderLog(
  { calls }: ToolLog,
  {
    maxChars = 8_000,
    maxCharsPerCall = 1_000,
  }: ObservationOptions & { readonly maxCharsPerCall?: number } = {},
): string {
  const lines: string[] = [];
  const before = (count: number) => (count === 0 ? "" : `(${count} earlier calls)\n`);
  let left = maxChars;
  for (const call of calls.toReversed()) {
    const line = renderObservation(call, { maxChars: maxCharsPerCall }).replaceAll("\n", " ");
    if (line.length + 1 > left - before(calls.length).length) break;
    left -= line.length + 1;
    lines.unshift(line);
  }
  return cut(before(calls.length - lines.length) + lines.join("\n"), maxChars);
}
