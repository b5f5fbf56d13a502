/**
 * What an agent's state tells whoever looks at it: the conversation and its branches, what people are asked and decided, the
 * plan, the calls, what was used up, and what the model saw last. It is made from a run's committed state alone, of any
 * checkpoint, without the agent, and is plain JSON.
 */
import { isObject, type Json } from "../../core/json.ts";
import type { State } from "../../core/state.ts";
import { itemsOf } from "../pages.ts";
import type { Task } from "../plan/plan.ts";
import { bottlenecks, type CriticalPath, criticalPath, type Progress, progress } from "../plan/progress.ts";
import type { ToolCall } from "../plan/tool-log.ts";
import type { Note } from "../plan/working-memory.ts";
import { lineageOf } from "../thread/lineage.ts";
import type { Message } from "../thread/message.ts";
import { branches, newestFirst, type Overlay, type ThreadBranch } from "../thread/thread.ts";
import { labelOf } from "../thread/topics.ts";
import { successorIn } from "./away.ts";
import { decidedOf } from "./calls.ts";
import type { AgentContext, Decided, PendingCall, Turn, TurnEnd, Used } from "./context.ts";
import { callOfId, toolLogOf } from "./log.ts";
import { reportWindow, type WindowReport } from "./report-window.ts";

/** What an agent is doing, or how its last turn ended. */
export type Phase =
  | "idle"
  | "planning"
  | "thinking"
  | "summarising"
  | "acting"
  | "waiting"
  | "reflecting"
  | "stopping"
  | "done"
  | "error"
  | "understanding"
  | "recalling"
  | "away"
  | "handedOver"
  | "closed";

export interface AgentReport {
  readonly agent: string;
  readonly version: number;
  readonly seq: number;
  /** Of the run. */
  readonly status: State["status"];
  readonly phase: Phase;
  /** The turn that is under way, or the last one. */
  readonly turn: Turn;
  /** How the last turn ended; null before that. */
  readonly ended: TurnEnd | null;
  /** What was said and waits for its turn, oldest first. */
  readonly queued: readonly QueuedMessage[];
  readonly thread: ThreadReport;
  readonly approvals: {
    /** What people are asked now. */
    readonly open: readonly OpenApproval[];
    /** What they were asked before, oldest first. */
    readonly decided: readonly DecidedApproval[];
  };
  /** Null while there is none. */
  readonly plan: PlanReport | null;
  /** Every call that came out, in that order, and then those that have not yet. */
  readonly calls: readonly ToolCall[];
  readonly used: Used;
  /** What the model saw when it was asked last; null before that. */
  readonly window: WindowReport | null;
  /** What it was about, in the order it came up; empty where topics are not tracked. */
  readonly topics: readonly TopicReport[];
  /** The run that has the conversation now, null while this one has; one that begins with `/` is this run's id and that. */
  readonly successor: string | null;
}

export interface TopicReport {
  readonly id: number;
  /** In a few words. */
  readonly label: string;
  /** The turns it was talked about in: from and to, from 0 on, both included. */
  readonly stretches: readonly { readonly from: number; readonly to: number }[];
  readonly isCurrent: boolean;
}

export interface QueuedMessage {
  readonly id: string;
  readonly parts: Message["parts"];
}

/** A message with its place. */
export interface ReportedMessage extends Message {
  readonly position: number;
  /** The position of the message it comes after; null for one that begins the conversation. */
  readonly after: number | null;
  /** The positions of what was said in its place on all branches, its own included, oldest first. */
  readonly versions: readonly number[];
}

export interface ThreadReport {
  /** The messages of the branch, oldest first; the newest of them, if it has more than were asked for. */
  readonly messages: readonly ReportedMessage[];
  /** The `head` with which those before them are had; null if there are none. */
  readonly before: number | null;
  /** All branches, the one with the newest message first. */
  readonly branches: readonly ThreadBranch[];
  readonly summaries: readonly Overlay[];
}

/** An event, ready to be sent to the run. */
export interface Answer {
  readonly type: "decide";
  readonly data: { readonly call: string; readonly isApproved: boolean; readonly input?: Json };
}

export interface OpenApproval {
  /** The id of the call, the tool, and what it is to be called with. */
  readonly call: string;
  readonly tool: string;
  readonly input: Json;
  /** The position of the message that asks for it. */
  readonly position: number;
  readonly askedAt: number;
  /** When it is too late to decide; null if it never is. */
  readonly decideBy: number | null;
  /** The events that decide it. Who decides may add `by` and `note`; `edit` is sent with another `input`. */
  readonly answers: { readonly approve: Answer; readonly edit: Answer; readonly reject: Answer };
}

export interface DecidedApproval extends Decided {
  readonly call: string;
  readonly tool: string;
  /** What the model asked for; `input` is what a person made of it, if one did. */
  readonly asked: Json;
  readonly position: number;
}

export interface PlanReport {
  readonly goal: string;
  readonly notes: readonly Note[];
  readonly revision: number;
  readonly tasks: readonly Task[];
  readonly progress: Progress;
  readonly criticalPath: CriticalPath;
  /** The ids of tasks that hold up the plan, the worst first. */
  readonly bottlenecks: readonly string[];
}

export interface ReportOptions {
  /** The position of the message that ends the branch, or the part of it, that is wanted; the one that is going on unless given. */
  readonly head?: number | null;
  /** How many messages at most; 200 unless given. */
  readonly messagesMax?: number;
}

