/**
 * What an agent knows, as the context of its run, and how its steps change it. Every function here takes a draft.
 *
 * C1. The thread can go on after every step: whatever ends a turn closes the calls that are open, with a result that says why.
 */
import type { Draft } from "../../core/definition.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { ModelAnswer, Usage } from "../model/model.ts";
import { makePlan, type Plan, type PlannedTask, revisePlan } from "../plan/plan.ts";
import { makeWorkingMemory, setGoal, type WorkingMemory } from "../plan/working-memory.ts";
import { checkMessage } from "../thread/check-message.ts";
import type { CallPart, Message, Part, ResultPart, Role } from "../thread/message.ts";
import { append, branchBefore, emptyThread, findMessage, type Thread } from "../thread/thread.ts";
import { closeOpenCalls, reasons } from "../thread/unit.ts";
import { type Calibration, calibrate } from "../window/tokens.ts";

/** Every agent has one model, so what it reports is kept under one name. */
export const modelName = "model";

/** What one turn may use up. */
export interface Budget {
  /** How often the model is asked. */
  readonly steps?: number;
  readonly tokens?: number;
  readonly cost?: number;
}

/** What is done about one message of the user. */
export interface Turn {
  /** 1 for the first. */
  readonly number: number;
  /** The id of the message. */
  readonly message: string;
  /** The position of the message before it; null if it begins the conversation. */
  readonly after: number | null;
  /** How often the model was asked, and what that used up. */
  readonly thoughts: number;
  readonly tokens: number;
  readonly cost: number;
  /** How often the answer was looked at and sent back. */
  readonly revisions: number;
}

/** How a turn ended. */
export interface TurnEnd {
  /** The id of the message it was about. */
  readonly message: string;
  readonly outcome: "answered" | "failed" | "stopped";
  /** Why it failed. */
  readonly reason?: JsonObject;
  /** The position of the thread's newest message then. */
  readonly head: number | null;
}

/** A call that the model asked for and that has no result in the thread yet. */
export interface PendingCall extends Omit<CallPart, "type"> {
  readonly decision: "free" | "asked" | "approved" | "rejected";
  readonly by?: string;
  readonly note?: string;
}

/** What became of a call that was asked for; what it was given and gave stands in the thread. */
export interface CallRecord {
  readonly call: string;
  readonly status: "done" | "failed" | "rejected" | "unknown";
  readonly startedAt: number;
  readonly ms: number;
  readonly attempt: number;
}

export interface AgentContext {
  readonly thread: Thread;
  readonly working: WorkingMemory;
  readonly turn: Turn;
  /** How the last turn ended; null before that. */
  readonly ended: TurnEnd | null;
  readonly calls: readonly PendingCall[];
  /** When the calls under way were begun. */
  readonly callsAt: number;
  readonly log: readonly CallRecord[];
  /** The run that has the conversation now; empty while this one has. */
  readonly successor: string;
  /** How what the model reports compares with what was counted. */
  readonly calibration: Readonly<Calibration>;
}

export const emptyContext = (): AgentContext => ({
  thread: emptyThread(),
  working: makeWorkingMemory(""),
  turn: { number: 0, message: "", after: null, thoughts: 0, tokens: 0, cost: 0, revisions: 0 },
  ended: null,
  calls: [],
  callsAt: 0,
  log: [],
  successor: "",
  calibration: {},
});

/** What an agent is given of a conversation that another one had. */
export interface Inheritance {
  /** The run it comes from. */
  readonly from: string;
  readonly thread: Thread;
  readonly working: WorkingMemory;
}

/** How an agent begins: with nothing, or where another one left off. */
export const beginWith = (inherited: Inheritance | undefined): AgentContext =>
  inherited === undefined
    ? emptyContext()
    : { ...emptyContext(), thread: inherited.thread, working: inherited.working };

export type Changing = Draft<AgentContext>;

/** What somebody says to an agent. */
export interface Said {
  /** Of the message it becomes. */
  readonly id: string;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
  /** The message it is said instead of: that one, and all that followed it, stay as a branch of their own. */
  readonly instead?: string;
  /** What the agent had said when it was interrupted. */
  readonly partial?: string;
}

