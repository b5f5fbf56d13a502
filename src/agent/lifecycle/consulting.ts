/**
 * Planners and critics that are models with tools: they look things up, apart from the conversation, before they say what they
 * were asked for. Their calls are activities as those of the agent's own model are: in the journal, each with a key, in the log.
 *
 * P1. What they say and are told stands in `aside` while they are at it, and is gone when they are done or not wanted any more;
 *     the thread has none of it.
 * P2. They come to an end: the last time they may be asked, they are offered no tools; and a turn's budget ends them.
 */
import type { SettledEvent, TransitionParts } from "../../core/definition.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { addItem } from "../pages.ts";
import type { CallPart, Message, Part, ResultPart } from "../thread/message.ts";
import { acting, type ToolGroup } from "./acting.ts";
import type { AgentContext, Budget, CallEnd, CallRecord, Changing, PendingCall } from "./context.ts";
import type { AgentEvent, Definition } from "./event.ts";
import { charge, type Spending } from "./spending.ts";
import { fail, overspent } from "./turn.ts";

/** What a planner or critic gives back that wants to look something up first. */
export interface LookingUp extends Spending {
  readonly lookUp: { readonly parts: readonly Part[]; readonly metadata?: JsonObject };
}

export const isLookingUp = (data: unknown): data is LookingUp =>
  typeof data === "object" && data !== null && "lookUp" in data;

/** Whose tools these are. */
export type Consulted = "plan" | "reflect";

/** The activity that calls a tool of theirs. */
export const callName = (who: Consulted): string => `${who}Call`;

interface Consultation {
  readonly who: Consulted;
  readonly groups: readonly ToolGroup[];
  readonly parallel: number;
  readonly budget: Budget;
  readonly retry: Json;
  readonly fails: TransitionParts<AgentContext, never>;
  readonly onDone: readonly TransitionParts<AgentContext, SettledEvent>[];
}

/** The state in which a planner or critic is asked, as often as it takes. */
export function consulting({ who, groups, onDone, ...parts }: Consultation): Definition {
  const { parallel, budget, retry, fails } = parts;
  const invoke = { ...{ id: who, activity: who, retry }, onError: fails };
  if (groups.length === 0) return { invoke: { ...invoke, onDone } } as unknown as Definition;
  const looking: TransitionParts<AgentContext, SettledEvent> = {
    guard: ({ event }) => isLookingUp(event.data),
    target: "looking",
    update: (draft, { event, at }) => keepLookUp(draft, event.data as unknown as LookingUp, { groups, at }),
  };
  // A step of the turn is a thought of the agent's own model: those are counted where it thinks.
  const { steps: _, ...spending } = budget;
  const ends: TransitionParts<AgentContext, AgentEvent> = {
    guard: ({ context }) => overspent(context.turn, spending) !== undefined,
    target: "#error",
    update: (draft, { at }) => fail(draft, overspent(draft.turn, spending) as JsonObject, at),
  };
  return {
    initial: "weighing",
    exit: { update: (draft: Changing, { at }: { at: number }) => closeAside(draft, at) },
    states: {
      weighing: { always: [ends, { target: "asking" }] },
      asking: { invoke: { ...invoke, onDone: [looking, ...onDone] } },
      looking: acting({
        ...{ groups, parallel, fails, activity: callName(who), onDone: "weighing" },
        callsOf: ({ aside }) => aside?.calls ?? [],
        keep: keepFound,
      }),
    },
  } as unknown as Definition;
}

/** What it wants to look up is to be called; what nobody can do has its result at once. */
function keepLookUp(
  draft: Changing,
  { lookUp: { parts, metadata }, ...spending }: LookingUp,
  { groups, at }: { groups: readonly ToolGroup[]; at: number },
): void {
  charge(draft, spending);
  const { messages = [] } = draft.aside ?? {};
  const id = String(messages.length);
  const calls = parts.flatMap((part): PendingCall[] => (part.type === "call" ? [pendingOf(part, at)] : []));
  const said: Message = { id, role: "assistant", at, parts, ...(metadata && { metadata }) };
  draft.aside = { messages: [...messages, said], calls } as Changing["aside"] & object;
  draft.callsAt = at;
  const unknown = calls.filter(({ tool }) => !groups.some(({ tools }) => tools.has(tool)));
  const error = ({ tool }: PendingCall) => `There is no tool ${JSON.stringify(tool)}.`;
  keepFound(draft, new Map(unknown.map((call) => [call.id, { status: "failed", error: error(call) }])), at);
}

const pendingOf = ({ id, tool, input }: CallPart, askedAt: number): PendingCall => ({
  ...{ id, tool, input, askedAt, decision: "free" },
});

/** These calls have come out: whoever asked for them is told, and the log has them. */
function keepFound(draft: Changing, ends: ReadonlyMap<string, CallEnd>, at: number): void {
  const { aside } = draft;
  if (aside === undefined || ends.size === 0) return;
  const results: ResultPart[] = [];
  for (const call of aside.calls as readonly PendingCall[]) {
    const end = ends.get(call.id);
    if (end === undefined) continue;
    const isDone = end.status === "done";
    const output = isDone ? end.output : end.error;
    results.push({
      ...{ type: "result", call: call.id, tool: call.tool, output },
      ...(isDone ? {} : { isError: true }),
    });
    const timed = isDone ? end : { startedAt: draft.callsAt, ms: at - draft.callsAt, attempt: 1 };
    addItem(draft.log, recordOf(call, { ...timed, status: end.status, output }));
    draft.advised ||= isDone;
  }
  const told: Message = { id: `${aside.messages.length}`, role: "tool", at, parts: results };
  aside.messages.push(told as never);
  aside.calls = aside.calls.filter(({ id }) => !ends.has(id));
}

type Ended = Pick<CallRecord, "status" | "startedAt" | "ms" | "attempt"> & { readonly output: Json };

const recordOf = (
  { id, tool, input }: PendingCall,
  { status, startedAt, ms, attempt, output }: Ended,
): CallRecord => ({ call: id, status, startedAt, ms, attempt, of: { tool, input, output } });

/** Nobody wants to know any more (P1): of what is being called nothing is known. */
function closeAside(draft: Changing, at: number): void {
  const { callsAt: startedAt, aside } = draft;
  for (const call of (aside?.calls ?? []) as readonly PendingCall[])
    addItem(
      draft.log,
      recordOf(call, { ...{ status: "unknown", startedAt, ms: at - startedAt, attempt: 1 }, output: null }),
    );
  delete draft.aside;
}