/** What a state tells; undefined if it is not an agent's. */
export function reportOf(state: State<unknown>, options: ReportOptions = {}): AgentReport | undefined {
  if (!isAgents(state as State)) return undefined;
  const { machine, version, seq, status, configuration, context } = state as unknown as State<AgentContext>;
  const { turn, ended, used, seen, thread, topics } = context;
  return {
    ...{ agent: machine, version, seq, status, turn, ended, used },
    phase: phaseOf(configuration),
    queued: [...(context.next ?? []).map(queued), ...queuedIn(state as State)],
    thread: reportThread(context, options),
    approvals: {
      open: openApprovals(state as unknown as State<AgentContext>),
      decided: decidedApprovals(context),
    },
    plan: reportPlan(context),
    calls: [...toolLogOf(context).calls, ...callsUnderWay(context)],
    window: seen === null ? null : reportWindow(thread, seen),
    topics: (topics?.topics ?? []).map((topic) => ({
      ...{ id: topic.id, label: labelOf(topic), stretches: topic.stretches },
      isCurrent: topic.id === topics?.current,
    })),
    successor: successorOf(state as unknown as State<AgentContext>),
  };
}

/** Whether a state is that of an agent, by what is in it. */
function isAgents({ context }: State): boolean {
  if (!isObject(context)) return false;
  const { thread, turn, calls, log, used, working } = context;
  return [thread, turn, used, working].every(isObject) && Array.isArray(calls) && Array.isArray(log);
}

function successorOf(state: State<AgentContext>): string | null {
  const { successor } = state.context;
  if (successor !== "") return successor;
  const key = successorIn(state);
  return key === undefined ? null : `/${key}`;
}

const working: Readonly<Record<string, Phase>> = {
  understanding: "understanding",
  recalling: "recalling",
  planning: "planning",
  waiting: "waiting",
  reflecting: "reflecting",
  "executing.summarising": "summarising",
  "executing.acting": "acting",
};

function phaseOf([path = ""]: readonly string[]): Phase {
  if (!path.startsWith("working.")) return path.split(".")[0] as Phase;
  const [first = "", second = ""] = path.slice("working.".length).split(".");
  return working[first] ?? working[`${first}.${second}`] ?? "thinking";
}

const queuedIn = ({ deferred }: State): QueuedMessage[] =>
  deferred.flatMap(({ type, data }) => {
    if (type !== "say" || !isObject(data)) return [];
    return [queued(data as unknown as QueuedMessage)];
  });

const queued = ({ id, parts }: QueuedMessage): QueuedMessage => ({ id, parts });

function reportThread(
  { thread }: AgentContext,
  { head = thread.head, messagesMax = 200 }: ReportOptions,
): ThreadReport {
  const { byId, followers } = lineageOf(thread);
  const messages: ReportedMessage[] = [];
  let before: number | null = head;
  for (const entry of newestFirst(thread, head)) {
    if (messages.length >= messagesMax) break;
    const { after } = entry;
    const position = byId.get(entry.id) as number;
    messages.push({ ...entry, position, versions: followers.get(after ?? -1) ?? [position] });
    before = after;
  }
  return { messages: messages.reverse(), before, branches: branches(thread), summaries: thread.overlays };
}

function openApprovals({ context, timers }: State<AgentContext>): OpenApproval[] {
  const { thread, calls } = context;
  const decideBy = timers.find(({ state }) => state === "working.waiting")?.due ?? null;
  return calls.flatMap(({ id: call, tool, input, decision, askedAt }) => {
    if (decision !== "asked") return [];
    const position = lineageOf(thread).byCall.get(call) as number;
    const decide = (data: Omit<Answer["data"], "call">): Answer => ({
      ...{ type: "decide", data: { call, ...data } },
    });
    const answers = {
      approve: decide({ isApproved: true }),
      edit: decide({ isApproved: true, input }),
      reject: decide({ isApproved: false }),
    };
    return [{ call, tool, input, position, askedAt, decideBy, answers }];
  });
}

function decidedApprovals({ thread, log, calls }: AgentContext): DecidedApproval[] {
  const before = itemsOf(log).flatMap(({ call, decided }) =>
    decided === undefined ? [] : [{ call, ...decided }],
  );
  const now = calls.flatMap((call) => {
    const decided = decidedOf(call);
    return call.decision === "asked" || decided === undefined ? [] : [{ call: call.id, ...decided }];
  });
  const { byCall } = lineageOf(thread);
  return [...before, ...now].map((decided) => {
    const { tool, input: asked } = callOfId(thread, decided.call);
    return { ...decided, tool, asked, position: byCall.get(decided.call) as number };
  });
}

function reportPlan({ working: { goal, plan, notes } }: AgentContext): PlanReport | null {
  if (goal === "" && plan.tasks.length === 0 && notes.length === 0) return null;
  return {
    ...{ goal, notes, revision: plan.revision, tasks: plan.tasks },
    ...{ progress: progress(plan), criticalPath: criticalPath(plan) },
    bottlenecks: bottlenecks(plan).map(({ task }) => task),
  };
}

/** Calls without a result: those that are made now, those that people are asked about, and those that wait with them. */
const callsUnderWay = ({ calls, callsAt, aside }: AgentContext): ToolCall[] =>
  [...calls, ...(aside?.calls ?? [])].map(({ id, tool, input }: PendingCall) => ({
    ...{ id, tool, input, status: "running", startedAt: callsAt, attempt: 1 },
  }));