/** Adds a message that nobody but the agent itself has a name for. */
function add(draft: Changing, role: Role, parts: readonly Part[], at: number, metadata?: JsonObject): void {
  const id = `${role}-${draft.thread.messages.length}`;
  append(draft.thread, { id, role, parts, at, ...(metadata === undefined ? {} : { metadata }) });
}

/** Another run has the conversation from now on. */
export function giveTo(draft: Changing, successor: string): void {
  draft.successor = successor;
}

/** Whether something can be said in a thread: it is a message, and has an id of its own. */
export function isSayable(thread: Thread, said: Said, at: number): boolean {
  try {
    checkMessage(messageOf(said, at));
  } catch {
    return false;
  }
  const { id, instead, partial = "" } = said;
  if (typeof partial !== "string" || findMessage(thread, id) !== undefined) return false;
  return instead === undefined || findMessage(thread, instead)?.message.role === "user";
}

const messageOf = ({ id, parts, metadata }: Said, at: number): Message => ({
  ...{ id, parts, at, role: "user" },
  ...(metadata === undefined ? {} : { metadata }),
});

/** A turn begins with what was said. */
export function hear(draft: Changing, said: Said, at: number): void {
  if (said.instead !== undefined) branchBefore(draft.thread, said.instead);
  draft.turn = {
    ...{ number: draft.turn.number + 1, message: said.id, after: draft.thread.head },
    ...{ thoughts: 0, tokens: 0, cost: 0, revisions: 0 },
  };
  append(draft.thread, messageOf(said, at));
}

/** A turn ends before its time; what was said of it so far is kept. */
export function interrupt(draft: Changing, partial: string | undefined, at: number): void {
  closeAll(draft, "interrupted", at);
  if (partial) add(draft, "assistant", [{ type: "text", text: partial }], at, { interrupted: true });
  end(draft, "stopped");
}

function end(draft: Changing, outcome: TurnEnd["outcome"], reason?: JsonObject): void {
  const { message } = draft.turn;
  const { head } = draft.thread;
  draft.ended = { message, outcome, head, ...(reason === undefined ? {} : { reason }) };
}

/** As if what was said last had never been said; it stays as a branch of its own. */
export function takeBack(draft: Changing, at: number): void {
  closeAll(draft, "cancelled", at);
  draft.thread.head = draft.turn.after;
  end(draft, "stopped");
}

function closeAll(draft: Changing, reason: string, at: number): void {
  closeOpenCalls(draft.thread, { id: `tool-${draft.thread.messages.length}`, at, reason });
  draft.calls = [];
}

/** What the activity that thinks gives back. */
export interface Thought extends Pick<ModelAnswer, "parts" | "cost"> {
  readonly usage?: Usage;
  /** What its input was estimated at. */
  readonly estimated: number;
}

/** The model has answered: what it said is in the thread, and what it wants to have called is to be decided. */
export function keepThought(
  draft: Changing,
  { parts, usage, cost = 0, estimated }: Thought,
  mustAsk: (call: CallPart) => boolean,
  at: number,
): void {
  draft.turn.thoughts++;
  draft.turn.tokens += usage === undefined ? estimated : usage.input + usage.output;
  draft.turn.cost += cost;
  if (usage !== undefined)
    calibrate(draft.calibration, { model: modelName, counted: estimated, reported: usage.input });
  add(draft, "assistant", parts.length > 0 ? parts : [{ type: "text", text: "" }], at);
  draft.calls = parts.flatMap((part) =>
    part.type === "call"
      ? [
          {
            ...{ id: part.id, tool: part.tool, input: part.input as Json },
            decision: mustAsk(part) ? ("asked" as const) : ("free" as const),
          },
        ]
      : [],
  );
  draft.callsAt = at;
}

export interface CallDecision {
  readonly call: string;
  readonly isApproved: boolean;
  readonly by?: string;
  readonly note?: string;
}

export function decide(draft: Changing, { call, isApproved, by, note }: CallDecision, at: number): void {
  const asked = draft.calls.find(({ id }) => id === call);
  if (asked === undefined) return;
  asked.decision = isApproved ? "approved" : "rejected";
  if (by !== undefined) asked.by = by;
  if (note !== undefined) asked.note = note;
  draft.callsAt = at;
}

