/** The log of an agent's calls, put together from its thread, which has what was asked and given, and from what was timed. */
import { itemsOf } from "../pages.ts";
import type { ToolCall, ToolLog } from "../plan/tool-log.ts";
import { lineageOf } from "../thread/lineage.ts";
import type { CallPart, ResultPart } from "../thread/message.ts";
import type { Entry, Thread } from "../thread/thread.ts";
import type { AgentContext, CallRecord } from "./context.ts";

/** Every call that has come out, in that order; `renderLog` shows it to a model or a person. */
export function toolLogOf({ thread, log }: Pick<AgentContext, "thread" | "log">): ToolLog {
  const { entries } = lineageOf(thread);
  const parts = entries.flatMap((message) => message.parts);
  const results = new Map(
    parts.flatMap((part) => (part.type === "result" ? [[part.call, part] as const] : [])),
  );
  return { calls: itemsOf(log).map((record) => callOf(thread, results, record)), open: {} };
}

function callOf(thread: Thread, results: ReadonlyMap<string, ResultPart>, record: CallRecord): ToolCall {
  const { call: id, status, startedAt, ms, attempt } = record;
  const call = record.of ?? callOfId(thread, id);
  const output = record.of?.output ?? results.get(id)?.output ?? null;
  const timed = { id, tool: call.tool, input: call.input, startedAt, ms, attempt };
  if (status === "done") return { ...timed, status, output };
  if (status === "unknown") return { ...timed, status };
  return {
    ...timed,
    status: "failed",
    error: { message: typeof output === "string" ? output : JSON.stringify(output) },
  };
}

/** The call of an id, as the model made it. */
export function callOfId(thread: Thread, id: string): CallPart {
  const { byCall, entries } = lineageOf(thread);
  const { parts } = entries[byCall.get(id) as number] as Entry;
  return parts.find((part) => part.type === "call" && part.id === id) as CallPart;
}