/** Nobody has decided on these calls: they are not made. */
export function rejectAll(draft: Changing, note: string): void {
  for (const call of draft.calls) {
    if (call.decision !== "asked") continue;
    call.decision = "rejected";
    call.note = note;
  }
}

/** What is done without calling: what was not approved, and what nobody can do, has a result at once. */
export function settleUncalled(draft: Changing, isKnown: (tool: string) => boolean, at: number): void {
  const ends = new Map<string, CallEnd>();
  for (const { id, tool, decision, note } of draft.calls) {
    if (decision === "rejected")
      ends.set(id, {
        status: "rejected",
        error: `${reasons.refused}${note === undefined ? "" : ` ${note}`}`,
      });
    else if (!isKnown(tool))
      ends.set(id, { status: "failed", error: `There is no tool ${JSON.stringify(tool)}.` });
  }
  keepResults(draft, ends, at);
}

/** How a call came out. */
export type CallEnd =
  | (Omit<CallRecord, "call" | "status"> & { readonly status: "done"; readonly output: Json })
  | { readonly status: "failed" | "rejected" | "unknown"; readonly error: Json };

/** These calls have come out: their results go into the thread, in the order of the calls. */
export function keepResults(draft: Changing, ends: ReadonlyMap<string, CallEnd>, at: number): void {
  const results: ResultPart[] = [];
  for (const { id, tool } of draft.calls) {
    const end = ends.get(id);
    if (end === undefined) continue;
    const result = { type: "result" as const, call: id, tool };
    if (end.status === "done") {
      const { output, startedAt, ms, attempt } = end;
      results.push({ ...result, output });
      draft.log.push({ call: id, status: "done", startedAt, ms, attempt });
    } else {
      const { status, error } = end;
      results.push({ ...result, output: error, isError: true });
      draft.log.push({ call: id, status, startedAt: draft.callsAt, ms: at - draft.callsAt, attempt: 1 });
    }
  }
  if (results.length > 0) add(draft, "tool", results, at);
  draft.calls = draft.calls.filter(({ id }) => !ends.has(id));
}

/** Whether the model has results that it has not seen. */
export function isToGoOn({ head, messages }: Thread): boolean {
  return head !== null && messages[head]?.role === "tool";
}

/** The turn has its answer. */
export function finish(draft: Changing): void {
  end(draft, "answered");
}

/** The turn ends without an answer; what it had under way is closed. */
export function fail(draft: Changing, reason: JsonObject, at: number): void {
  closeAll(draft, "cancelled", at);
  end(draft, "failed", reason);
}

/** Why a turn may not go on, if so. */
export function overspent(turn: Turn, { steps, tokens, cost }: Budget): JsonObject | undefined {
  const [spent, allowed, what] =
    steps !== undefined && turn.thoughts >= steps
      ? [turn.thoughts, steps, "steps"]
      : tokens !== undefined && turn.tokens >= tokens
        ? [turn.tokens, tokens, "tokens"]
        : [turn.cost, cost ?? Number.POSITIVE_INFINITY, "cost"];
  if (spent < allowed) return undefined;
  const message = `The turn has used up its budget: ${spent} of ${allowed} ${what}`;
  return { name: "BudgetError", code: "AGENT_OVERSPENT", message };
}

/** What a planner says is to be done: tasks, or just their titles. */
export interface Steps {
  /** What the user said, unless given. */
  readonly goal?: string;
  readonly steps: readonly (string | PlannedTask)[];
}

/** What a planner found. */
export interface Found {
  readonly goal: string;
  readonly tasks: readonly PlannedTask[];
}

/** What is to be done about what was said; what was done of an earlier plan for it stays done. */
export function keepPlan(draft: Changing, { goal, tasks }: Found): void {
  const { working } = draft;
  setGoal(working, goal, goal === working.goal ? revisePlan(working.plan as Plan, tasks) : makePlan(tasks));
}

/** What somebody who looked at an answer says of it. */
export interface Reflection {
  readonly verdict: "accept" | "revise" | "replan";
  /** What is to be done better. */
  readonly note?: string;
}

/** The answer is not good enough: the model is told why, as if the user had. */
export function revise(draft: Changing, { note = "Try again." }: Reflection, at: number): void {
  draft.turn.revisions++;
  add(draft, "user", [{ type: "text", text: note }], at, { by: "reflection" });
}
